"""Least cost as a function of model size, at the plan's quality: the curve and its flat bottom."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import sympy as sp
from scipy.optimize import brentq

from budget import programs
from budget.baselines import held_rl
from budget.goals import solve_program
from budget.numbers import Numbers, Point
from budget.problem import Problem
from budget.solve import bounded
from budget.solve.convex import Solution, solve
from budget.solve.program import Program, Vector

NEAR = 0.01
"""Relative excess cost that still counts as near-optimal."""


@dataclass(frozen=True)
class CurvePoint:
    """One size: least lifetime dollars at equal quality, and the tokens that go with it."""

    active_params: float
    tokens: float
    cost_usd: float


class Profile:
    """Least cost at given N: the programme of the plan's quality with N held.

    Where only the tokens are left to choose, they are eliminated exactly for all sizes at
    once; where RL tokens are chosen too, each size is a convex problem of its own.
    """

    def __init__(self, problem: Problem, numbers: Numbers, point: Point) -> None:
        target = sp.Symbol("_target", positive=True)
        self.program: Program = programs.min_cost(problem, target, {target: numbers.measure(point)})
        self.held = held_rl(problem, point)
        self.optimum: Solution | None = solve_program(self.program, self.held)

    def costs(self, log_params: Vector) -> tuple[Vector, Vector]:
        """Least ln(cost) for every ln N, infinite where nothing suffices, and ln D."""
        if self.program.size - len(self.held) == 2:
            x = np.zeros((self.program.size, len(log_params)))
            x[0] = log_params
            for index, value in self.held.items():
                x[index] = value
            values, points = bounded.eliminate(self.program, 1, x)
            return values, points[1]
        return self._one_by_one(log_params) if self.program.convex else self._by_grid(log_params)

    def _one_by_one(self, log_params: Vector) -> tuple[Vector, Vector]:
        assert self.optimum is not None
        values, tokens = np.full(len(log_params), np.inf), np.full(len(log_params), np.nan)
        centre = float(self.optimum.x[0])
        for side in (-1.0, 1.0):
            distance = side * (log_params - centre)
            for i in np.argsort(distance):
                if distance[i] < 0 or (side > 0 and distance[i] == 0):
                    continue
                held = {**self.held, 0: float(log_params[i])}
                solution = solve(self.program, self.optimum.x, held, tries=2)
                if solution is None:
                    break  # feasible sizes are an interval: nothing lies beyond its end
                values[i], tokens[i] = solution.objective, solution.x[1]
        return values, tokens

    def _by_grid(self, log_params: Vector) -> tuple[Vector, Vector]:
        """Exhaustive in ln R, then refined: the inner problem need not be convex."""
        low = np.full(len(log_params), self.program.lower[2])
        high = np.full(len(log_params), self.program.upper[2])
        for count in (129, 17, 17, 17, 17):
            grid = low + np.linspace(0.0, 1.0, count)[:, None] * (high - low)
            x = np.stack([np.broadcast_to(log_params, grid.shape), grid, grid])
            values, points = bounded.eliminate(self.program, 1, x.reshape(3, -1))
            values, points = values.reshape(grid.shape), points.reshape(x.shape)
            best = values.argmin(axis=0)
            column = np.arange(len(log_params))
            step = (high - low) / (count - 1)
            low, high = grid[best, column] - step, grid[best, column] + step
        return values[best, column], points[1][best, column]

    def near_optimal(self) -> tuple[float, float] | None:
        """Interval of N whose least cost is within 1 % of the minimum."""
        if self.optimum is None:
            return None
        limit = self.optimum.objective + math.log1p(NEAR)
        centre = float(self.optimum.x[0])
        low, high = (self._edge(centre, direction, limit) for direction in (-1.0, 1.0))
        return math.exp(low), math.exp(high)

    def _edge(self, centre: float, direction: float, limit: float) -> float:
        """ln N on one side at which the cost passes `limit` (the curve has one valley)."""

        def excess(distance: float) -> float:
            value = self.costs(np.array([centre + direction * distance]))[0][0]
            return float(min(value, limit + 50.0) - limit)

        # At the optimum itself two constraints may meet, and rounding decide on feasibility.
        near, far = 1e-6, 8.0
        if excess(near) >= 0:
            return centre
        if excess(far) <= 0:
            return centre + direction * far
        return centre + direction * float(brentq(excess, near, far, xtol=1e-9))

    def curve(self, points: int = 91, around: float | None = None) -> list[CurvePoint]:
        """The curve a factor of eight in N to each side of the optimum, wider to hold `around`."""
        if self.optimum is None:
            return []
        centre = float(self.optimum.x[0])
        low, high = centre - math.log(8.0), centre + math.log(8.0)
        if around is not None:
            low, high = min(low, math.log(around) - 0.3), max(high, math.log(around) + 0.3)
        # The optimum itself may be a corner at which the curve ends: a hair beside it is feasible.
        sizes = np.union1d(np.linspace(low, high, points), [centre - 1e-6, centre + 1e-6])
        costs, tokens = self.costs(sizes)
        return [
            CurvePoint(math.exp(n), math.exp(d), math.exp(c))
            for n, d, c in zip(sizes, tokens, costs, strict=True)
            if np.isfinite(c)
        ]
