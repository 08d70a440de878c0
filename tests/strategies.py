"""Hypothesis strategies: scenarios as TOML text, with the plain numbers they were made from.

A `Case` holds numbers only; `Case.toml` is what the planner reads and `Case.dollars` what the
oracle reads. Every case is feasible by construction: it is drawn around an `anchor`, a plan
that meets the quality target (or the budget) and all caps with room to spare.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st
from oracles.mathematics import ADDITIVE, LAWS, Dollars, sigmoid_score, usd_per_flop

CHIPS = {
    ("h100-sxm", "bf16"): 989.4e12,
    ("h100-sxm", "fp8"): 1978.9e12,
    ("a100-80gb-sxm", "bf16"): 312e12,
    ("b200-sxm", "bf16"): 2250e12,
    ("b200-sxm", "fp8"): 4500e12,
}
"""Dense peaks of the vendors' data sheets [FLOP/s]."""


@dataclass(frozen=True)
class Hardware:
    """A stage: chip, utilisations and price; `peak` overrides the data sheet."""

    chip: str = "h100-sxm"
    precision: str = "bf16"
    mfu: float = 0.4
    goodput: float = 0.9
    usd_per_hour: float = 2.35
    peak: float | None = None

    @property
    def flop_per_second(self) -> float:
        """What one paid chip-second delivers."""
        peak = CHIPS[self.chip, self.precision] if self.peak is None else self.peak
        return peak * self.mfu * self.goodput

    @property
    def usd_per_flop(self) -> float:
        peak = CHIPS[self.chip, self.precision] if self.peak is None else self.peak
        return usd_per_flop(peak, self.mfu, self.goodput, self.usd_per_hour)

    def lines(self) -> list[str]:
        found = [
            f'chip = "{self.chip}"',
            f'precision = "{self.precision}"',
            f"mfu = {self.mfu!r}",
            f"goodput = {self.goodput!r}",
            f'chip_price = "{self.usd_per_hour!r} USD/hour"',
        ]
        if self.peak is not None:
            found.append(f'peak = "{self.peak!r} FLOP/s"')
        return found


@dataclass(frozen=True)
class Reinforcement:
    """RL: its accounting, its hardware and the constants of its law, by name."""

    law: str
    constants: dict[str, float]
    forward_passes: float = 0.0
    trained_share: float = 1.0
    generation: Hardware = Hardware()
    training: Hardware = Hardware()

    @property
    def flop_per_param_token(self) -> float:
        """2 g + 2 f + 6 u with g = 1."""
        return 2 + 2 * self.forward_passes + 6 * self.trained_share

    @property
    def usd_per_param_token(self) -> float:
        work = 2 * self.forward_passes + 6 * self.trained_share
        return 2 * self.generation.usd_per_flop + work * self.training.usd_per_flop

    def added_loss(self, R):
        """K R^-gamma, for the power law."""
        return self.constants["K"] * R ** -self.constants["gamma"]


@dataclass(frozen=True)
class Traffic:
    """Lifetime totals [token] and what serving reserves; `as_rates` says how they are written."""

    output: float = 0.0
    input: float | None = None
    cached_share: float | None = None
    lifetime: float = 5e6
    as_rates: bool = False
    peak_to_mean: float = 1.0
    redundancy: float = 1.0

    def lines(self) -> list[str]:
        found = [f"peak_to_mean = {self.peak_to_mean!r}"]
        for name, total in (("output", self.output), ("input", self.input)):
            if total is None:
                continue
            if self.as_rates:
                found.append(f'{name} = "{total / self.lifetime!r} tok/s"')
            else:
                found.append(f"{name}_tokens = {total!r}")
        if self.as_rates:
            found.append(f'lifetime = "{self.lifetime!r} s"')
        if self.input and self.cached_share is not None:
            found.append(f"cached_input_share = {self.cached_share!r}")
        return found


