"""Speed of planning, measured in one run: `make bench`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from budget import programs
from budget.problem import build
from budget.scenario import load
from budget.solve.convex import solve

BUDGET = Path(sys.executable).parent / "budget"


def best_of(count: int, *command: str) -> float:
    times = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(count):
            start = time.perf_counter()
            subprocess.run([str(BUDGET), *command], cwd=folder, check=True, capture_output=True)
            times.append(time.perf_counter() - start)
    return min(times)


def per_solve(repeats: int = 200) -> tuple[float, float]:
    """Seconds of one certified solve, and of SLSQP with the same analytic gradients alone."""
    problem = build(load("min-cost"))
    assert problem.target is not None
    program = programs.min_cost(problem, problem.target)
    solution = solve(program)
    assert solution is not None and solution.certificate.certified
    start = time.perf_counter()
    for _ in range(repeats):
        solve(program)
    certified = (time.perf_counter() - start) / repeats
    middle = np.array(
        [0.45 * a + 0.55 * b for a, b in zip(program.lower, program.upper, strict=True)]
    )
    start = time.perf_counter()
    for _ in range(repeats):
        minimize(
            lambda x: float(program.evaluate(x)[0]),
            middle,
            jac=lambda x: program.first(x)[0],
            constraints={
                "type": "ineq",
                "fun": lambda x: -program.evaluate(x)[1:],
                "jac": lambda x: -program.first(x)[1:],
            },
            method="SLSQP",
            options={"ftol": 1e-12},
        )
    return certified, (time.perf_counter() - start) / repeats


def main() -> None:
    certified, plain = per_solve()
    rows = [
        ("budget --help, best of 5", best_of(5, "--help"), 0.2),
        ("budget plan gpt5, cold, report and figures, best of 5", best_of(5, "plan", "gpt5"), 2.0),
        (
            "budget plan gpt5 -f json, cold, best of 5",
            best_of(5, "plan", "gpt5", "-f", "json"),
            2.0,
        ),
        ("one certified solve", certified, 0.005),
    ]
    print(f"{'what':58} {'seconds':>9} {'goal':>7} {'ratio':>6}")
    for name, seconds, goal in rows:
        print(f"{name:58} {seconds:9.4f} {goal:7.3f} {seconds / goal:6.2f}")
    print(f"certified solve over plain SLSQP with analytic gradients: {certified / plain:.2f}x")


if __name__ == "__main__":
    main()
