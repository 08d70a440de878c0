"""The optimisation programmes of the goals, in logarithms of N, D, R."""

from __future__ import annotations

import math
from collections.abc import Mapping

import sympy as sp

from budget.problem import Problem
from budget.solve.program import Function, Program
from laws.symbols import D, N, R

LOG = {N: sp.Symbol("n", real=True), D: sp.Symbol("d", real=True), R: sp.Symbol("r", real=True)}
"""Logarithm of each decision variable."""

BOX = {N: (1e3, 1e18), D: (1e3, 1e21), R: (1e2, 1e22)}
"""Search box [param, token, token]; an optimum at its edge is reported, never returned."""

QUALITY, BUDGET = "quality", "budget"


def to_log(expression: sp.Expr) -> sp.Expr:
    """Rewrite an expression in N, D, R in their logarithms."""
    return expression.xreplace({v: sp.exp(x) for v, x in LOG.items()})


def min_cost(
    problem: Problem, target: sp.Expr, extra: Mapping[sp.Symbol, float] | None = None
) -> Program:
    """Least lifetime dollars with quality at least `target` (an expression of inputs)."""
    quality = _function(problem, QUALITY, _shortfall(problem, target), (-1, -1, -1))
    return _program(problem, _cost(problem), (quality,), extra)


def max_quality(problem: Problem, budget: sp.Expr) -> Program:
    """Best quality with lifetime dollars at most `budget`."""
    if problem.score is None:
        objective = sp.log(problem.loss - problem.irreducible)
    else:
        objective = -sp.log(problem.score)
    cost = _cost(problem)
    limit = Function(BUDGET, cost.expression - sp.log(budget), cost.signs)
    return _program(problem, _function(problem, QUALITY, objective, (-1, -1, -1)), (limit,), None)


def min_training_cost(
    problem: Problem, target: sp.Expr, extra: Mapping[sp.Symbol, float]
) -> Program:
    """Least pretraining dollars at equal quality: the plan that ignores traffic."""
    training = _function(
        problem, "training cost", sp.log(problem.spending.total("cost", "pretraining")), (1, 1, 0)
    )
    quality = _function(problem, QUALITY, _shortfall(problem, target), (-1, -1, -1))
    return _program(problem, training, (quality,), extra, limited=False)


def _shortfall(problem: Problem, target: sp.Expr) -> sp.Expr:
    if problem.score is None:
        return sp.log(problem.loss - problem.irreducible) - sp.log(target - problem.irreducible)
    return sp.log(target) - sp.log(problem.score)


def _cost(problem: Problem) -> Function:
    return _function(problem, "cost", sp.log(problem.spending.total("cost")), (1, 1, 1))


def _function(
    problem: Problem, name: str, expression: sp.Expr, signs: tuple[int, int, int]
) -> Function:
    return Function(name, to_log(expression), signs[: len(problem.variables)])


def _program(
    problem: Problem,
    objective: Function,
    constraints: tuple[Function, ...],
    extra: Mapping[sp.Symbol, float] | None,
    limited: bool = True,
) -> Program:
    own = tuple(
        _function(problem, limit.name, limit.expression, _signed(limit.signs, limit.sense))
        for limit in (problem.limits if limited else ())
    )
    values = {**problem.inputs.values, **(extra or {})}
    box = [BOX[v] for v in problem.variables]
    return Program(
        variables=tuple(LOG[v] for v in problem.variables),
        objective=objective,
        constraints=(*constraints, *own),
        inputs=tuple(values),
        values=tuple(values.values()),
        lower=tuple(math.log(low) for low, _ in box),
        upper=tuple(math.log(high) for _, high in box),
        convex=problem.log_convex,
    )


def _signed(signs: tuple[int, int, int], sense: int) -> tuple[int, int, int]:
    return (sense * signs[0], sense * signs[1], sense * signs[2])
