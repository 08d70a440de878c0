"""The numbers of a problem at a point: costs, FLOP, loss, score and pulls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from budget.problem import Problem
from budget.stages import SECONDS_PER_HOUR
from laws.interpret import evaluate, value_and_gradient
from laws.symbols import D, N, P, R, S, k


@dataclass(frozen=True)
class Point:
    """A plan as bare numbers. What a scenario does not have stays at its neutral value."""

    params: float
    tokens: float
    rl_tokens: float = 0.0
    sparsity: float = 1.0
    samples: float = 1.0
    bits: float = 16.0

    @property
    def values(self) -> dict[sp.Symbol, float]:
        """Amount of every decision variable."""
        return {
            N: self.params,
            D: self.tokens,
            R: self.rl_tokens,
            S: self.sparsity,
            k: self.samples,
            P: self.bits,
        }

    def of(self, variables: Iterable[sp.Symbol]) -> NDArray[np.float64]:
        """Amounts of the given variables."""
        return np.array([self.values[v] for v in variables])

    @staticmethod
    def at(variables: Iterable[sp.Symbol], amounts: Iterable[float]) -> Point:
        """The point with the given amounts, neutral in everything else."""
        named = {FIELDS[v]: float(a) for v, a in zip(variables, amounts, strict=True)}
        return Point(**named)


FIELDS = {N: "params", D: "tokens", R: "rl_tokens", S: "sparsity", k: "samples", P: "bits"}
"""Field of `Point` of every decision variable."""


@dataclass(frozen=True)
class Line:
    """One line of spend in numbers."""

    name: str
    group: str
    flop: float
    chip_hours: float
    cost_usd: float


class Numbers:
    """Numeric view of a problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._inputs = problem.inputs.values

    def at(self, point: Point, expressions: Sequence[sp.Expr]) -> list[float]:
        """Numbers of expressions in decision variables and inputs."""
        return evaluate(expressions, {**self._inputs, **point.values})

    def lines(self, point: Point) -> list[Line]:
        """Every line of spend."""
        stated = self.problem.spending.lines
        parts = iter(
            self.at(point, [e for li in stated for e in (li.flop, li.chip_seconds, li.cost)])
        )
        return [
            Line(li.name, li.group, next(parts), next(parts) / SECONDS_PER_HOUR, next(parts))
            for li in stated
        ]

    def cost(self, point: Point) -> float:
        """Lifetime dollars."""
        return sum(line.cost_usd for line in self.lines(point))

    def loss(self, point: Point) -> float:
        """Loss with the RL term, if any [nat/token]."""
        return self.at(point, [self.problem.loss])[0]

    def irreducible(self) -> float:
        """Irreducible loss [nat/token]."""
        return self.evaluate(self.problem.irreducible)

    def pretraining_loss(self, point: Point) -> float:
        """Loss after pretraining [nat/token]."""
        return self.at(point, [self.problem.pretraining_loss])[0]

    def score(self, point: Point) -> float | None:
        """Score, where a law gives one."""
        score = self.problem.score
        return None if score is None else self.at(point, [score])[0]

    def measure(self, point: Point) -> float:
        """The quality that goals are about: a score, or the loss behind it."""
        if self.problem.by_score:
            return self.at(point, [self.problem.score])[0]
        return self.loss(point)

    def slopes(self, point: Point, expression: sp.Expr) -> dict[sp.Symbol, float]:
        """d(expression)/d ln x for every lever x."""
        variables = self.problem.variables
        values = {**self._inputs, **point.values}
        _, gradient = value_and_gradient(expression, variables, values)
        return {v: g * point.values[v] for v, g in zip(variables, gradient, strict=True)}

    def pulls(self, point: Point) -> tuple[dict[sp.Symbol, float], dict[sp.Symbol, float]]:
        """d(quality)/d ln x and d(dollars)/d ln x for every lever x; quality is score or -loss."""
        problem = self.problem
        quality = problem.score if problem.by_score else -problem.loss
        cost = problem.spending.total("cost")
        return self.slopes(point, quality), self.slopes(point, cost)

    def violated(self, point: Point) -> tuple[str, ...]:
        """Names of the limits that a point breaks."""
        limits = self.problem.limits
        slack = self.at(point, [limit.expression for limit in limits])
        return tuple(li.name for li, s in zip(limits, slack, strict=True) if s > 1e-9)

    def evaluate(self, expression: sp.Expr) -> float:
        """A number from an expression in inputs only."""
        return evaluate([expression], self._inputs)[0]
