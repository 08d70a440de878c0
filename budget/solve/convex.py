r"""Convex programmes: SciPy's SLSQP to the neighbourhood, Newton on the KKT system to the end.

The certificate does not trust either. With multipliers lambda >= 0 and convex functions
the Lagrangian at x bounds the optimum from below over the search box,

.. math:: p^* \ge f(x) + \lambda^T g(x) - \sum_j |\nabla_j \mathcal L| w_j,

w_j being how far the box reaches from x, so that the gap is a proof and not an estimate
(Boyd and Vandenberghe 2004, section 5.5, and the first-order condition of convexity).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, nnls

from budget.solve.program import Program, Vector

MOST_NEAR = 8
"""Nearly active constraints up to which all sets of them are tried."""

Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

ACTIVE = 1e-6
"""Log-space slack below which a constraint may be active."""

TOLERANCE = 1e-8
"""KKT residual, infeasibility and gap that count as certified."""


@dataclass(frozen=True)
class Certificate:
    """Evidence that a point is optimal. Residuals and gap are in log units, i.e. relative."""

    method: str
    convex: bool
    primal_infeasibility: float
    kkt_residual: float
    gap: float
    tolerance: float

    @property
    def certified(self) -> bool:
        """Whether every part is within tolerance.

        Where the problem is not convex the proof is the gap to a global bound; the KKT residual
        then only says how exactly the best point is a stationary one.
        """
        stationary = self.kkt_residual <= TOLERANCE or not self.convex
        return stationary and self.primal_infeasibility <= TOLERANCE and self.gap <= self.tolerance


@dataclass(frozen=True)
class Solution:
    """Optimal x (k,), multipliers (m,), objective value and certificate."""

    x: Vector
    multipliers: Vector
    objective: float
    certificate: Certificate


def solve(
    program: Program,
    start: Vector | None = None,
    held: Mapping[int, float] | None = None,
    tries: int = 6,
) -> Solution | None:
    """Solve a convex programme, with some variables held at given values.

    `tries` starts are used at most; fewer are enough where `start` is near.

    Returns None when no start ends at a feasible point; `budget.solve.feasibility` then
    says what binds. The certificate tells whether the point is proven.
    """
    reduced = _Reduced(program, dict(held or {}))
    best: Solution | None = None
    for guess in reduced.starts(start)[:tries]:
        x = reduced.approach(guess)
        candidate = reduced.finish(x)
        if candidate is None or not candidate.certificate.certified:
            candidate = reduced.try_subsets(x) or candidate
        if candidate is None:
            continue
        if candidate.certificate.certified:
            return candidate
        if best is None or candidate.objective < best.objective:
            best = candidate
    return best


def describe(
    program: Program, x: Vector, held: Mapping[int, float] | None = None
) -> Solution | None:
    """A point as it is, with the multipliers that fit it best: no search, no Newton."""
    reduced = _Reduced(program, dict(held or {}))
    return reduced.describe(x[reduced.free])


class _Reduced:
    """The programme in its free variables."""

    def __init__(self, program: Program, held: dict[int, float]) -> None:
        self.program = program
        self.held = held
        self.free = [i for i in range(program.size) if i not in held]
        self.lower = np.array(program.lower)
        self.upper = np.array(program.upper)

    def full(self, y: Vector) -> Vector:
        x = np.empty(self.program.size)
        x[self.free] = y
        for index, value in self.held.items():
            x[index] = value
        return x

    def starts(self, start: Vector | None) -> list[Vector]:
        """Starting points in order of preference: the caller's, then a spread over the box."""
        lower, upper = self.lower[self.free], self.upper[self.free]
        guesses = [] if start is None else [np.clip(start[self.free], lower, upper)]
        return guesses + [lower + share * (upper - lower) for share in (0.55, 0.4, 0.7, 0.25, 0.85)]

    def approach(self, guess: Vector) -> Vector:
        """SLSQP from `guess`; its own verdict is ignored."""
        if not self.free:
            return guess
        program = self.program
        free = self.free
        constraints: Any = {
            "type": "ineq",
            "fun": lambda y: -program.evaluate(self.full(y))[1:],
            "jac": lambda y: -program.first(self.full(y))[1:, free],
        }

        def value_and_slope(y: Vector) -> tuple[float, Vector]:
            x = self.full(y)
            return float(program.evaluate(x)[0]), program.first(x)[0, free]

        result = minimize(
            value_and_slope,
            np.ravel(guess),
            jac=True,
            bounds=list(zip(self.lower[free], self.upper[free], strict=True)),
            constraints=constraints,
            method="SLSQP",
            options={"maxiter": 200, "ftol": 1e-12},
        )
        found: Vector = np.clip(np.asarray(result.x), self.lower[free], self.upper[free])
        return found

    def finish(self, y: Vector) -> Solution | None:
        """Identify the active set by non-negative least squares and polish with Newton."""
        lower, upper = self.lower[self.free], self.upper[self.free]
        multipliers = np.zeros(len(self.program.constraints))
        for _ in range(8):
            values, jacobian = self._state(y)
            if not (np.isfinite(values).all() and np.isfinite(jacobian).all()):
                return None
            g = values[1:]
            near = np.flatnonzero(g > -ACTIVE)
            # The sides of the box count as constraints: one column each where y touches them.
            sides = np.diag(np.where(y >= upper - 1e-9, 1.0, 0.0) - (y <= lower + 1e-9))
            touching = np.flatnonzero(np.diag(sides))
            columns = np.hstack([jacobian[1 + near].T, sides[:, touching]])
            multipliers[:] = 0.0
            frozen = np.zeros(len(y), dtype=bool)
            if columns.size:
                weights = nnls(columns, -jacobian[0])[0]
                multipliers[near] = weights[: near.size]
                frozen[touching] = weights[near.size :] > 1e-12
            active = np.flatnonzero((multipliers > 1e-12) | (g > 1e-10))
            y, multipliers = self._newton(y, active, multipliers, ~frozen)
            values, _ = self._state(y)
            if values[1:].max(initial=-1.0) <= 1e-10 and multipliers.min(initial=0.0) >= -1e-10:
                break
        return self._certify(y, np.maximum(multipliers, 0.0))

    def try_subsets(self, y: Vector) -> Solution | None:
        """Every set of nearly active constraints as the active set; a certified one, if any.

        Where more limits nearly meet in a point than can bind at once, their multipliers at an
        inexact point do not tell which do.
        """
        near = np.flatnonzero(self._state(y)[0][1:] > -10 * ACTIVE)
        if not 1 < near.size <= MOST_NEAR:
            return None
        everything = np.ones(len(y), dtype=bool)
        for size in range(1, min(near.size, len(y)) + 1):
            for chosen in combinations(near, size):
                active = np.array(chosen, dtype=np.intp)
                zero = np.zeros(len(self.program.constraints))
                found, multipliers = self._newton(y, active, zero, everything)
                if multipliers.min(initial=0.0) < -1e-10:
                    continue
                solution = self._certify(found, np.maximum(multipliers, 0.0))
                if solution is not None and solution.certificate.certified:
                    return solution
        return None

    def describe(self, y: Vector) -> Solution | None:
        """See `describe`."""
        values, jacobian = self._state(y)
        multipliers = np.zeros(len(self.program.constraints))
        near = np.flatnonzero(values[1:] > -ACTIVE)
        if near.size and self.free and np.isfinite(jacobian).all():
            multipliers[near] = nnls(jacobian[1 + near].T, -jacobian[0])[0]
        return self._certify(y, multipliers)

    def _state(self, y: Vector) -> tuple[Vector, Vector]:
        x = self.full(y)
        return self.program.evaluate(x), self.program.first(x)[:, self.free]

    def _newton(
        self, y: Vector, active: Indices, multipliers: Vector, moving: Mask
    ) -> tuple[Vector, Vector]:
        """Newton on stationarity in the moving variables, active constraints as equalities."""
        program, free = self.program, self.free
        k, m = int(moving.sum()), len(active)
        multipliers = np.where(np.isin(np.arange(multipliers.size), active), multipliers, 0.0)
        for _ in range(20):
            values, jacobian = self._state(y)
            rows = jacobian[1 + active][:, moving]
            residual = np.concatenate(
                [jacobian[0][moving] + rows.T @ multipliers[active], values[1 + active]]
            )
            if np.abs(residual).max(initial=0.0) < 1e-14:
                break
            second = program.second(self.full(y))[:, free][:, :, free][:, moving][:, :, moving]
            matrix = np.zeros((k + m, k + m))
            matrix[:k, :k] = second[0] + np.tensordot(
                multipliers[active], second[1 + active], axes=1
            )
            matrix[:k, k:] = rows.T
            matrix[k:, :k] = rows
            if not (np.isfinite(matrix).all() and np.isfinite(residual).all()):
                break
            step = np.linalg.lstsq(matrix, -residual, rcond=1e-14)[0]
            if not np.isfinite(step).all() or np.abs(step[:k]).max(initial=0.0) > 5.0:
                break
            y = y.copy()
            y[moving] += step[:k]
            y = np.clip(y, self.lower[free], self.upper[free])
            multipliers[active] += step[k:]
        return y, multipliers

    def _certify(self, y: Vector, multipliers: Vector) -> Solution | None:
        x = self.full(y)
        values, jacobian = self._state(y)
        if not (np.isfinite(values).all() and np.isfinite(jacobian).all()):
            return None
        g = values[1:]
        infeasibility = float(np.maximum(g, 0.0).max(initial=0.0))
        if infeasibility > 1e-5:
            return None
        stationarity = jacobian[0] + jacobian[1:].T @ multipliers
        slackness = np.abs(multipliers * g)
        # How far the box lets y move against the gradient: nowhere, where it touches a side.
        reach = np.where(
            stationarity > 0, y - self.lower[self.free], self.upper[self.free] - y
        ).clip(min=0.0)
        gap = float(-(multipliers @ g) + np.abs(stationarity) @ reach)
        stationarity = stationarity * (reach > 1e-9)
        certificate = Certificate(
            method="SLSQP + Newton on the KKT system, log space",
            convex=self.program.convex,
            primal_infeasibility=infeasibility,
            kkt_residual=float(
                max(np.abs(stationarity).max(initial=0.0), slackness.max(initial=0.0))
            ),
            gap=max(gap, 0.0),
            tolerance=TOLERANCE,
        )
        return Solution(x, multipliers, float(values[0]), certificate)
