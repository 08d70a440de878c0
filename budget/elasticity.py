r"""Exact elasticities d ln(output)/d ln(input) of a plan, by implicit differentiation.

The plan solves F(x, lambda; theta) = 0, the stationarity and active-constraint equations. Then

.. math:: \begin{pmatrix} H & J^T \\ J & 0 \end{pmatrix}
          \begin{pmatrix} dx \\ d\lambda \end{pmatrix} =
          -\begin{pmatrix} \partial_\theta \nabla \mathcal L \\
          \partial_\theta g \end{pmatrix} d\theta

Variables given by the scenario, or by a rule such as equal cost, move with their own
expression; the size that is compute-optimal for N follows from its own equation. No
finite differences anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import sympy as sp

from budget.numbers import Point
from budget.problem import Problem
from budget.solve.program import Program, Vector
from laws.frontier import pull_ratio
from laws.interpret import value_and_gradient
from laws.symbols import D, N, P, R, S, k

KEYS = {
    N: "model.active_params",
    D: "pretraining.tokens",
    R: "rl.tokens",
    S: "model.sparsity",
    k: "inference.samples_per_query",
    P: "pretraining.training_bits",
}
"""Name of each decision variable in the plan's JSON."""


@dataclass(frozen=True)
class Conditions:
    """What determines the plan: rules for given variables, a programme for chosen ones."""

    rules: Mapping[sp.Symbol, sp.Expr]
    program: Program | None = None
    multipliers: Vector | None = None


def elasticities(
    problem: Problem, point: Point, conditions: Conditions, tokens_optimal: float
) -> dict[str, dict[str, float]]:
    """Elasticity of every headline output in every numeric input.

    `tokens_optimal` is D_opt(N) at the plan's N. An input at zero has elasticity zero.
    """
    x = np.log(point.of(problem.variables))
    moves = _moves(problem, x, conditions)
    rows = {KEYS[v]: moves[i] for i, v in enumerate(problem.variables)}
    outputs = {"total_cost_usd": problem.spending.total("cost"), "quality.loss": problem.loss}
    if problem.score is not None:
        outputs["quality.score"] = problem.score
    for name, expression in outputs.items():
        in_variables, in_inputs = _slopes(problem, expression, x)
        rows[name] = in_variables @ moves + in_inputs
    rows["overtraining.overtraining_factor"] = moves[1] - _reference_move(
        problem, x, tokens_optimal, moves[0]
    )
    keys = list(problem.inputs.entries)
    return {
        name: {key: float(v) + 0.0 for key, v in zip(keys, row, strict=True)}
        for name, row in rows.items()
    }


def _slopes(problem: Problem, expression: sp.Expr, x: Vector) -> tuple[Vector, Vector]:
    """d ln(expression)/d ln(variables) and d ln(expression)/d ln(inputs) at exp(x)."""
    inputs = problem.inputs.values
    point = dict(zip(problem.variables, np.exp(x), strict=True))
    symbols = (*point, *inputs)
    values = {**point, **inputs}
    value, gradient = value_and_gradient(expression, symbols, values)
    logs = np.array([g * v for g, v in zip(gradient, values.values(), strict=True)]) / value
    return logs[: len(point)], logs[len(point) :]


def _moves(problem: Problem, x: Vector, conditions: Conditions) -> Vector:
    """dx/d ln theta, shape (number of variables, number of inputs)."""
    theta = np.array(list(problem.inputs.values.values()))
    moves = np.zeros((len(problem.variables), len(theta)))
    given = [i for i, v in enumerate(problem.variables) if v in conditions.rules]
    free = [i for i in range(len(problem.variables)) if i not in given]
    for i in given:
        moves[i] = _slopes(problem, conditions.rules[problem.variables[i]], x)[1]
    if not free:
        return moves
    program, multipliers = conditions.program, conditions.multipliers
    assert program is not None and multipliers is not None
    active = np.flatnonzero(multipliers > 1e-12)
    second = program.second(x)
    hessian = second[0] + np.tensordot(multipliers, second[1:], axes=1)
    jacobian = program.first(x)[1:][active]
    cross = program.lagrangian_cross(x, multipliers) * theta
    limits = program.constraint_input_jacobian(x)[active] * theta
    k, m = len(free), len(active)
    matrix = np.zeros((k + m, k + m))
    matrix[:k, :k] = hessian[np.ix_(free, free)]
    matrix[:k, k:] = jacobian[:, free].T
    matrix[k:, :k] = jacobian[:, free]
    right = np.concatenate(
        [
            -(cross[free] + hessian[np.ix_(free, given)] @ moves[given]),
            -(limits + jacobian[:, given] @ moves[given]),
        ]
    )
    moves[free] = np.linalg.lstsq(matrix, right, rcond=None)[0][:k]
    return moves


def _reference_move(
    problem: Problem, x: Vector, tokens_optimal: float, move_params: Vector
) -> Vector:
    """d ln D_opt(N)/d ln theta, from (ratio of pulls) = 1 at (N, D_opt)."""
    ratio = pull_ratio(problem.law.form).xreplace(problem.law_symbols())
    at = x.copy()
    at[1] = np.log(tokens_optimal)
    in_variables, in_inputs = _slopes(problem, ratio, at)
    move: Vector = -(in_variables[0] * move_params + in_inputs) / in_variables[1]
    return move
