"""The numbers of a problem at a point (N, D, R): costs, FLOP, loss, score and pulls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from budget.problem import Problem
from budget.stages import SECONDS_PER_HOUR
from laws.interpret import evaluate, value_and_gradient
from laws.symbols import D, N, R


@dataclass(frozen=True)
class Point:
    """A plan as bare numbers: parameters, pretraining tokens, RL tokens (0 without RL)."""

    params: float
    tokens: float
    rl_tokens: float

    @property
    def values(self) -> tuple[float, float, float]:
        """(N, D, R); a scenario without RL has no term in R, so its value is immaterial."""
        return (self.params, self.tokens, self.rl_tokens)


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
        """Numbers of expressions in N, D, R and inputs."""
        values = {**self._inputs, **dict(zip((N, D, R), point.values, strict=True))}
        return evaluate(expressions, values)

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
        """The quality that goals are about: the score if there is one, else the loss."""
        score = self.score(point)
        return self.loss(point) if score is None else score

    def pulls(self, point: Point) -> tuple[list[float], list[float]]:
        """d(quality)/d ln(N, D, R) and d(dollars)/d ln(N, D, R); quality is score or -loss."""
        p = self.problem
        quality = p.score if p.score is not None else -p.loss
        values = {**self._inputs, **dict(zip((N, D, R), point.values, strict=True))}
        found = []
        for expression in (quality, p.spending.total("cost")):
            _, gradient = value_and_gradient(expression, (N, D, R), values)
            found.append([g * v for g, v in zip(gradient, point.values, strict=True)])
        return found[0], found[1]

    def violated(self, point: Point) -> tuple[str, ...]:
        """Names of the limits that a point breaks."""
        limits = self.problem.limits
        slack = self.at(point, [limit.expression for limit in limits])
        return tuple(li.name for li, s in zip(limits, slack, strict=True) if s > 1e-9)

    def evaluate(self, expression: sp.Expr) -> float:
        """A number from an expression in inputs only."""
        return evaluate([expression], self._inputs)[0]
