"""Plans to hold the answer against, all of the same quality and with the same traffic."""

from __future__ import annotations

import math
from collections.abc import Callable

import sympy as sp

from budget import goals, programs
from budget.numbers import Numbers, Point
from budget.problem import Problem
from budget.result import Baseline
from budget.solve.convex import Solution
from laws.symbols import D, N, R


def baselines(problem: Problem, numbers: Numbers, point: Point) -> tuple[Baseline, ...]:
    """All baselines that exist for a plan, in the order they are told."""
    kind = problem.scenario.file.goal.kind
    found: list[tuple[str, Point | None]] = []
    if kind in ("fixed", "equal-cost"):
        found.append(("optimal", optimal(problem, numbers, point)))
    found.append(("chinchilla", _chinchilla(problem, numbers, point)))
    if kind != "equal-cost":
        found.append(("equal-cost", _equal_cost(problem, numbers, point)))
    found.append(("match", _match(problem, point)))
    cost = numbers.cost(point)
    return tuple(
        _baseline(numbers, name, other, cost) for name, other in found if other is not None
    )


def optimal(problem: Problem, numbers: Numbers, point: Point) -> Point | None:
    """The cheapest plan of the quality of `point`, whatever size the scenario gives."""
    solution = optimal_solution(problem, numbers, point)
    return None if solution is None else goals.point_of(solution.x)


def optimal_solution(problem: Problem, numbers: Numbers, point: Point) -> Solution | None:
    """As `optimal`, with its certificate."""
    target = sp.Symbol("_target", positive=True)
    program = programs.min_cost(problem, target, {target: numbers.measure(point)})
    held = held_rl(problem, point)
    return goals.solve_program(program, held)


def held_rl(problem: Problem, point: Point) -> dict[int, float]:
    """RL tokens held at the plan's where no law says what they buy."""
    if R in problem.variables and problem.rl_law not in ("power", "sigmoid"):
        return {problem.variables.index(R): math.log(point.rl_tokens)}
    return {}


def _baseline(numbers: Numbers, name: str, point: Point, cost: float) -> Baseline:
    total = numbers.cost(point)
    return Baseline(
        name=name,
        active_params=point.params,
        tokens=point.tokens,
        rl_tokens=point.rl_tokens,
        total_cost_usd=total,
        loss=numbers.loss(point),
        extra_cost_usd=total - cost,
        violates=numbers.violated(point),
    )


def _chinchilla(problem: Problem, numbers: Numbers, point: Point) -> Point | None:
    """Compute-optimal N and D for the same pretraining loss, RL tokens unchanged."""
    target = numbers.pretraining_loss(point)
    unique = unique_tokens(problem)

    def excess(log_compute: float) -> float:
        best = problem.law.optimum(math.exp(log_compute), unique)
        assert best.loss is not None
        return best.loss - target

    root = bisect(excess, math.log(1e7), math.log(1e40))
    if root is None:
        return None
    best = problem.law.optimum(math.exp(root), unique)
    return Point(best.params, best.tokens, point.rl_tokens)


def _equal_cost(problem: Problem, numbers: Numbers, point: Point) -> Point | None:
    """The size for which the equal-cost rule reaches the plan's quality, if there is one."""
    if not numbers.evaluate(problem.spending.served_output + problem.spending.served_input):
        return None
    rules = goals.equal_cost_rules(problem)
    tokens = numbers.evaluate(rules[D])
    rl_tokens = numbers.evaluate(rules[R]) if R in rules else point.rl_tokens
    target = numbers.measure(point)
    sign = 1.0 if problem.score is None else -1.0

    def excess(log_params: float) -> float:
        return sign * (numbers.measure(Point(math.exp(log_params), tokens, rl_tokens)) - target)

    root = bisect(excess, *(math.log(edge) for edge in programs.BOX[N]))
    return None if root is None else Point(math.exp(root), tokens, rl_tokens)


def _match(problem: Problem, point: Point) -> Point | None:
    match = problem.scenario.file.goal.match
    if match is None:
        return None
    return Point(match.params, match.tokens, match.rl_tokens or point.rl_tokens)


def unique_tokens(problem: Problem) -> float | None:
    """Unique tokens, where the law depends on them."""
    needs = any(str(v) == "U" for v in problem.law.form.variables)
    return problem.scenario.file.data.unique_tokens if needs else None


def bisect(falling: Callable[[float], float], low: float, high: float) -> float | None:
    """Root of a falling function between two points, or None if there is none."""
    from scipy.optimize import brentq

    if not falling(low) > 0 > falling(high):
        return None
    return float(brentq(falling, low, high, xtol=1e-13, rtol=1e-14))
