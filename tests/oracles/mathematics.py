"""The planner's mathematics, written a second time from the papers, without sharing any code.

Constants are those printed in the papers (ln A where a paper fits in logarithms). Functions
take numpy arrays and floats alike. Nothing here may import `budget` or `laws`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True)
class Additive:
    """E + A N^-alpha + B D^-beta (Hoffmann 2022, approach 3, and its refits)."""

    E: float
    A: float
    B: float
    alpha: float
    beta: float

    def loss(self, N, D):
        return self.E + self.A * N**-self.alpha + self.B * D**-self.beta

    def pulls(self, N, D):
        """-dL/dlnN and -dL/dlnD."""
        return self.alpha * self.A * N**-self.alpha, self.beta * self.B * D**-self.beta

    def optimum(self, compute):
        """Closed form of the compute optimum under C = 6 N D (laws.md 1.2)."""
        s = self.alpha + self.beta
        G = (self.alpha * self.A / (self.beta * self.B)) ** (1 / s)
        N = G * (compute / 6) ** (self.beta / s)
        return N, compute / 6 / N

    def optimal_tokens(self, N):
        """Tokens for which N is compute-optimal."""
        return (self.beta * self.B * N**self.alpha / (self.alpha * self.A)) ** (1 / self.beta)


@dataclass(frozen=True)
class Kaplan:
    """[(Nc/N)^(alpha_N/alpha_D) + Dc/D]^alpha_D (Kaplan 2020, Eq. 1.5)."""

    Nc: float
    Dc: float
    alpha_params: float
    alpha_tokens: float
    E: float = 0.0

    def loss(self, N, D):
        return (
            (self.Nc / N) ** (self.alpha_params / self.alpha_tokens) + self.Dc / D
        ) ** self.alpha_tokens


@dataclass(frozen=True)
class Muennighoff:
    """The additive law in effective parameters and tokens (Muennighoff 2023, Eqs. 5 and 6)."""

    E: float
    A: float
    B: float
    alpha: float
    beta: float
    RD: float
    RN: float

    def loss(self, N, D, U):
        unique = np.minimum(D, U)
        size = (self.alpha * self.A / (self.beta * self.B)) ** (1 / self.alpha)
        unique_size = size * unique ** (self.beta / self.alpha)
        return (
            self.E
            + self.A * _effective(N, np.minimum(unique_size, N), self.RN) ** -self.alpha
            + self.B * _effective(D, unique, self.RD) ** -self.beta
        )

    def tokens_for(self, N, U, target):
        """Fewest tokens that reach a loss at each N, by bisection; infinite where none do."""

        def enough(log_tokens):
            return self.loss(N, np.exp(log_tokens), U) <= target

        low, high = np.full(N.shape, math.log(1e3)), np.full(N.shape, math.log(1e21))
        reachable = enough(high)
        for _ in range(80):
            middle = (low + high) / 2
            good = enough(middle)
            low, high = np.where(good, low, middle), np.where(good, middle, high)
        return np.where(reachable, np.exp(high), np.inf)


def _effective(x, u, half_life):
    return u + u * half_life * -np.expm1(-(x / u - 1) / half_life)


LAWS: dict[str, Additive | Kaplan | Muennighoff] = {
    "hoffmann-2022": Additive(1.69, 406.4, 410.7, 0.34, 0.28),
    "hoffmann-2022-unrounded": Additive(
        math.exp(0.5267228), math.exp(6.0073404), math.exp(6.0179186), 0.33917084, 0.2849083
    ),
    "besiroglu-2024": Additive(1.8172, 482.01, 2085.43, 0.3478, 0.3658),
    "besiroglu-2024-full": Additive(
        math.exp(0.59711196), math.exp(6.17795598), math.exp(7.64273236), 0.34781303, 0.36585412
    ),
    "besiroglu-2024-refit": Additive(1.81722, 477.828, 2143.41, 0.347311, 0.367172),
    "muennighoff-2023-base": Additive(
        math.exp(0.6254804), math.exp(6.255414), math.exp(7.3049974), 0.3526596, 0.3526596
    ),
    "kaplan-2020": Kaplan(6.4e13, 1.8e13, 0.076, 0.103),
    "muennighoff-2023": Muennighoff(
        math.exp(0.6254804),
        math.exp(6.255414),
        math.exp(7.3049974),
        0.3526596,
        0.3526596,
        15.387756,
        5.309743,
    ),
}

ADDITIVE = tuple(name for name, law in LAWS.items() if isinstance(law, Additive))


@dataclass(frozen=True)
class Dollars:
    """Lifetime dollars: nd N D + nr N R + n N + fixed.

    `nd` holds the final run only and `research` what other runs cost over it.
    """

    nd: float
    nr: float
    n: float
    fixed: float
    research: float = 1.0

    def total(self, N, D, R=0.0):
        return self.nd * self.research * N * D + self.nr * N * R + self.n * N + self.fixed

    def scaled(self, factor: float) -> Dollars:
        return Dollars(
            self.nd * factor, self.nr * factor, self.n * factor, self.fixed * factor, self.research
        )


def usd_per_flop(peak: float, mfu: float, goodput: float, usd_per_hour: float) -> float:
    """Price of one model FLOP."""
    return usd_per_hour / SECONDS_PER_HOUR / (peak * mfu * goodput)


def sigmoid_score(loss, flop, A, B, C_mid, k, L_half):
    """Saturating score of RL compute, from a base that falls with the loss (laws.md 4)."""
    base = A / (1 + np.exp(k * (loss - L_half)))
    return base + (A - base) / (1 + (C_mid / flop) ** B)


@dataclass(frozen=True)
class Optimum:
    """An oracle's answer."""

    N: float
    D: float
    R: float
    cost: float


