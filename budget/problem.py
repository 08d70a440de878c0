"""A scenario and its laws as one symbolic problem: what is spent, what it buys, what limits it.

Everything is an expression in N, D, R (`laws.symbols`) and in the scenario's inputs. The
optimisation problems of every goal, the derivatives and the reported numbers are all taken
from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import sympy as sp

import laws
from budget.errors import ScenarioError
from budget.inputs import Inputs
from budget.limits import Limit, limits
from budget.scenario import Scenario
from budget.scenario.checks import has_rl, rl_law
from budget.spending import Spending, spend
from laws import rl as rl_forms
from laws.symbols import C, D, L, N, R, U

Measure = Literal["loss", "score"]


@dataclass(frozen=True)
class Problem:
    """The symbolic problem. `variables` are those of N, D, R that the plan has."""

    scenario: Scenario
    law: laws.Law
    rl_law: str
    inputs: Inputs
    variables: tuple[sp.Symbol, ...]
    held: Mapping[sp.Symbol, sp.Expr]
    spending: Spending
    loss: sp.Expr
    irreducible: sp.Expr
    score: sp.Expr | None
    pretraining_loss: sp.Expr
    target: sp.Expr | None
    budget: sp.Symbol | None
    limits: tuple[Limit, ...]
    log_convex: bool

    @property
    def measure(self) -> Measure:
        """What quality means here."""
        return "loss" if self.score is None else "score"

    def law_symbols(self) -> dict[sp.Symbol, sp.Expr]:
        """Constants (and U) of the pretraining law as inputs of this problem."""
        return _law_inputs(self.inputs, self.law, self.scenario)


def build(scenario: Scenario) -> Problem:
    """Assemble the problem. Raises `ScenarioError` for what the catalogue does not know."""
    inputs = Inputs()
    file = scenario.file
    law = laws.get(file.law.pretraining)
    choice = rl_law(file)
    with_rl = has_rl(file)
    variables = (N, D, R) if with_rl else (N, D)
    held = _held(inputs, scenario)
    spending = spend(inputs, scenario)
    to_inputs = _law_inputs(inputs, law, scenario)
    pretraining_loss = law.form.expression.xreplace(to_inputs)
    irreducible = law.form.irreducible.xreplace(to_inputs)
    loss, score = pretraining_loss, None
    log_convex = law.form.log_convex
    if choice == "power":
        constants = {c: _rl_constant(inputs, scenario, c) for c in rl_forms.POWER.constants}
        loss = loss + rl_forms.POWER.expression.xreplace(constants)
    elif choice == "sigmoid":
        form = rl_forms.SIGMOID if file.rl.R0 is not None else rl_forms.SIGMOID_OF_LOSS
        constants = {c: _rl_constant(inputs, scenario, c) for c in form.constants}
        score = form.expression.xreplace({**constants, C: spending.rl_flop, L: pretraining_loss})
        log_convex = False
    return Problem(
        scenario=scenario,
        law=law,
        rl_law=choice,
        inputs=inputs,
        variables=variables,
        held=held,
        spending=spending,
        loss=loss,
        irreducible=irreducible,
        score=score,
        pretraining_loss=pretraining_loss,
        target=_target(inputs, scenario, loss),
        budget=(
            None if file.goal.budget is None else inputs.add("goal.budget", file.goal.budget, "USD")
        ),
        limits=limits(inputs, scenario, law, spending, with_rl),
        log_convex=log_convex,
    )


def _target(inputs: Inputs, scenario: Scenario, loss: sp.Expr) -> sp.Expr | None:
    """The quality target as an expression of inputs: a loss [nat/token] or a score."""
    goal = scenario.file.goal
    if goal.score is not None:
        return inputs.add("goal.score", goal.score, "1")
    if goal.loss is not None:
        return inputs.add("goal.loss", goal.loss, "nat/token")
    if goal.match is None:
        return None
    tokens = inputs.add("goal.match.tokens", goal.match.tokens, "token")
    replacement: dict[sp.Symbol, sp.Expr] = {
        N: inputs.add("goal.match.params", goal.match.params, "param"),
        D: tokens,
    }
    if goal.match.rl_tokens is not None:
        replacement[R] = inputs.add("goal.match.rl_tokens", goal.match.rl_tokens, "token")
    unique = inputs.symbols.get("data.unique_tokens")
    if unique is not None:
        # "As good as" means on fresh data.
        replacement[unique] = tokens
    return loss.xreplace(replacement)


def active_params(scenario: Scenario) -> tuple[float, str, str] | None:
    """Model size given in the scenario: value, key and source."""
    from budget import catalog

    model = scenario.file.model
    if model.active_params is not None:
        return model.active_params, "model.active_params", "scenario"
    if model.preset is not None:
        preset = catalog.model(model.preset, "model.preset")
        return preset.active_params, "model.active_params", f"catalogue: {preset.source}"
    return None


def _held(inputs: Inputs, scenario: Scenario) -> dict[sp.Symbol, sp.Expr]:
    file = scenario.file
    held: dict[sp.Symbol, sp.Expr] = {}
    size = active_params(scenario)
    if size is not None:
        value, key, source = size
        held[N] = inputs.add(key, value, "param", source)
    if file.pretraining.tokens is not None:
        held[D] = inputs.add("pretraining.tokens", file.pretraining.tokens, "token")
    if file.rl.tokens is not None:
        held[R] = inputs.add("rl.tokens", file.rl.tokens, "token")
    return held


def _law_inputs(inputs: Inputs, law: laws.Law, scenario: Scenario) -> dict[sp.Symbol, sp.Expr]:
    mapping: dict[sp.Symbol, sp.Expr] = {}
    for symbol in law.form.constants:
        constant = law.constants[str(symbol)]
        mapping[symbol] = inputs.add(
            f"law.{symbol}", constant.value, constant.unit, f"{law.name}: {law.source}"
        )
    if U in law.form.variables:
        unique = scenario.file.data.unique_tokens
        assert unique is not None
        mapping[U] = inputs.add("data.unique_tokens", unique, "token")
    return mapping


def _rl_constant(inputs: Inputs, scenario: Scenario, symbol: sp.Symbol) -> sp.Symbol:
    units = {"K": "nat/token token^gamma", "C_mid": "FLOP", "k": "token/nat", "L_half": "nat/token"}
    value = getattr(scenario.file.rl, str(symbol))
    if value is None:
        raise ScenarioError("is required by law.rl", f"rl.{symbol}")
    return inputs.add(
        f"rl.{symbol}", value, units.get(str(symbol), "1"), "scenario (no consensus value exists)"
    )
