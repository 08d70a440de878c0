"""A scenario and its laws as one symbolic problem: what is spent, what it buys, what limits it.

Everything is an expression in the levers N, D, R, S, k (`laws.symbols`) and in the scenario's
inputs. The optimisation problems of every goal, the derivatives and the reported numbers are
all taken from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy as sp

import laws
from budget.inputs import Inputs
from budget.limits import Limit, limits
from budget.scenario import Scenario
from budget.scenario.facts import has_precision, has_rl, has_samples, has_sparsity, rl_law
from budget.spending import Spending, spend
from laws import downstream, precision, testtime
from laws import rl as rl_forms
from laws.form import Form
from laws.symbols import C, D, L, N, P, R, S, U, k, logistic

_USERS = "scenario (no consensus value exists)"


@dataclass(frozen=True)
class Problem:
    """The symbolic problem. `variables` are the levers that the plan has: N, D, R, S, k.

    `score` is what is reported; goals are about it only where `by_score`, else about the loss.
    """

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
    by_score: bool
    pretraining_loss: sp.Expr
    target: sp.Expr | None
    budget: sp.Symbol | None
    limits: tuple[Limit, ...]
    log_convex: bool

    def law_symbols(self) -> dict[sp.Symbol, sp.Expr]:
        """Constants (and U) of the pretraining law as inputs of this problem."""
        return _law_inputs(self.inputs, self.law, self.scenario)


def build(scenario: Scenario) -> Problem:
    """Assemble the problem. Raises `ScenarioError` for what the catalogue does not know."""
    inputs = Inputs()
    file = scenario.file
    law = laws.get(file.law.pretraining)
    choice = rl_law(file)
    levers = {
        R: has_rl(file),
        S: has_sparsity(file),
        k: has_samples(file),
        P: has_precision(file),
    }
    variables = (N, D, *(v for v, present in levers.items() if present))
    held = _held(inputs, scenario, variables)
    spending = spend(inputs, scenario)
    to_inputs = _law_inputs(inputs, law, scenario)
    pretraining_loss = law.form.expression.xreplace(to_inputs)
    if has_precision(file):
        pretraining_loss = pretraining_loss.xreplace({N: _effective_params(inputs, scenario)})
    loss = pretraining_loss + _extra_loss(inputs, scenario, choice)
    score = _score(inputs, scenario, choice, spending, loss)
    return Problem(
        scenario=scenario,
        law=law,
        rl_law=choice,
        inputs=inputs,
        variables=variables,
        held=held,
        spending=spending,
        loss=loss,
        irreducible=law.form.irreducible.xreplace(to_inputs),
        score=score,
        by_score=choice == "sigmoid",
        pretraining_loss=pretraining_loss,
        target=_target(inputs, scenario, loss),
        budget=(
            None if file.goal.budget is None else inputs.add("goal.budget", file.goal.budget, "USD")
        ),
        limits=limits(inputs, scenario, law, spending, variables),
        log_convex=law.form.log_convex and choice != "sigmoid",
    )


def _effective_params(inputs: Inputs, scenario: Scenario) -> sp.Expr:
    """Size of the full-precision model as good as N in P bits; log-concave in N and P."""
    form, table = precision.EFFECTIVE_PARAMS, scenario.file.pretraining.low_precision
    constants = {
        c: inputs.add(f"pretraining.low_precision.{c}", getattr(table, str(c)), "bit", _USERS)
        for c in form.constants
    }
    bits = dict.fromkeys((precision.P_w, precision.P_a, precision.P_kv), P)
    return form.expression.xreplace({**constants, **bits})


def _extra_loss(inputs: Inputs, scenario: Scenario, choice: str) -> sp.Expr:
    """Loss that RL tokens and samples have still to remove."""
    extra = sp.S.Zero
    if choice == "power":
        form = rl_forms.POWER
        extra += form.expression.xreplace(_rl_constants(inputs, scenario, form))
    if has_samples(scenario.file):
        assert scenario.file.inference is not None
        table = scenario.file.inference.samples
        constants = {
            c: inputs.add(f"inference.samples.{c}", getattr(table, str(c)), "1", _USERS)
            for c in testtime.SAMPLES.constants
        }
        extra += testtime.SAMPLES.expression.xreplace(constants)
    return extra


def _score(
    inputs: Inputs, scenario: Scenario, choice: str, spending: Spending, loss: sp.Expr
) -> sp.Expr | None:
    if choice == "sigmoid":
        depends = scenario.file.rl.R0 is None
        form = rl_forms.SIGMOID_OF_LOSS if depends else rl_forms.SIGMOID
        constants = _rl_constants(inputs, scenario, form)
        return form.expression.xreplace({**constants, C: spending.rl_flop, L: loss})
    if scenario.file.law.downstream is None:
        return None
    form, constants = _downstream(inputs, scenario)
    value = form.expression.xreplace({**constants, L: loss})
    return 1 - value if form is downstream.ERROR else value


def _downstream(inputs: Inputs, scenario: Scenario) -> tuple[Form, dict[sp.Symbol, sp.Expr]]:
    table = scenario.file.law.downstream
    assert table is not None
    form = downstream.SIGMOID if table.kind == "sigmoid" else downstream.ERROR
    return form, {
        c: inputs.add(
            f"law.downstream.{c}", getattr(table, str(c)), form.units.get(str(c), "1"), _USERS
        )
        for c in form.constants
    }


def _target(inputs: Inputs, scenario: Scenario, loss: sp.Expr) -> sp.Expr | None:
    """The quality target as an expression of inputs: a loss [nat/token] or a score."""
    goal = scenario.file.goal
    if goal.score is not None:
        score = inputs.add("goal.score", goal.score, "1")
        return (
            score if rl_law(scenario.file) == "sigmoid" else _loss_of_score(inputs, scenario, score)
        )
    if goal.loss is not None:
        return inputs.add("goal.loss", goal.loss, "nat/token")
    if goal.match is None:
        return None
    tokens = inputs.add("goal.match.tokens", goal.match.tokens, "token")
    replacement: dict[sp.Symbol, sp.Expr] = {
        N: inputs.add("goal.match.params", goal.match.params, "param"),
        D: tokens,
    }
    for variable, name, unit in (
        (R, "rl_tokens", "token"),
        (S, "sparsity", "1"),
        (k, "samples", "1"),
        (P, "bits", "bit"),
    ):
        value = getattr(goal.match, name)
        if value is not None:
            replacement[variable] = inputs.add(f"goal.match.{name}", value, unit)
    unique = inputs.symbols.get("data.unique_tokens")
    if unique is not None:
        # "As good as" means on fresh data.
        replacement[unique] = tokens
    return loss.xreplace(replacement)


def _loss_of_score(inputs: Inputs, scenario: Scenario, score: sp.Symbol) -> sp.Expr:
    """The loss at which the downstream law gives `score`: solved from its one expression."""
    form, constants = _downstream(inputs, scenario)
    wanted = 1 - score if form is downstream.ERROR else score
    (loss,) = sp.solve(sp.Eq(form.expression.replace(logistic, logistic.written_out), wanted), L)
    return loss.xreplace(constants)


def active_params(scenario: Scenario) -> tuple[float, str, str] | None:
    """Model size given in the scenario: value, key and source."""
    from budget import catalog

    model = scenario.file.model
    if model.active_params is not None:
        return model.active_params, "model.active_params", "scenario"
    if model.preset is not None:
        preset = catalog.model(model.preset, "model.preset")
        count = laws.get(scenario.file.law.pretraining).param_count
        source = f"catalogue, {count} count: {preset.source}"
        return preset.counted(count), "model.active_params", source
    return None


def _held(
    inputs: Inputs, scenario: Scenario, variables: tuple[sp.Symbol, ...]
) -> dict[sp.Symbol, sp.Expr]:
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
    if S in variables and file.model.sparsity is not None:
        held[S] = inputs.add("model.sparsity", file.model.sparsity, "1")
    if file.inference is not None and file.inference.samples is not None:
        count = file.inference.samples.count
        if count is not None:
            held[k] = inputs.add("inference.samples.count", count, "1")
    low = file.pretraining.low_precision
    if low is not None and low.bits is not None:
        held[P] = inputs.add("pretraining.low_precision.bits", low.bits, "bit")
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


def _rl_constants(inputs: Inputs, scenario: Scenario, form: Form) -> dict[sp.Symbol, sp.Expr]:
    return {
        c: inputs.add(
            f"rl.{c}", getattr(scenario.file.rl, str(c)), form.units.get(str(c), "1"), _USERS
        )
        for c in form.constants
    }