@dataclass(frozen=True)
class Case:
    """One scenario in numbers.

    Goal `fixed` holds the anchor and `equal-cost` its size; `held` names what others hold of it,
    out of N and R.
    """

    kind: str
    law: str
    anchor: tuple[float, float, float]
    loss: float | None = None
    match: bool = False
    score: float | None = None
    budget: float | None = None
    held: str = ""
    rl: Reinforcement | None = None
    traffic: Traffic = Traffic()
    pretraining: Hardware = Hardware()
    decode: Hardware = Hardware()
    prefill: Hardware = Hardware()
    caps: dict[str, float] = field(default_factory=dict)
    unique_tokens: float | None = None
    max_epochs: float | None = None
    data_cost: float | None = None
    staff_cost: float | None = None
    research: float | None = None

    @property
    def scored(self) -> bool:
        """Whether quality is a score and not a loss."""
        return self.rl is not None and self.rl.law == "sigmoid"

    @property
    def dollars(self) -> Dollars:
        t = self.traffic
        uncached = (t.input or 0.0) * (1 - (t.cached_share or 0.0))
        served = t.output * self.decode.usd_per_flop + uncached * self.prefill.usd_per_flop
        return Dollars(
            nd=6 * self.pretraining.usd_per_flop,
            nr=self.rl.usd_per_param_token if self.rl else 0.0,
            n=2 * served * t.peak_to_mean * t.redundancy,
            fixed=(self.data_cost or 0.0) + (self.staff_cost or 0.0),
            research=self.research or 1.0,
        )

    def quality_loss(self, N, D, R=None):
        """The loss, with the RL term where the RL law adds one."""
        law = LAWS[self.law]
        value = law.loss(N, D, self.unique_tokens) if hasattr(law, "RD") else law.loss(N, D)
        if self.rl and self.rl.law == "power":
            value = value + self.rl.added_loss(R)
        return value

    def quality_score(self, N, D, R):
        """The score under the saturating RL law."""
        assert self.rl is not None
        flop = N * R * self.rl.flop_per_param_token
        return sigmoid_score(self.quality_loss(N, D), flop, **self.rl.constants)

    def slacks(self, N, D, R=1.0) -> dict[str, float]:
        """ln(bound/amount) of every cap, non-negative where it holds."""
        amounts = {
            "active_params": N,
            "pretraining_tokens": D,
            "rl_tokens": R,
            "tokens_per_param": D / N,
        }
        found = {}
        for key, bound in self.caps.items():
            side, _, name = key.partition("_")
            if name in amounts:
                sign = 1 if side == "max" else -1
                found[key] = sign * math.log(bound / amounts[name])
        if "training_deadline" in self.caps:
            seconds = 6 * N * D / self.pretraining.flop_per_second / self.caps["training_chips"]
            found["training_deadline"] = math.log(self.caps["training_deadline"] / seconds)
        if self.data_limit is not None:
            found["unique_tokens"] = math.log(self.data_limit / D)
        return found

    @property
    def data_limit(self) -> float | None:
        """Most tokens that the data allows, where the data is a cap."""
        if self.unique_tokens is None or (self.law == "muennighoff-2023" and not self.max_epochs):
            return None
        return self.unique_tokens * (self.max_epochs or 1.0)

    @property
    def toml(self) -> str:
        rl = self.rl
        goal = [f'kind = "{self.kind}"']
        if self.match:
            N, D, R = self.anchor
            tail = f", rl_tokens = {R!r}" if rl and rl.law == "power" else ""
            goal.append(f"match = {{ params = {N!r}, tokens = {D!r}{tail} }}")
        elif self.loss is not None:
            goal.append(f"loss = {self.loss!r}")
        elif self.score is not None:
            goal.append(f"score = {self.score!r}")
        if self.budget is not None:
            goal.append(f'budget = "{self.budget!r} USD"')
        law = [f'pretraining = "{self.law}"', f'rl = "{rl.law if rl else "none"}"']
        held = {"fixed": "NDR", "equal-cost": "N"}.get(self.kind, self.held)
        training = self.pretraining.lines()
        if "D" in held:
            training.append(f"tokens = {self.anchor[1]!r}")
        if self.research is not None:
            training.append(f"research_multiplier = {self.research!r}")
        if self.staff_cost is not None:
            training.append(f'staff_cost = "{self.staff_cost!r} USD"')
        data = []
        if self.unique_tokens is not None:
            data.append(f"unique_tokens = {self.unique_tokens!r}")
        if self.max_epochs is not None:
            data.append(f"max_epochs = {self.max_epochs!r}")
        if self.data_cost is not None:
            data.append(f'cost = "{self.data_cost!r} USD"')
        tables = {
            "goal": goal,
            "model": [f"active_params = {self.anchor[0]!r}"] if "N" in held else [],
            "law": law,
            "traffic": self.traffic.lines(),
            "data": data,
            "pretraining": training,
            "inference": [f"redundancy = {self.traffic.redundancy!r}"],
            "inference.decode": self.decode.lines(),
            "inference.prefill": self.prefill.lines(),
            "constraints": [
                f'{k} = "{v!r} s"' if k == "training_deadline" else f"{k} = {v!r}"
                for k, v in self.caps.items()
            ],
        }
        if rl is not None:
            tables["rl"] = [
                f"forward_passes = {rl.forward_passes!r}",
                f"trained_share = {rl.trained_share!r}",
                *(
                    f'{k} = "{v!r} FLOP"' if k == "C_mid" else f"{k} = {v!r}"
                    for k, v in rl.constants.items()
                ),
                *([f"tokens = {self.anchor[2]!r}"] if "R" in held else []),
            ]
            tables["rl.generation"] = rl.generation.lines()
            tables["rl.training"] = rl.training.lines()
        return "\n".join(
            f"[{name}]\n" + "".join(f"{line}\n" for line in lines)
            for name, lines in tables.items()
            if lines
        )