def least_cost(
    law: Additive, dollars: Dollars, target: float, K: float = 0.0, gamma: float = 0.0
) -> Optimum:
    """Unconstrained minimum of cost at a loss, from the first-order conditions.

    With pulls a = alpha A N^-alpha, b = beta B D^-beta, c = gamma K R^-gamma they read
    a : b : c = (c1 D + c3 R + c2) : c1 D : c3 R. R and N are explicit in D and rise with it, so
    that one scalar root is left.
    """
    c1, c3, c2 = dollars.nd * dollars.research, dollars.nr, dollars.n

    def point(log_tokens: float) -> tuple[float, float, float]:
        D = math.exp(log_tokens)
        b = law.beta * law.B * D**-law.beta
        R = (gamma * K * c1 * D / (b * c3)) ** (1 / (1 + gamma)) if K else 0.0
        a = b * (c1 * D + c3 * R + c2) / (c1 * D)
        return (law.alpha * law.A / a) ** (1 / law.alpha), D, R

    def excess(log_tokens: float) -> float:
        N, D, R = point(log_tokens)
        rl = K * R**-gamma if K else 0.0
        return math.log((law.loss(N, D) - law.E + rl) / (target - law.E))

    N, D, R = point(brentq(excess, math.log(1e-6), math.log(1e30), xtol=1e-14, rtol=1e-15))
    return Optimum(N, D, R, dollars.total(N, D, R))


def refine(function: Callable[..., np.ndarray], low, high, counts, top: int = 8):
    """Least value of a vectorised function on a box: a dense grid, then finer ones.

    The best `top` cells of the first grid are all refined, so that a second valley is not lost.
    Returns (value, point).
    """
    low, high = np.asarray(low, float), np.asarray(high, float)
    values, points, step = _grid(function, low, high, counts[0])
    starts = points[:, np.argsort(values)[:top]].T
    best = (np.inf, starts[0])
    for start in starts:
        centre, width = start, step
        for count in counts[1:]:
            a, b = np.maximum(centre - 1.5 * width, low), np.minimum(centre + 1.5 * width, high)
            values, points, width = _grid(function, a, b, count)
            centre = points[:, values.argmin()]
            if values.min() < best[0]:
                best = (float(values.min()), centre)
    return best


def _grid(function, low, high, count):
    axes = [np.linspace(a, b, count) for a, b in zip(low, high, strict=True)]
    points = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")])
    return function(*points), points, (high - low) / (count - 1)
