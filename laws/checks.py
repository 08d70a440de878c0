"""Property-based checks of laws, ours and users': `budget check`.

Each check is a sentence that must hold at every point inside the range of a law's runs; Hypothesis
looks for a counterexample and shrinks it. Derivatives are held against 50-digit differences of the
formula itself, not against other code of this library.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import sympy as sp
from hypothesis import HealthCheck, Verbosity, given, seed, settings
from hypothesis import strategies as st

from laws.law import Law
from laws.properties import CHECKS, BrokenError, NotApplicableError, Test, span


@dataclass(frozen=True)
class Result:
    """Outcome of one check: passed, failed with a counterexample, or not applicable."""

    law: str
    check: str
    passed: bool | None
    detail: str


def check(
    law: Law, examples: int = 100, random_seed: int = 0, only: Collection[str] = ()
) -> list[Result]:
    """Run every check on a law, or those named in `only`, `examples` points each."""
    chosen = {name: test for name, test in CHECKS.items() if name in only or not only}
    return [_run(law, name, test, examples, random_seed) for name, test in chosen.items()]


def _run(law: Law, name: str, test: Callable[[Law], Test], examples: int, number: int) -> Result:
    try:
        body = test(law)
    except NotApplicableError as reason:
        return Result(law.name, name, None, str(reason))
    except BrokenError as error:
        return Result(law.name, name, False, str(error))
    if body is None:
        return Result(law.name, name, True, "")

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        verbosity=Verbosity.quiet,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(_points(law))
    def everywhere(point: dict[sp.Symbol, float]) -> None:
        body(point)

    try:
        everywhere()
    except BrokenError as error:
        return Result(law.name, name, False, str(error))
    return Result(law.name, name, True, f"{examples} points")


def _points(law: Law) -> st.SearchStrategy[dict[sp.Symbol, float]]:
    """Points inside the range of the runs, three digits each, log-uniform."""

    def value(variable: sp.Symbol) -> st.SearchStrategy[float]:
        low, high = span(law, variable)
        return st.integers(0, 1000).map(
            lambda share: float(f"{low * (high / low) ** (share / 1000):.3g}")
        )

    return st.fixed_dictionaries({v: value(v) for v in law.form.variables})
