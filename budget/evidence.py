"""The same question under other laws and other inputs: how far the answer moves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import laws
from budget import baselines
from budget.errors import BudgetError
from budget.goals import answer
from budget.numbers import Numbers
from budget.planning import implied_served_tokens
from budget.problem import build
from budget.scenario import Scenario
from laws.symbols import U

Changes = Sequence[tuple[str, Any]]

DEFAULT_LAWS = (
    "besiroglu-2024",
    "besiroglu-2024-full",
    "hoffmann-2022",
    "hoffmann-2022-unrounded",
    "muennighoff-2023-base",
)
"""Laws that a report holds against the scenario's own unless it names others."""


@dataclass(frozen=True)
class Headline:
    """The few numbers of a plan that are compared. `failure` says why there is no plan."""

    label: str
    active_params: float | None = None
    tokens: float | None = None
    rl_tokens: float | None = None
    total_cost_usd: float | None = None
    loss: float | None = None
    overtraining_factor: float | None = None
    vs_20_tokens_per_param: float | None = None
    implied_served_tokens: float | None = None
    optimal_params: float | None = None
    saving_usd: float | None = None
    failure: str | None = None


def headline(scenario: Scenario, label: str, changes: Changes = ()) -> Headline:
    """Solve a scenario, with changes, for its headline numbers only.

    For plans that are given rather than chosen, also the size that would be optimal for the
    same quality and what it saves.
    """
    try:
        problem = build(scenario.with_changes(changes) if changes else scenario)
        numbers = Numbers(problem)
        found = answer(problem, numbers)
    except BudgetError as error:
        return Headline(label, failure=str(error).splitlines()[0].split(":")[0])
    point, law, rest = found.point, problem.law, baselines.others(problem, found.point)
    cost = numbers.cost(point)
    better = None
    if found.conditions.program is None:
        better = baselines.optimal(problem, numbers, point)
    return Headline(
        label=label,
        active_params=point.params,
        tokens=point.tokens,
        rl_tokens=point.rl_tokens,
        total_cost_usd=cost,
        loss=numbers.loss(point),
        overtraining_factor=point.tokens / law.optimal_tokens(point.params, **rest),
        vs_20_tokens_per_param=point.tokens / point.params / 20.0,
        implied_served_tokens=implied_served_tokens(problem, numbers, point),
        optimal_params=None if better is None else better.params,
        saving_usd=None if better is None else cost - numbers.cost(better),
    )


def under_laws(scenario: Scenario) -> list[Headline]:
    """The scenario under its own law first, then under others of the same variables."""
    own = laws.get(scenario.file.law.pretraining)
    if scenario.file.goal.loss is not None or scenario.file.goal.score is not None:
        # A loss on one law's data and tokenizer is no target for another.
        return [headline(scenario, own.name)]
    # A law of other variables (sparsity, say) would be asked another question.
    chosen = scenario.file.report.compare_laws or [
        name
        for name in DEFAULT_LAWS
        if set(laws.get(name).form.variables) == set(own.form.variables) - {U}
    ]
    rows = [headline(scenario, own.name)]
    names = [n for n in chosen if n != own.name]
    return rows + [headline(scenario, n, [("law.pretraining", n)]) for n in names]


def variants(scenario: Scenario) -> list[Headline]:
    """The scenario as it is, then with the changes of each `[[report.variants]]`."""
    stated = scenario.file.report.variants
    if not stated:
        return []
    rows: Iterable[tuple[str, dict[str, Any]]] = [("as stated", {})]
    rows = [*rows, *((v.label, v.set) for v in stated)]
    return [headline(scenario, label, list(changes.items())) for label, changes in rows]
