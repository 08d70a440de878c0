"""Plans to hold the answer against, all of the same quality and with the same traffic."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import sympy as sp

from budget import goals, programs
from budget.numbers import Numbers, Point
from budget.problem import Problem
from budget.result import Baseline
from budget.solve.convex import Solution
from laws.frontier import NoOptimumError
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
    return None if solution is None else goals.point_of(problem, solution.x)


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
    rest = others(problem, point)

    def excess(log_compute: float) -> float:
        best = problem.law.optimum(math.exp(log_compute), **rest)
        assert best.loss is not None
        return best.loss - target

    root = bisect(excess, math.log(1e7), _most_compute(problem, rest))
    if root is None:
        return None
    best = problem.law.optimum(math.exp(root), **rest)
    return replace(point, params=best.params, tokens=best.tokens)


def _most_compute(problem: Problem, rest: dict[str, float | None]) -> float:
    """ln of the most compute (at most 1e40 FLOP) for which the law has an optimum.

    Very deep repetition has none that can be computed: every pull has vanished.
    """
    for exponent in range(40, 7, -1):
        try:
            problem.law.optimum(10.0**exponent, **rest)
        except NoOptimumError:
            continue
        return exponent * math.log(10.0)
    return math.log(1e7)


def _equal_cost(problem: Problem, numbers: Numbers, point: Point) -> Point | None:
    """The size for which the equal-cost rule reaches the plan's quality, if there is one."""
    served = problem.spending.served_output + problem.spending.served_input
    if not numbers.at(point, [served])[0]:
        return None
    rules = goals.equal_cost_rules(problem)
    # With samples chosen freely the rule needs their number: the plan's is kept.
    amounts = dict(zip(rules, numbers.at(point, list(rules.values())), strict=True))
    plan = replace(point, tokens=amounts[D], rl_tokens=amounts.get(R, point.rl_tokens))
    target = numbers.measure(point)
    sign = -1.0 if problem.by_score else 1.0

    def excess(log_params: float) -> float:
        return sign * (numbers.measure(replace(plan, params=math.exp(log_params))) - target)

    root = bisect(excess, *(math.log(edge) for edge in programs.BOX[N]))
    return None if root is None else replace(plan, params=math.exp(root))


def _match(problem: Problem, point: Point) -> Point | None:
    match = problem.scenario.file.goal.match
    if match is None:
        return None
    return Point(
        match.params,
        match.tokens,
        match.rl_tokens or point.rl_tokens,
        match.sparsity or point.sparsity,
        match.samples or point.samples,
        match.bits or point.bits,
    )


def others(problem: Problem, point: Point) -> dict[str, float | None]:
    """Unique tokens and sparsity, as keywords of `Law` methods."""
    return {"unique_tokens": problem.scenario.file.data.unique_tokens, "sparsity": point.sparsity}


def bisect(falling: Callable[[float], float], low: float, high: float) -> float | None:
    """Root of a falling function between two points, or None if there is none."""
    from scipy.optimize import brentq

    if not falling(low) > 0 > falling(high):
        return None
    return float(brentq(falling, low, high, xtol=1e-13, rtol=1e-14))
