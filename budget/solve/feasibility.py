"""What binds when nothing is feasible, and the smallest relaxation of each constraint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from budget.solve.convex import solve
from budget.solve.program import Program, Vector


@dataclass(frozen=True)
class Relaxation:
    """`amount` [log units] by which constraint `name` alone must give; None if it cannot help."""

    name: str
    amount: float | None


@dataclass(frozen=True)
class Diagnosis:
    """Either a feasible point (the solver had merely missed it) or what to relax."""

    feasible: Vector | None
    relaxations: tuple[Relaxation, ...]


def diagnose(program: Program, held: Mapping[int, float] | None = None) -> Diagnosis:
    """Minimise each constraint subject to all the others (convex, hence global)."""
    relaxations = []
    for index, constraint in enumerate(program.constraints):
        others = (*program.constraints[:index], *program.constraints[index + 1 :])
        relaxed = replace(program, objective=constraint, constraints=others)
        solution = solve(relaxed, held=held)
        if solution is not None and solution.objective <= 0.0:
            return Diagnosis(solution.x, ())
        amount = None if solution is None else solution.objective
        relaxations.append(Relaxation(constraint.name, amount))
    return Diagnosis(None, tuple(relaxations))