def decades(low: float, high: float) -> st.SearchStrategy[float]:
    """10**x for x between the bounds."""
    return st.floats(low, high).map(lambda x: 10.0**x)


@st.composite
def hardware(draw: st.DrawFn) -> Hardware:
    """Any chip at any plausible utilisation and price."""
    chip, precision = draw(st.sampled_from(sorted(CHIPS)))
    return Hardware(
        chip,
        precision,
        mfu=draw(st.floats(0.02, 0.7)),
        goodput=draw(st.floats(0.5, 1.0)),
        usd_per_hour=draw(st.floats(0.5, 20.0)),
        peak=draw(st.none() | decades(13.5, 14.4)),
    )


@st.composite
def traffic(draw: st.DrawFn, plain: bool = False) -> Traffic:
    """From nothing at all to far beyond any fleet; `plain` is decode only, nothing reserved."""
    output = draw(st.just(0.0) | decades(6, 17))
    if plain:
        return Traffic(output)
    return Traffic(
        output=output,
        input=draw(st.none() | st.just(0.0) | decades(6, 17)),
        cached_share=draw(st.none() | st.floats(0.0, 1.0)),
        lifetime=draw(decades(5, 8.5)),
        as_rates=draw(st.booleans()),
        peak_to_mean=draw(st.floats(1.0, 5.0)),
        redundancy=draw(st.floats(1.0, 2.0)),
    )


@st.composite
def power_rl(draw: st.DrawFn, reducible: float, R: float, plain: bool = False) -> Reinforcement:
    """RL power law whose term is a visible part of the reducible loss at R tokens."""
    gamma = draw(st.floats(0.1, 0.7))
    K = draw(st.floats(0.02, 0.5)) * reducible * R**gamma
    if plain:
        return Reinforcement("power", {"K": K, "gamma": gamma})
    return Reinforcement(
        "power",
        {"K": K, "gamma": gamma},
        forward_passes=draw(st.floats(0.0, 3.0)),
        trained_share=draw(st.floats(0.0, 2.0)),
        generation=draw(hardware()),
        training=draw(hardware()),
    )


@st.composite
def _caps(draw: st.DrawFn, case: Case) -> Case:
    """Caps that the anchor meets with 5 % to spare, each there or not."""
    N, D, R = case.anchor
    room = decades(0.02, 1.0)
    amounts = {"active_params": N, "pretraining_tokens": D, "tokens_per_param": D / N}
    if case.rl is not None:
        amounts["rl_tokens"] = R
    caps: dict[str, float] = {}
    for name, amount in amounts.items():
        for side, power in (("min", -1), ("max", 1)):
            if draw(st.integers(0, 3)) == 0:
                caps[f"{side}_{name}"] = amount * draw(room) ** power
    if draw(st.integers(0, 3)) == 0:
        seconds = 6 * N * D / case.pretraining.flop_per_second
        chips = float(draw(st.integers(1, 100_000)))
        caps["training_chips"] = chips
        caps["training_deadline"] = seconds / chips * draw(room)
    case = replace(case, caps=caps)
    if draw(st.integers(0, 2)) == 0:
        epochs = draw(st.none() | st.floats(0.5, 8.0))
        unique = D * draw(room) / (epochs or 1.0)
        case = replace(case, unique_tokens=unique, max_epochs=epochs)
    return case


