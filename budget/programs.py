"""The optimisation programmes of the goals, in logarithms of N, D, R."""

from __future__ import annotations

import math
from collections.abc import Mapping

import sympy as sp

from budget.problem import Problem
from budget.solve.program import Function, Program
from laws.symbols import D, N, P, R, S, k

LOG = {
    v: sp.Symbol(name, real=True)
    for v, name in ((N, "n"), (D, "d"), (R, "r"), (S, "s"), (k, "kappa"), (P, "p"))
}
"""Logarithm of each decision variable."""

BOX = {N: (1e3, 1e18), D: (1e3, 1e21), R: (1e2, 1e22), S: (0.5, 1e5), k: (0.5, 1e9), P: (0.1, 1e3)}
"""Search box, in the units of the variables; an optimum at its edge is refused."""

FALLS = dict.fromkeys(LOG, -1)
"""Quality's shortfall falls with every lever."""

RISES = {N: 1, D: 1, R: 1, S: 0, k: 1, P: 1}
"""Cost rises with every lever but sparsity: memory is not priced."""

QUALITY, BUDGET = "quality", "budget"


def to_log(expression: sp.Expr) -> sp.Expr:
    """Rewrite an expression in N, D, R in their logarithms."""
    return expression.xreplace({v: sp.exp(x) for v, x in LOG.items()})


def min_cost(
    problem: Problem, target: sp.Expr, extra: Mapping[sp.Symbol, float] | None = None
) -> Program:
    """Least lifetime dollars with quality at least `target` (an expression of inputs)."""
    quality = _function(problem, QUALITY, _shortfall(problem, target), FALLS)
    return _program(problem, _cost(problem), (quality,), extra)


def max_quality(problem: Problem, budget: sp.Expr) -> Program:
    """Best quality with lifetime dollars at most `budget`."""
    if not problem.by_score:
        objective = sp.log(problem.loss - problem.irreducible)
    else:
        objective = -sp.log(problem.score)
    cost = _cost(problem)
    limit = Function(BUDGET, cost.expression - sp.log(budget), cost.signs)
    return _program(problem, _function(problem, QUALITY, objective, FALLS), (limit,), None)


def _shortfall(problem: Problem, target: sp.Expr) -> sp.Expr:
    if not problem.by_score:
        return sp.log(problem.loss - problem.irreducible) - sp.log(target - problem.irreducible)
    return sp.log(target) - sp.log(problem.score)


def _cost(problem: Problem) -> Function:
    return _function(problem, "cost", sp.log(problem.spending.total("cost")), RISES)


def _function(
    problem: Problem, name: str, expression: sp.Expr, signs: Mapping[sp.Symbol, int]
) -> Function:
    return Function(name, to_log(expression), tuple(signs.get(v, 0) for v in problem.variables))


def _program(
    problem: Problem,
    objective: Function,
    constraints: tuple[Function, ...],
    extra: Mapping[sp.Symbol, float] | None,
) -> Program:
    own = tuple(
        _function(
            problem,
            limit.name,
            limit.expression,
            {v: limit.sense * sign for v, sign in limit.signs.items()},
        )
        for limit in problem.limits
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
