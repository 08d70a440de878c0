"""Infeasible scenarios: which constraints bind, and the smallest relaxation of each."""

from __future__ import annotations

import math
from collections.abc import Mapping

from budget import programs, text
from budget.errors import BudgetError
from budget.numbers import Numbers
from budget.problem import Problem
from budget.result import Binding
from budget.scenario.checks import QUALITY
from budget.solve.feasibility import Relaxation, diagnose
from budget.solve.program import Program


class InfeasibleError(BudgetError):
    """No plan satisfies the scenario. `binding` says why and what would help."""

    exit_code = 3

    def __init__(self, binding: tuple[Binding, ...]) -> None:
        self.binding = binding
        lines = ["infeasible: no plan satisfies all constraints"]
        lines += [f"  {b.message}" for b in binding]
        super().__init__("\n".join(lines))


def unreachable(problem: Problem, numbers: Numbers) -> None:
    """Raise `InfeasibleError` for a target that no spend reaches."""
    goal = problem.scenario.file.goal
    assert problem.target is not None
    target = numbers.evaluate(problem.target)
    if problem.by_score:
        ceiling = numbers.evaluate(problem.inputs.symbols["rl.A"])
        if target >= ceiling:
            message = (
                f"goal.score = {target:g} is {target - ceiling:.4g} above what any spend can "
                f"reach: the ceiling rl.A is {ceiling:g}"
            )
            raise InfeasibleError((Binding("goal.score", target, "1", ceiling, message),))
        return
    floor = numbers.irreducible()
    if not math.isfinite(target):
        message = f"goal.score = {goal.score:g} is beyond what law.downstream can give at any loss"
        raise InfeasibleError((Binding("goal.score", goal.score or 0.0, "score", None, message),))
    if target <= floor:
        key = next(f"goal.{q}" for q in QUALITY if getattr(goal, q) is not None)
        name = key if goal.score is None else f"the loss that {key} = {goal.score:g} needs"
        message = (
            f"{name} = {target:.6g} nat/token is {floor - target:.4g} below the irreducible loss "
            f"{floor:.6g} of {problem.law.name}: no spend reaches it; ask for more than {floor:.6g}"
            if target < floor
            else f"{name} equals the irreducible loss {floor:.6g} of {problem.law.name}, "
            "which is 0 below it but is approached only at infinite spend"
        )
        raise InfeasibleError((Binding(key, target, "nat/token", floor, message),))


def explain(
    problem: Problem, numbers: Numbers, program: Program, held: Mapping[int, float], name: str
) -> tuple[Binding, ...]:
    """Diagnose an infeasible programme, in the scenario's keys and units."""
    diagnosis = diagnose(program, held)
    found = [_binding(problem, numbers, r, name) for r in diagnosis.relaxations]
    return tuple(sorted(found, key=lambda b: b.relaxed_to is None))


def _binding(problem: Problem, numbers: Numbers, relaxation: Relaxation, name: str) -> Binding:
    key, bound, unit, factor_sense, offset = _bound(problem, numbers, relaxation.name, name)
    if relaxation.amount is None:
        message = f"{key} = {text.input_value(bound, unit)}: relaxing it alone does not help"
        return Binding(key, bound, unit, None, message)
    relaxed = offset + (bound - offset) * math.exp(factor_sense * relaxation.amount)
    word = "raise" if relaxed > bound else "lower"
    message = (
        f"{key} = {text.input_value(bound, unit)}: {word} it to {text.input_value(relaxed, unit)}"
    )
    return Binding(key, bound, unit, relaxed, message)


def _bound(
    problem: Problem, numbers: Numbers, constraint: str, name: str
) -> tuple[str, float, str, int, float]:
    """Key, value and unit of a bound, direction in which it relaxes, and its zero."""
    if constraint == programs.BUDGET:
        assert problem.budget is not None
        return "goal.budget", numbers.evaluate(problem.budget), "USD", 1, 0.0
    if constraint == programs.QUALITY:
        assert problem.target is not None
        target = numbers.evaluate(problem.target)
        if problem.by_score:
            return name, target, "score", -1, 0.0
        return name, target, "nat/token", 1, numbers.irreducible()
    limit = next(li for li in problem.limits if li.name == constraint)
    return limit.name, numbers.evaluate(limit.bound), limit.unit, limit.sense, 0.0
