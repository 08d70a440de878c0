"""From a problem to the point that answers its goal, with what determines it.

Each goal yields an `Answer`; everything reported is computed from it afterwards, the same
way for every goal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import sympy as sp

from budget import programs
from budget.elasticity import Conditions
from budget.errors import BudgetError
from budget.infeasible import InfeasibleError, explain, unreachable
from budget.numbers import Numbers, Point
from budget.problem import Problem
from budget.scenario.checks import QUALITY
from budget.solve import bounded
from budget.solve.convex import TOLERANCE, Certificate, Solution, describe, solve
from budget.solve.program import Program, Vector
from laws.symbols import D, R

GAP = 1e-3
"""Relative gap in cost (or quality) that the bounded global solver proves."""

EDGE = 1e-3
"""Distance [log units] from the search box below which an optimum is refused."""


class UnboundedError(BudgetError):
    """The optimum runs to the edge of the search box: nothing in the scenario stops it."""

    exit_code = 3


@dataclass(frozen=True)
class Answer:
    """The point, what determines it, and the proof."""

    point: Point
    conditions: Conditions
    certificate: Certificate
    quality_name: str


def answer(problem: Problem, numbers: Numbers) -> Answer:
    """Solve the scenario's goal. Raises `InfeasibleError` or `UnboundedError`."""
    kind = problem.scenario.file.goal.kind
    if kind == "fixed":
        return _given(problem, numbers, dict(problem.held), "evaluation of the given plan")
    if kind == "equal-cost":
        chosen = equal_cost_rules(problem)
        rules = {**problem.held, **{v: e.xreplace(problem.held) for v, e in chosen.items()}}
        return _given(problem, numbers, rules, "equal-cost rule, closed form")
    return _optimise(problem, numbers)


def equal_cost_rules(problem: Problem) -> dict[sp.Symbol, sp.Expr]:
    """D, and R unless it is given, for which each part costs what inference costs.

    All three costs are proportional to N, so neither depends on it.
    """
    spending = problem.spending
    inference = spending.total("cost", "inference")
    rules = {D: inference * D / spending.total("cost", "pretraining")}
    if R in problem.variables and R not in problem.held:
        rules[R] = inference * R / spending.total("cost", "rl")
    return {v: sp.cancel(e) for v, e in rules.items()}


def solve_program(program: Program, held: Mapping[int, float]) -> Solution | None:
    """Solve a programme of this problem to proof: convex, or globally with a bound.

    None if infeasible (proven for problems that are not convex).
    """
    if program.convex:
        return solve(program, held=held)
    local = _best_local(program, held)
    incumbent = local.x if local is not None else None
    found = bounded.minimise(program, pivot=1, tolerance=GAP, incumbent=incumbent, held=dict(held))
    if found is None:
        return None
    polished = local
    if local is None or found.objective < local.objective - 1e-12:
        polished = solve(program, found.x, held)
        if polished is None or polished.objective > found.objective + 1e-9:
            polished = describe(program, bounded.refine(program, 1, found.x, held), held)
    assert polished is not None
    certificate = replace(
        polished.certificate,
        method="branch and bound on a monotone problem, then Newton on the KKT system",
        gap=max(polished.objective - found.bound, 0.0),
        tolerance=GAP * 1.0001,
    )
    return replace(polished, certificate=certificate)


def _best_local(program: Program, held: Mapping[int, float]) -> Solution | None:
    """The best stationary point reached from the usual starts and from a coarse grid's best."""
    scouted = bounded.scout(program, 1, held)
    starts = [None] if scouted is None else [None, scouted]
    found = [s for s in (solve(program, start, held) for start in starts) if s is not None]
    if scouted is not None:
        as_it_is = describe(program, bounded.refine(program, 1, scouted, held), held)
        found += [] if as_it_is is None else [as_it_is]
    feasible = [s for s in found if s.certificate.primal_infeasibility <= TOLERANCE]
    return min(feasible, key=lambda s: s.objective, default=None)


def check_edges(problem: Problem, solution: Solution, held: Mapping[int, float]) -> None:
    """Refuse an optimum that only the search box stops."""
    for index, variable in enumerate(problem.variables):
        low, high = (np.log(edge) for edge in programs.BOX[variable])
        value = float(solution.x[index])
        if index not in held and (value - low < EDGE or high - value < EDGE):
            raise UnboundedError(_edge_message(variable, float(np.exp(value)), value - low < EDGE))


def _edge_message(variable: sp.Symbol, value: float, least: bool) -> str:
    if variable == R and least:
        return (
            "the optimum has no RL: under these constants it is not worth its cost. "
            "Use law.rl = 'none', or hold rl.tokens"
        )
    if variable == D and not least:
        return (
            "the target is reached only in the limit of ever more tokens "
            f"({value:.0e} and beyond): relax it a little further"
        )
    return (
        f"the optimum runs to {variable} = {value:.1e}, the edge of the search box: nothing in the "
        "scenario holds it back. Add a constraint or check the prices"
    )


def held_values(problem: Problem, numbers: Numbers) -> dict[int, float]:
    """Index and logarithm of every variable that the scenario gives."""
    return {
        index: float(np.log(numbers.evaluate(problem.held[v])))
        for index, v in enumerate(problem.variables)
        if v in problem.held
    }


def point_of(problem: Problem, x: Vector) -> Point:
    """A point from logarithms in the order of the problem's variables."""
    return Point.at(problem.variables, np.exp(x))


def _given(
    problem: Problem, numbers: Numbers, rules: dict[sp.Symbol, sp.Expr], method: str
) -> Answer:
    values = [numbers.evaluate(rules[v]) for v in problem.variables]
    point = Point.at(problem.variables, values)
    certificate = Certificate(method, problem.log_convex, 0.0, 0.0, 0.0, 0.0)
    return Answer(point, Conditions(rules), certificate, "")


def _optimise(problem: Problem, numbers: Numbers) -> Answer:
    goal = problem.scenario.file.goal
    if goal.kind == "min-cost":
        assert problem.target is not None
        unreachable(problem, numbers)
        program = programs.min_cost(problem, problem.target)
        name = next(f"goal.{q}" for q in QUALITY if getattr(goal, q) is not None)
    else:
        assert problem.budget is not None
        program = programs.max_quality(problem, problem.budget)
        name = "goal.budget"
    held = held_values(problem, numbers)
    solution = solve_program(program, held)
    if solution is None:
        raise InfeasibleError(explain(problem, numbers, program, held, name))
    check_edges(problem, solution, held)
    conditions = Conditions(dict(problem.held), program, solution.multipliers)
    return Answer(point_of(problem, solution.x), conditions, solution.certificate, name)
