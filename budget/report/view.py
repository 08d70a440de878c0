"""What the report template shows, as plain rows of text."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from budget import evidence, summary, text
from budget.evidence import Headline
from budget.inputs import Input
from budget.planning import Outcome
from budget.report import figures, head, words
from budget.result import Baseline
from budget.spending import Line as SpendLine
from laws import render
from laws.symbols import D, N, P, R, S, k

PLAIN_NAMES = {
    "optimal": "the optimum at equal quality",
    "chinchilla": "compute-optimal, traffic ignored",
    "equal-cost": "equal-cost rule",
    "match": "the plan to match",
}


def context(outcome: Outcome, figure_files: Mapping[str, str]) -> dict[str, Any]:
    """All variables of the template."""
    plan, scenario = outcome.plan, outcome.scenario
    under_laws = evidence.under_laws(scenario)
    report = scenario.file.report
    return {
        "title": " ".join((report.title or scenario.name).split()),
        "summary": head.summary(outcome),
        "headline": summary.headline(plan).partition(": ")[2],
        "goal": scenario.file.goal.kind,
        "rows": summary.rows(plan),
        "near": head.near(outcome),
        "plan": plan,
        "lines": _lines(outcome),
        "figures": figure_files,
        "why": words.why(outcome),
        "pulls": _pulls(outcome),
        "baselines": [_baseline(b) for b in plan.baselines],
        "baseline_words": words.against_baselines(outcome),
        "implied": words.implied(outcome),
        "reported": words.reported(outcome),
        "reference": head.reference(outcome),
        "laws_rows": [_headline_row(h) for h in under_laws],
        "same_point": len({(h.active_params, h.tokens) for h in under_laws}) == 1,
        "laws_given": scenario.file.goal.kind in ("fixed", "equal-cost"),
        "variants": [_headline_row(h) for h in evidence.variants(scenario)],
        "status": head.status(outcome),
        "counts": head.counts(outcome),
        "capacity": head.capacity(outcome),
        "tornado": _tornado(outcome, figures.leading_inputs(outcome)),
        "tornado_all": len(figures.own_inputs(outcome)),
        "tornado_law": _tornado(outcome, figures.law_inputs(outcome)),
        "tornado_labels": [label for label, _ in figures.tornado_outputs(outcome)],
        "shadow": _shadow(outcome),
        "inputs": _inputs(outcome),
        "formulas": _formulas(outcome),
        "laws": plan.laws,
        "warnings": plan.warnings,
        "certificate": _certificate(outcome),
        "command": command(outcome),
        "provenance": plan.provenance,
    }


def command(outcome: Outcome) -> str:
    """The command that makes this report again."""
    words = ["budget", "plan", outcome.scenario.label]
    for key, value in outcome.scenario.changes:
        words += ["--set", f"{key}={value}"]
    return shlex.join(words)


def _lines(outcome: Outcome) -> list[list[str]]:
    plan = outcome.plan
    assert plan.total_cost_usd is not None
    tokens = {
        "pretraining": outcome.point.tokens,
        "RL generation": outcome.point.rl_tokens,
        "RL training": outcome.point.rl_tokens,
        "decode": plan.inference.output_tokens if plan.inference else 0.0,
        "prefill": (
            plan.inference.input_tokens - plan.inference.cached_input_tokens
            if plan.inference
            else 0.0
        ),
    }
    rows = []
    for line in outcome.numbers.lines(outcome.point):
        rows.append(
            [
                line.name,
                text.exact(tokens[line.name]) if line.name in tokens else "",
                text.scientific(line.flop) if line.flop else "",
                f"{line.chip_hours:,.0f}" if line.chip_hours else "",
                text.dollars(line.cost_usd),
                text.percent(line.cost_usd / plan.total_cost_usd),
            ]
        )
    rows.append(
        [
            "**total**",
            "",
            text.scientific(plan.total_flop or 0.0),
            f"{sum(li.chip_hours for li in outcome.numbers.lines(outcome.point)):,.0f}",
            text.dollars(plan.total_cost_usd),
            "100.0 %",
        ]
    )
    return rows


_LEVERS = {
    N: "model size N",
    D: "pretraining tokens D",
    R: "RL tokens R",
    S: "sparsity S",
    k: "samples per query k",
    P: "training bits P",
}


def _pulls(outcome: Outcome) -> list[list[str]]:
    pulls, spends = outcome.numbers.pulls(outcome.point)
    known = [v for v in pulls if v is not R or pulls[v]]
    total_pull, total_spend = sum(pulls[v] for v in known), sum(spends[v] for v in known)
    return [
        [
            _LEVERS[v],
            f"{pulls[v]:.6f}" if v in known else "unknown",
            text.percent(pulls[v] / total_pull) if v in known else "",
            text.dollars(spends[v]),
            text.percent(spends[v] / total_spend) if v in known else "",
        ]
        for v in pulls
    ]


def _baseline(b: Baseline) -> list[str]:
    sign = "+" if b.extra_cost_usd >= 0 else ""
    return [
        PLAIN_NAMES[b.name],
        text.exact(b.active_params),
        text.exact(b.tokens),
        text.dollars(b.total_cost_usd),
        f"{sign}{text.dollars(b.extra_cost_usd)}",
        f"{b.loss:.6f}",
        ", ".join(b.violates) or "",
    ]


def _headline_row(h: Headline) -> list[str]:
    if h.failure is not None:
        return [h.label, f"_{h.failure}_", *[""] * 8]
    assert h.active_params and h.tokens and h.total_cost_usd is not None
    assert h.loss is not None and h.overtraining_factor and h.implied_served_tokens is not None
    assert h.vs_20_tokens_per_param is not None
    return [
        h.label,
        text.exact(h.active_params),
        text.exact(h.tokens),
        text.dollars(h.total_cost_usd),
        f"{h.loss:.4f}",
        text.factor(h.overtraining_factor),
        text.significant(h.vs_20_tokens_per_param),
        text.scientific(h.implied_served_tokens, 3) if h.implied_served_tokens > 0 else "none",
        "" if h.optimal_params is None else text.count(h.optimal_params),
        "" if h.saving_usd is None else text.dollars(h.saving_usd),
    ]


def _tornado(outcome: Outcome, keys: Sequence[str]) -> list[list[str]]:
    outputs = [key for _, key in figures.tornado_outputs(outcome)]
    return [
        [key, *(_elasticity(outcome.plan.elasticities[o][key]) for o in outputs)] for key in keys
    ]


def _elasticity(value: float) -> str:
    return "0" if abs(value) < 5e-7 else f"{value:+.4f}"


def _shadow(outcome: Outcome) -> list[list[str]]:
    rows = []
    for name, price in outcome.plan.shadow_prices.items():
        slack = price.elasticity <= 1e-9
        rows.append(
            [
                name,
                text.input_value(price.bound, price.unit),
                "slack" if slack else "binds",
                "0"
                if slack or price.usd_per_unit is None
                else _per_unit(price.usd_per_unit, "$", price.unit),
                ""
                if price.loss_per_unit is None
                else (
                    "0" if slack else _per_unit(price.loss_per_unit, "", price.unit, " nat/token")
                ),
            ]
        )
    return rows


def _per_unit(value: float, sign: str, unit: str, what: str = "") -> str:
    """A shadow price per unit, or per 1e12 tokens, 1e9 parameters, day where one unit is tiny."""
    scale, name = {
        "token": (1e12, "1T tokens"),
        "param": (1e9, "1B parameters"),
        "s": (86400.0, "day"),
        "USD": ((1.0, "dollar") if sign else (1e6, "million dollars")),
        "nat/token": (1e-3, "0.001 nat/token"),
    }.get(unit, (1.0, unit))
    amount = text.dollars(value * scale) if sign else f"{value * scale:.3g}"
    return f"{amount}{what} per {name}"


def _inputs(outcome: Outcome) -> list[list[str]]:
    return [
        [entry.key, text.input_value(entry.value, entry.unit), _source(outcome, entry)]
        for entry in outcome.problem.inputs.entries.values()
    ]


def _source(outcome: Outcome, entry: Input) -> str:
    """The catalogue or law an input comes from, else the scenario's own comment on it."""
    if not entry.source.startswith("scenario"):
        return entry.source
    said = outcome.scenario.source(entry.key).replace("|", "/")
    return said if entry.source == "scenario" else f"{said}; {entry.source}"


