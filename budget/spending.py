"""What a plan spends, line by line, as expressions in N, D, R and the scenario's inputs.

.. math:: C_{pt} = 6ND, \\quad C_{inf} = 2N(T_{out} + T_{in}), \\quad
          C_{rl} = NR(2g + 2f + 6u)

Where k samples are drawn per query, the output tokens stated are those of one sample.

Dollars are FLOP / (peak x MFU x goodput) x price of a chip-second, with hardware of its own for
each stage; serving also pays for the capacity held in reserve.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

import laws
from budget.inputs import Inputs
from budget.scenario import Scenario
from budget.scenario.facts import has_precision, has_rl, has_samples
from budget.stages import Hardware, resolve
from laws import compute
from laws.symbols import P, T_in, T_out, k

ZERO = sp.Integer(0)
FULL_BITS = 16


@dataclass(frozen=True)
class Line:
    """One line of spend. `group` is pretraining, rl, inference or other."""

    name: str
    group: str
    flop: sp.Expr
    chip_seconds: sp.Expr
    cost: sp.Expr
    hardware: Hardware | None


@dataclass(frozen=True)
class Spending:
    """All lines; totals are sums of lines, so they always add up."""

    lines: tuple[Line, ...]
    served_output: sp.Expr
    served_input: sp.Expr
    cached_input: sp.Expr

    def total(self, what: str, group: str | None = None) -> sp.Expr:
        """Sum of `flop`, `chip_seconds` or `cost` over the lines of a group, or over all."""
        parts = [getattr(li, what) for li in self.lines if group is None or li.group == group]
        return sum(parts, ZERO)

    @property
    def rl_flop(self) -> sp.Expr:
        """RL compute [FLOP]."""
        return self.total("flop", "rl")


def spend(inputs: Inputs, scenario: Scenario) -> Spending:
    """Build the lines of a scenario."""
    output, prompt, cached = _traffic(inputs, scenario)
    if has_samples(scenario.file):
        output = output * k
    lines = _pretraining(inputs, scenario)
    if has_rl(scenario.file):
        lines += _rl(inputs, scenario)
    lines += _inference(inputs, scenario, output, prompt - cached)
    lines += _other(inputs, scenario)
    return Spending(tuple(lines), output, prompt, cached)


def flop(name: str) -> sp.Expr:
    """A FLOP identity of `laws` with its coefficients filled in."""
    law = laws.get(name)
    return law.form.expression.xreplace(
        {s: sp.Integer(int(v)) for s, v in law.substitutions.items()}
    )


def _line(name: str, group: str, work: sp.Expr, hardware: Hardware, reserve: sp.Expr) -> Line:
    return Line(
        name,
        group,
        work,
        hardware.chip_seconds(work) * reserve,
        hardware.cost(work) * reserve,
        hardware,
    )


def _pretraining(inputs: Inputs, scenario: Scenario) -> list[Line]:
    table = scenario.file.pretraining
    hardware = resolve(inputs, table, "pretraining")
    # Fewer bits make a FLOP cheaper in proportion (Kumar et al. 2024), from the 16-bit peak.
    bits = P / FULL_BITS if has_precision(scenario.file) else sp.Integer(1)
    main = _line("pretraining", "pretraining", flop("pretraining-flop"), hardware, bits)
    lines = [main]
    if table.research_multiplier is not None:
        extra = inputs.add("pretraining.research_multiplier", table.research_multiplier, "1") - 1
        lines.append(
            Line(
                "research and failed runs",
                "other",
                main.flop * extra,
                main.chip_seconds * extra,
                main.cost * extra,
                hardware,
            )
        )
    return lines


def _rl(inputs: Inputs, scenario: Scenario) -> list[Line]:
    table = scenario.file.rl
    assert table.forward_passes is not None and table.trained_share is not None
    one = sp.Integer(1)
    six, two = (laws.get(n).constant_values[0] for n in ("pretraining-flop", "decode-flop"))
    training = compute.RL_TRAINING.expression.xreplace(
        {
            compute.c_train: sp.Integer(int(six)),
            compute.c_forward: sp.Integer(int(two)),
            compute.f: inputs.add("rl.forward_passes", table.forward_passes, "1"),
            compute.u: inputs.add("rl.trained_share", table.trained_share, "1"),
        }
    )
    return [
        _line(
            "RL generation",
            "rl",
            flop("rl-generation-flop"),
            resolve(inputs, table, "rl", "generation"),
            one,
        ),
        _line("RL training", "rl", training, resolve(inputs, table, "rl", "training"), one),
    ]


def _traffic(inputs: Inputs, scenario: Scenario) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Lifetime output tokens, input tokens, and cached input tokens."""
    traffic = scenario.file.traffic
    if traffic is None:
        return ZERO, ZERO, ZERO

    def total(name: str) -> sp.Expr:
        rate, fixed = getattr(traffic, name), getattr(traffic, f"{name}_tokens")
        if fixed is not None:
            return inputs.add(f"traffic.{name}_tokens", fixed, "token")
        if rate is None:
            return ZERO
        assert traffic.lifetime is not None
        lifetime = inputs.add("traffic.lifetime", traffic.lifetime, "s")
        return inputs.add(f"traffic.{name}", rate, "token/s") * lifetime

    prompt = total("input")
    cached = ZERO
    if traffic.cached_input_share is not None:
        cached = prompt * inputs.add("traffic.cached_input_share", traffic.cached_input_share, "1")
    return total("output"), prompt, cached


def _inference(
    inputs: Inputs, scenario: Scenario, output: sp.Expr, uncached: sp.Expr
) -> list[Line]:
    table, traffic = scenario.file.inference, scenario.file.traffic
    if table is None or traffic is None:
        return []
    reserve = inputs.add("traffic.peak_to_mean", traffic.peak_to_mean, "1") * inputs.add(
        "inference.redundancy", table.redundancy, "1"
    )
    lines = []
    if traffic.output is not None or traffic.output_tokens is not None:
        work = flop("decode-flop").xreplace({T_out: output})
        lines.append(
            _line(
                "decode", "inference", work, resolve(inputs, table, "inference", "decode"), reserve
            )
        )
    if traffic.input or traffic.input_tokens:
        work = flop("prefill-flop").xreplace({T_in: uncached})
        lines.append(
            _line(
                "prefill",
                "inference",
                work,
                resolve(inputs, table, "inference", "prefill"),
                reserve,
            )
        )
    return lines


def _other(inputs: Inputs, scenario: Scenario) -> list[Line]:
    stated = {
        "data": ("data.cost", scenario.file.data.cost),
        "staff": ("pretraining.staff_cost", scenario.file.pretraining.staff_cost),
    }
    return [
        Line(name, "other", ZERO, ZERO, inputs.add(key, value, "USD"), None)
        for name, (key, value) in stated.items()
        if value is not None
    ]