@st.composite
def cases(
    draw: st.DrawFn,
    kind: str = "min-cost",
    laws: tuple[str, ...] = ADDITIVE,
    rl: bool | None = None,
    caps: bool = False,
    plain: bool = False,
) -> Case:
    """Scenarios of goal `kind` under additive laws or Kaplan's.

    `rl` None draws whether there is an RL power law. `plain` is one price per FLOP for every
    stage, decode traffic only and no other costs, so that first-order conditions have no
    further terms.
    """
    law = draw(st.sampled_from(laws))
    N = draw(decades(8, 12))
    anchor = (N, N * draw(decades(0, 3.3)), draw(decades(9, 13)))
    case = Case(kind, law, anchor, traffic=draw(traffic(plain)))
    if plain:
        same = draw(hardware())
        case = replace(case, pretraining=same, decode=same, prefill=same)
    else:
        case = replace(
            case,
            pretraining=draw(hardware()),
            decode=draw(hardware()),
            prefill=draw(hardware()),
            research=draw(st.none() | st.floats(1.0, 3.0)),
        )
    if draw(st.booleans()) if rl is None else rl:
        reducible = case.quality_loss(*anchor) - LAWS[law].E
        found = draw(power_rl(reducible, anchor[2], plain))
        if plain:
            found = replace(found, generation=case.pretraining, training=case.pretraining)
        case = replace(case, rl=found)
    if not plain:
        # In proportion: fixed costs that outweigh all others leave nothing to optimise.
        rest = case.dollars.total(*anchor)
        case = replace(
            case,
            data_cost=draw(st.none() | st.just(0.0) | decades(-3, 0.3).map(lambda x: x * rest)),
            staff_cost=draw(st.none() | decades(-3, 0.3).map(lambda x: x * rest)),
        )
    if caps:
        case = draw(_caps(case))
    if kind == "min-cost":
        case = replace(case, loss=float(case.quality_loss(*anchor)), match=draw(st.booleans()))
    elif kind == "max-quality":
        case = replace(case, budget=case.dollars.total(*anchor) * draw(decades(0.02, 1.5)))
    return case


@st.composite
def repeated(draw: st.DrawFn) -> Case:
    """Min-cost under the data-constrained law, with unique tokens that mostly bind."""
    N = draw(decades(8, 11.5))
    D = N * draw(decades(0.5, 3))
    case = Case(
        "min-cost",
        "muennighoff-2023",
        (N, D, 0.0),
        unique_tokens=D / draw(decades(-0.5, 1.4)),
        traffic=draw(traffic()),
        pretraining=draw(hardware()),
        decode=draw(hardware()),
        prefill=draw(hardware()),
    )
    return replace(case, loss=float(case.quality_loss(N, D)))


@st.composite
def saturating(draw: st.DrawFn, kind: str = "min-cost") -> Case:
    """A saturating RL score over the loss, with N, D and R bounded around the anchor."""
    law = draw(st.sampled_from(ADDITIVE))
    N = draw(decades(9, 11.5))
    D, R = N * draw(decades(0.7, 2.5)), draw(decades(10, 13))
    case = Case(
        kind,
        law,
        (N, D, R),
        traffic=draw(traffic()),
        pretraining=draw(hardware()),
        decode=draw(hardware()),
        prefill=draw(hardware()),
    )
    rl = Reinforcement(
        "sigmoid",
        {},
        forward_passes=draw(st.floats(0.0, 3.0)),
        trained_share=draw(st.floats(0.0, 2.0)),
        generation=draw(hardware()),
        training=draw(hardware()),
    )
    constants = {
        "A": draw(st.floats(0.3, 1.0)),
        "B": draw(st.floats(0.4, 4.0)),
        "C_mid": N * R * rl.flop_per_param_token * draw(decades(-0.7, 0.7)),
        "k": draw(st.floats(2.0, 40.0)),
        "L_half": float(case.quality_loss(N, D)) + draw(st.floats(-0.1, 0.1)),
    }
    case = replace(case, rl=replace(rl, constants=constants))
    room = draw(decades(0.5, 1.5))
    caps = {}
    for name, amount in (("active_params", N), ("pretraining_tokens", D), ("rl_tokens", R)):
        caps[f"min_{name}"], caps[f"max_{name}"] = amount / room, amount * room
    case = replace(case, caps=caps)
    if kind == "min-cost":
        return replace(case, score=float(case.quality_score(N, D, R)))
    return replace(case, budget=case.dollars.total(N, D, R) * draw(decades(0.02, 0.7)))