def _formulas(outcome: Outcome) -> list[tuple[str, str]]:
    problem = outcome.problem
    found = [("Pretraining loss", render.form_latex(problem.law.form))]
    if problem.rl_law == "power":
        from laws.rl import POWER

        found.append(("RL, added to the loss", render.latex(POWER.expression)))
    elif problem.rl_law == "sigmoid":
        from laws import rl

        form = rl.SIGMOID if outcome.scenario.file.rl.R0 is not None else rl.SIGMOID_OF_LOSS
        found.append(("RL score", render.form_latex(form)))
    found += [
        (f"FLOP of {line.name}", _flop_latex(outcome, line))
        for line in problem.spending.lines
        if line.hardware
    ]
    found.append(
        (
            "Dollars of a stage",
            r"\frac{\mathrm{FLOP}}{\mathrm{peak} \times \mathrm{MFU} \times \mathrm{goodput}} "
            r"\times \mathrm{chip\ price} \times \mathrm{reserve}",
        )
    )
    return found


def _flop_latex(outcome: Outcome, line: SpendLine) -> str:
    names = {
        symbol: rf"\mathrm{{{key.rpartition('.')[2]}}}".replace("_", r"\_")
        for key, symbol in outcome.problem.inputs.symbols.items()
    }
    return render.latex(line.flop, names)


def _certificate(outcome: Outcome) -> list[tuple[str, str]]:
    certificate = outcome.plan.certificate
    assert certificate is not None
    rows = [("method", certificate["method"])]
    if outcome.scenario.file.goal.kind in ("min-cost", "max-quality"):
        rows += [
            (
                "convex (geometric programme in ln N, ln D, ln R)",
                "yes" if certificate["convex"] else "no",
            ),
            ("primal infeasibility", text.bound_on(certificate["primal_infeasibility"])),
            ("KKT residual", text.bound_on(certificate["kkt_residual"])),
            ("proven gap to the best possible", text.bound_on(certificate["gap"])),
        ]
    best = outcome.profile.optimum if outcome.profile is not None else None
    if outcome.scenario.file.goal.kind in ("fixed", "equal-cost") and best is not None:
        rows += [
            ("method of the optimum it is held against", best.certificate.method),
            ("its KKT residual", text.bound_on(best.certificate.kkt_residual)),
            ("its proven gap", text.bound_on(best.certificate.gap)),
        ]
    return rows
