"""Constraints of a scenario, named by the key that states them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import sympy as sp

import laws
from budget.inputs import Inputs
from budget.scenario import Scenario
from budget.spending import Spending
from laws.symbols import D, N, P, R, S, U, k


@dataclass(frozen=True)
class Limit:
    """`amount` at most (sense +1) or at least (sense -1) `bound`.

    `signs` are the directions of ln(amount) in the logarithms of the decision variables.
    """

    name: str
    amount: sp.Expr
    bound: sp.Expr
    sense: int
    unit: str
    signs: Mapping[sp.Symbol, int]
    meaning: str

    @property
    def expression(self) -> sp.Expr:
        """ln(amount/bound), signed so that the limit reads expression <= 0."""
        return self.sense * (sp.log(self.amount) - sp.log(self.bound))


_AMOUNTS: dict[str, tuple[sp.Expr, str, dict[sp.Symbol, int], str]] = {
    "active_params": (N, "param", {N: 1}, "active parameters"),
    "pretraining_tokens": (D, "token", {D: 1}, "pretraining tokens"),
    "rl_tokens": (R, "token", {R: 1}, "RL tokens"),
    "tokens_per_param": (D / N, "token/param", {N: -1, D: 1}, "tokens per parameter"),
    "sparsity": (S, "1", {S: 1}, "total over active parameters"),
    "total_params": (N * S, "param", {N: 1, S: 1}, "parameters held in memory"),
    "training_bits": (P, "bit", {P: 1}, "bits in pretraining"),
    "samples_per_query": (k, "1", {k: 1}, "samples drawn per query"),
}


def limits(
    inputs: Inputs,
    scenario: Scenario,
    law: laws.Law,
    spending: Spending,
    variables: Collection[sp.Symbol],
) -> tuple[Limit, ...]:
    """All limits of a scenario other than quality and budget."""
    file = scenario.file
    found = []
    for name, (amount, unit, signs, meaning) in _AMOUNTS.items():
        if not set(signs) <= set(variables):
            continue
        for side, sense in (("min", -1), ("max", 1)):
            value = getattr(file.constraints, f"{side}_{name}", None)
            if value is not None:
                key = f"constraints.{side}_{name}"
                bound = inputs.add(key, value, unit)
                found.append(Limit(key, amount, bound, sense, unit, signs, meaning))
    for variable, name in ((S, "model.sparsity"), (k, "inference.samples_per_query")):
        if variable in variables:
            meaning = f"{name} is at least 1"
            found.append(Limit(name, variable, sp.Integer(1), -1, "1", {variable: 1}, meaning))
    if file.constraints.training_deadline is not None:
        found.append(_deadline(inputs, scenario, spending))
    if file.data.unique_tokens is not None:
        cap = _data_cap(inputs, scenario, law)
        if cap is not None:
            found.append(cap)
    return tuple(found)


def _deadline(inputs: Inputs, scenario: Scenario, spending: Spending) -> Limit:
    stated = scenario.file.constraints
    assert stated.training_deadline is not None and stated.training_chips is not None
    chips = inputs.add("constraints.training_chips", stated.training_chips, "chip")
    return Limit(
        name="constraints.training_deadline",
        amount=spending.total("chip_seconds", "pretraining") / chips,
        bound=inputs.add("constraints.training_deadline", stated.training_deadline, "s"),
        sense=1,
        unit="s",
        signs={N: 1, D: 1, P: 1},
        meaning="wall-clock time of pretraining",
    )


def _data_cap(inputs: Inputs, scenario: Scenario, law: laws.Law) -> Limit | None:
    data = scenario.file.data
    assert data.unique_tokens is not None
    unique = inputs.add("data.unique_tokens", data.unique_tokens, "token")
    if data.max_epochs is None and U in law.form.variables:
        return None  # The law itself says what a repeated token is worth.
    epochs = 1 if data.max_epochs is None else inputs.add("data.max_epochs", data.max_epochs, "1")
    return Limit(
        name="data.unique_tokens",
        amount=D / epochs,
        bound=unique,
        sense=1,
        unit="token",
        signs={D: 1},
        meaning="pretraining tokens against the unique tokens available",
    )
