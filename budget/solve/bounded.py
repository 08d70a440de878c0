r"""Global minimum of a monotone programme, with a proven bound.

For problems that are not convex (saturating RL score). Every function moves in a known
direction with every variable (`Function.signs`), so that on a box the corner that
favours a function bounds it: no derivative, no Lipschitz constant, no sampling.

One variable, the pivot, is eliminated: given the others, the constraints leave it an
interval whose ends are found by bisection, and the objective wants one end. The others
are covered by boxes; a box whose bound exceeds the best known value is dropped, the rest
are halved, until the bound is within `tolerance` (branch and bound on a monotone
problem: Tuy 2000, Monotonic optimization).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from budget.solve.program import Function, Program, Vector

EMPTY = (1e6, -1e6)
"""Ends of an empty interval: finite, so that arithmetic on them stays quiet."""

FEASIBLE = 1e-9
"""Log-space excess that a point may have over a constraint."""

_BISECTIONS = 60
_BATCH = 4096


@dataclass(frozen=True)
class Bounded:
    """Best point found, its objective, and a proven lower bound on the objective."""

    x: Vector
    objective: float
    bound: float
    boxes: int

    @property
    def gap(self) -> float:
        """objective - bound, in log units."""
        return max(self.objective - self.bound, 0.0)


def minimise(
    program: Program,
    pivot: int,
    tolerance: float,
    incumbent: Vector | None = None,
    held: dict[int, float] | None = None,
    max_boxes: int = 1_000_000,
) -> Bounded | None:
    """Minimise `program` globally; None if every box is proven infeasible.

    `pivot` is the index of the eliminated variable. `incumbent` is a feasible point that
    spares work. The result's gap may exceed `tolerance` only when `max_boxes` is reached.
    """
    search = _Search(program, pivot)
    low, high = np.array(program.lower), np.array(program.upper)
    for index, value in (held or {}).items():
        low[index] = high[index] = value
    lows, highs = low[:, None], high[:, None]
    best, best_x = np.inf, None
    if incumbent is not None and program.evaluate(incumbent)[1:].max(initial=-1.0) <= FEASIBLE:
        best, best_x = float(program.evaluate(incumbent)[0]), incumbent
    bounds = search.bound(lows, highs)
    seen, retired = 1, np.inf
    while True:
        alive = bounds < best - tolerance
        retired = min(retired, float(bounds[~alive].min(initial=np.inf)))
        lows, highs, bounds = lows[:, alive], highs[:, alive], bounds[alive]
        if not bounds.size or seen > max_boxes:
            break
        order = np.argsort(bounds)
        take, rest = order[:_BATCH], order[_BATCH:]
        new_lows, new_highs = search.halve(lows[:, take], highs[:, take])
        values, points = search.points((new_lows + new_highs) / 2)
        if values.min() < best:
            best, best_x = float(values.min()), points[:, int(values.argmin())]
        new_bounds = search.bound(new_lows, new_highs)
        seen += new_bounds.size
        lows = np.concatenate([lows[:, rest], new_lows], axis=1)
        highs = np.concatenate([highs[:, rest], new_highs], axis=1)
        bounds = np.concatenate([bounds[rest], new_bounds])
    if best_x is None:
        return None
    bound = min(best, retired, float(bounds.min(initial=np.inf)))
    return Bounded(best_x, best, bound, seen)


def refine(program: Program, pivot: int, x: Vector, held: Mapping[int, float]) -> Vector:
    """Improve a feasible point by ever finer grids around it; for minima too flat for Newton."""
    best, value, width = x.copy(), float(program.evaluate_one(0, x[:, None])[0]), 0.05
    for _ in range(12):
        axes = [
            np.array([best[i]]) if i in held else np.linspace(best[i] - width, best[i] + width, 13)
            for i in range(program.size)
        ]
        axes[pivot] = np.zeros(1)
        grid = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")])
        values, points = eliminate(program, pivot, grid)
        if values.min() <= value:
            best, value = points[:, int(values.argmin())], float(values.min())
        width /= 3.0
    return best


def scout(
    program: Program, pivot: int, held: Mapping[int, float], count: int = 97
) -> Vector | None:
    """Best point of a coarse grid over all variables but the pivot; None if none is feasible."""
    axes = [
        np.array([held[i]]) if i in held else np.linspace(low, high, count)
        for i, (low, high) in enumerate(zip(program.lower, program.upper, strict=True))
    ]
    axes[pivot] = np.zeros(1)
    grid = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")])
    values, points = eliminate(program, pivot, grid)
    best: Vector = points[:, int(values.argmin())]
    return best if np.isfinite(values.min()) else None


def eliminate(program: Program, pivot: int, x: Vector) -> tuple[Vector, Vector]:
    """Best value of the pivot where all other variables are given, shape (k, points).

    Returns the objective, infinite where no value of the pivot is feasible, and the full
    points. Exact: a monotone problem in one variable has its optimum where a constraint binds.
    """
    return _Search(program, pivot).points(x)


class _Search:
    def __init__(self, program: Program, pivot: int) -> None:
        self.program = program
        self.pivot = pivot
        self.others = [i for i in range(program.size) if i != pivot]

    def halve(self, lows: Vector, highs: Vector) -> tuple[Vector, Vector]:
        """Split every box in the longest direction other than the pivot."""
        width = (highs - lows)[self.others]
        axis = np.array(self.others)[width.argmax(axis=0)]
        column = np.arange(lows.shape[1])
        middle = (lows[axis, column] + highs[axis, column]) / 2
        left_highs, right_lows = highs.copy(), lows.copy()
        left_highs[axis, column] = middle
        right_lows[axis, column] = middle
        return np.concatenate([lows, right_lows], 1), np.concatenate([left_highs, highs], 1)

    def bound(self, lows: Vector, highs: Vector) -> Vector:
        """Lower bound of the objective on each box; infinite where proven infeasible."""
        low_pivot, high_pivot = self._interval(lows, highs)
        objective = self.program.objective
        corner = self._corner(objective, lows, highs)
        corner[self.pivot] = low_pivot if objective.signs[self.pivot] >= 0 else high_pivot
        values = self.program.evaluate_one(0, corner)
        return np.where(low_pivot <= high_pivot, values, np.inf)

    def points(self, x: Vector) -> tuple[Vector, Vector]:
        """See `eliminate`."""
        low_pivot, high_pivot = self._interval(x, x, self.program.lower, self.program.upper)
        x = x.copy()
        up = self.program.objective.signs[self.pivot] >= 0
        x[self.pivot] = low_pivot if up else high_pivot
        values = self.program.evaluate(x)
        # The same slack as the constraints': a point where two of them meet is feasible.
        fits = low_pivot <= high_pivot + FEASIBLE
        feasible = fits & (values[1:].max(axis=0, initial=-1.0) <= FEASIBLE)
        return np.where(feasible, values[0], np.inf), x

    def _interval(
        self,
        lows: Vector,
        highs: Vector,
        lower: tuple[float, ...] | None = None,
        upper: tuple[float, ...] | None = None,
    ) -> tuple[Vector, Vector]:
        """Ends of the pivot's interval, each constraint at the corner that favours it."""
        p = self.pivot
        start = np.full(lows.shape[1], lower[p]) if lower else lows[p].copy()
        stop = np.full(lows.shape[1], upper[p]) if upper else highs[p].copy()
        for index, constraint in enumerate(self.program.constraints, start=1):
            corner = self._corner(constraint, lows, highs)
            ends = np.stack([start, stop])
            sign = constraint.signs[p]
            if sign == 0:
                corner[p] = start
                stop = np.where(self._value(index, corner) <= 0, stop, EMPTY[1])
                continue
            root = self._root(index, corner, ends, sign)
            if sign > 0:
                stop = np.minimum(stop, root)
            else:
                start = np.maximum(start, root)
        return start, stop

    def _root(self, index: int, corner: Vector, ends: Vector, sign: int) -> Vector:
        """Where a monotone constraint crosses zero in the pivot; beyond the ends if nowhere."""
        p = self.pivot
        good, bad = (ends[0], ends[1]) if sign > 0 else (ends[1], ends[0])
        corner[p] = bad
        everywhere = self._value(index, corner) <= 0
        corner[p] = good
        nowhere = ~(self._value(index, corner) <= 0)
        inside, outside = good.copy(), bad.copy()
        for _ in range(_BISECTIONS):
            corner[p] = (inside + outside) / 2
            feasible = self._value(index, corner) <= 0
            inside = np.where(feasible, corner[p], inside)
            outside = np.where(feasible, outside, corner[p])
        root = np.where(everywhere, bad, inside)
        return np.where(nowhere, EMPTY[1] if sign > 0 else EMPTY[0], root)

    def _corner(self, function: Function, lows: Vector, highs: Vector) -> Vector:
        """The corner of each box where `function` is least."""
        signs = np.array(function.signs)[:, None]
        return np.where(signs >= 0, lows, highs).astype(float)

    def _value(self, index: int, x: Vector) -> Vector:
        return self.program.evaluate_one(index, x)
