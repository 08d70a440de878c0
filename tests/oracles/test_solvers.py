"""Programmes and solvers against each other and against arbitrary precision.

Values and derivatives come from SymPy through lambdify in the planner; here from mpmath, on
formulas written out once more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from oracles.mathematics import LAWS, Additive, Kaplan
from oracles.planner import answered, examples, problem
from strategies import Case, cases, repeated, saturating

from budget import programs
from budget.goals import solve_program
from budget.solve import bounded, convex
from budget.solve.program import Program

FEASIBLE = 1e-9
"""Slack in log units that the branch and bound allows a point."""

ANY_CASE = (
    cases("min-cost", caps=True)
    | cases("max-quality", caps=True)
    | cases("min-cost", laws=("kaplan-2020",), rl=False, caps=True)
    | repeated()
    | saturating("min-cost")
    | saturating("max-quality")
)


def programme(case: Case) -> Program:
    stated = problem(case)
    if stated.budget is not None:
        return programs.max_quality(stated, stated.budget)
    return programs.min_cost(stated, stated.target)


def around(case: Case, random: np.random.Generator, width: float) -> np.ndarray:
    """Logarithms of a point near the anchor, as many as the programme has variables."""
    size = 3 if case.rl else 2
    return np.log(np.array(case.anchor[:size])) + random.uniform(-width, width, size)


# -- the formulas, a third time, for mpmath --------------------------------------------------


def mp_law(case: Case, N: mp.mpf, D: mp.mpf) -> mp.mpf:
    law = LAWS[case.law]
    if isinstance(law, Additive):
        return law.E + law.A * N**-law.alpha + law.B * D**-law.beta
    if isinstance(law, Kaplan):
        power = mp.mpf(law.alpha_params) / law.alpha_tokens
        return ((law.Nc / N) ** power + law.Dc / D) ** law.alpha_tokens

    def effective(x: mp.mpf, u: mp.mpf, half_life: float) -> mp.mpf:
        return x if x <= u else u + u * half_life * (1 - mp.exp(-(x / u - 1) / half_life))

    unique = min(D, mp.mpf(case.unique_tokens))
    # N*(D) from the closed form of the optimum: alpha A N^-alpha = beta B D^-beta.
    size = (law.beta * law.B * unique**-law.beta / (law.alpha * law.A)) ** (-1 / mp.mpf(law.alpha))
    return (
        law.E
        + law.A * effective(N, size, law.RN) ** -law.alpha
        + law.B * effective(D, unique, law.RD) ** -law.beta
    )


def mp_functions(case: Case) -> dict[str, Callable[..., mp.mpf]]:
    """Every function of the case's programme in ln N, ln D, ln R, by name."""
    dollars, E = case.dollars, LAWS[case.law].E

    def cost(n, d, r=0):
        N, D, R = mp.exp(n), mp.exp(d), mp.exp(r)
        spent = dollars.nd * dollars.research * N * D + dollars.n * N + dollars.fixed
        return mp.log(spent + dollars.nr * N * R)

    def reducible(n, d, r=0):
        loss = mp_law(case, mp.exp(n), mp.exp(d))
        if case.rl:
            loss += case.rl.constants["K"] * mp.exp(-case.rl.constants["gamma"] * r)
        return mp.log(loss - E)

    def score(n, d, r):
        c = case.rl.constants
        flop = mp.exp(n + r) * case.rl.flop_per_param_token
        base = c["A"] / (1 + mp.exp(c["k"] * (mp_law(case, mp.exp(n), mp.exp(d)) - c["L_half"])))
        return mp.log(base + (c["A"] - base) / (1 + (c["C_mid"] / flop) ** c["B"]))

    found: dict[str, Callable[..., mp.mpf]] = {}
    if case.kind == "min-cost":
        found["cost"] = cost
        found["quality"] = (
            (lambda *x: mp.log(case.score) - score(*x))
            if case.scored
            else (lambda *x: reducible(*x) - mp.log(mp.mpf(case.loss) - E))
        )
    else:
        found["quality"] = (lambda *x: -score(*x)) if case.scored else reducible
        found["budget"] = lambda *x: cost(*x) - mp.log(case.budget)
    amounts = {
        "active_params": lambda n, d, r=0: n,
        "pretraining_tokens": lambda n, d, r=0: d,
        "rl_tokens": lambda n, d, r=0: r,
        "tokens_per_param": lambda n, d, r=0: d - n,
    }

    def limit(name: str, sign: int, bound: float) -> Callable[..., mp.mpf]:
        return lambda *x: sign * (amounts[name](*x) - mp.log(bound))

    for key, bound in case.caps.items():
        side, _, name = key.partition("_")
        if name in amounts:
            found[f"constraints.{key}"] = limit(name, 1 if side == "max" else -1, bound)
    if "training_deadline" in case.caps:
        work = case.pretraining.flop_per_second * case.caps["training_chips"]
        found["constraints.training_deadline"] = lambda n, d, r=0: (
            n + d + mp.log(6 / mp.mpf(work) / case.caps["training_deadline"])
        )
    if case.data_limit is not None:
        found["data.unique_tokens"] = lambda n, d, r=0: d - mp.log(case.data_limit)
    return found


def agrees_at(case: Case, x: np.ndarray) -> None:
    """Values, gradients and Hessians of every function of the programme at one point."""
    program, functions = programme(case), mp_functions(case)
    assert {f.name for f in program.functions} == set(functions)
    assert program.functions[0].name == next(iter(functions))
    values, first, second = program.evaluate(x), program.first(x), program.second(x)
    axes = range(len(x))
    with mp.workdps(40):
        point = tuple(mp.mpf(float(v)) for v in x)
        for i, stated in enumerate(program.functions):
            function = functions[stated.name]
            assert values[i] == pytest.approx(float(function(*point)), rel=1e-10, abs=1e-10)
            slopes = [mp.diff(function, point, tuple(int(a == b) for b in axes)) for a in axes]
            assert first[i] == pytest.approx([float(v) for v in slopes], rel=1e-8, abs=1e-10)
            for a in axes:
                for b in range(a, len(x)):
                    order = tuple(int(a == c) + int(b == c) for c in axes)
                    curvature = float(mp.diff(function, point, order))
                    assert second[i, a, b] == second[i, b, a]
                    assert second[i, a, b] == pytest.approx(curvature, rel=1e-7, abs=1e-9)


@examples(40)
@given(case=ANY_CASE, seed=st.integers(0, 2**32 - 1))
def test_values_and_derivatives_are_those_of_arbitrary_precision(case: Case, seed: int) -> None:
    agrees_at(case, around(case, np.random.default_rng(seed), 2.0))


@pytest.mark.parametrize("params", [1e9, 1e12], ids=["small", "large"])
@pytest.mark.parametrize("tokens", [3e11, 8e12], ids=["fresh", "repeated"])
def test_repetition_law_is_right_in_all_its_regimes(params: float, tokens: float) -> None:
    """N below and above the size the unique tokens are worth, tokens fresh and repeated."""
    case = Case("min-cost", "muennighoff-2023", (1e10, 1e12, 0.0), loss=2.2, unique_tokens=1e12)
    agrees_at(case, np.log([params, tokens]))


@examples(60)
@given(case=ANY_CASE, seed=st.integers(0, 2**32 - 1))
def test_signs_are_those_of_numeric_gradients(case: Case, seed: int) -> None:
    """Decades away from the anchor too: the global solver asks for signs on the whole box."""
    stated = problem(case)
    random = np.random.default_rng(seed)
    target = sp.Symbol("_target", positive=True)
    measure = 0.5 if case.scored else float(LAWS[case.law].E) + 0.3
    cheapest = programs.min_cost(stated, target, {target: measure})
    best = programs.max_quality(stated, sp.Float(1e8))
    for each in (cheapest, best):
        lower, upper = np.array(each.lower), np.array(each.upper)
        points = np.concatenate(
            [
                [around(case, random, 3.0) for _ in range(20)],
                random.uniform(lower + 1, upper - 1, (40, each.size)),
            ]
        ).T
        for axis in range(each.size):
            step = np.zeros((each.size, 1))
            step[axis] = 1e-3
            rise = each.evaluate(points + step) - each.evaluate(points - step)
            for function, moved in zip(each.functions, rise, strict=True):
                sign = function.signs[axis]
                if sign == 0:
                    assert np.nanmax(np.abs(moved)) == 0.0, function.name
                else:
                    # Where a function has saturated, rounding is all that is left of it.
                    assert np.nanmin(sign * moved) >= -1e-12, function.name


@examples(20)
@given(case=cases("min-cost", caps=True) | cases("max-quality", caps=True))
def test_global_solver_agrees_with_the_convex_one_within_its_proof(case: Case) -> None:
    program = programme(case)
    exact = convex.solve(program)
    assert exact.certificate.certified
    # In three dimensions boxes multiply; a proof to 2 % is as good a test.
    tolerance = 1e-3 if program.size == 2 else 2e-2
    found = bounded.minimise(program, pivot=1, tolerance=tolerance)
    slack = FEASIBLE * (1 + exact.multipliers.sum())
    assert found.bound <= exact.objective + slack
    assert found.objective >= exact.objective - slack
    assert found.objective - exact.objective <= found.gap + slack
    assert found.gap <= tolerance
    assert program.evaluate(found.x)[1:].max(initial=-1.0) <= FEASIBLE


@examples(12)
@given(case=cases("min-cost", caps=True) | cases("max-quality", caps=True))
def test_no_size_held_elsewhere_is_better(case: Case) -> None:
    program = programme(case)
    best = convex.solve(program)
    n = float(best.x[0])
    for moved in (n - 0.3, n - 0.01, n + 0.01, n + 0.3):
        held = convex.solve(program, best.x, {0: moved})
        if held is not None:
            assert held.x[0] == moved
            assert held.objective >= best.objective - 1e-9


@examples(20)
@given(case=cases("min-cost", rl=False))
def test_elimination_of_tokens_is_the_closed_form(case: Case) -> None:
    law = LAWS[case.law]
    assert isinstance(law, Additive)
    N = case.anchor[0] * np.geomspace(0.1, 10, 41)
    values, points = bounded.eliminate(programme(case), 1, np.stack([np.log(N), np.log(N)]))
    left = case.loss - law.E - law.A * N**-law.alpha
    reach = left > 0
    D = (law.B / left[reach]) ** (1 / law.beta)
    assert np.exp(points[1][reach]) == pytest.approx(D, rel=1e-8)
    assert np.exp(values[reach]) == pytest.approx(case.dollars.total(N[reach], D), rel=1e-8)
    assert np.isinf(values[~reach]).all()


@examples(6)
@given(case=cases("min-cost", rl=True, caps=True))
def test_global_path_finds_the_convex_optimum(case: Case) -> None:
    """The path of goals that are not convex, on a problem whose answer is known."""
    program = programme(case)
    exact = convex.solve(program)
    found = solve_program(replace(program, convex=False), {})
    assert found.objective == pytest.approx(exact.objective, abs=1e-9)
    assert found.x == pytest.approx(exact.x, abs=1e-6)
    assert found.objective - found.certificate.gap <= exact.objective + 1e-9


def test_infeasible_is_proven_by_both_solvers() -> None:
    case = Case("min-cost", "besiroglu-2024", (1e10, 2e11, 0.0), loss=1.9)
    program = programme(replace(case, caps={"max_active_params": 1e9}))
    # 482.01 N^-0.3478 is 0.357 at 1e9 parameters, more than the 0.083 that the target leaves.
    assert 482.01 * 1e9**-0.3478 > 1.9 - 1.8172
    assert convex.solve(program) is None
    assert bounded.minimise(program, pivot=1, tolerance=1e-3) is None


def test_the_answer_is_the_programme_solved() -> None:
    """`answered` and the programmes of this file are the same problem."""
    case = Case("min-cost", "besiroglu-2024", (1e11, 2e12, 0.0), loss=1.97)
    answer, numbers = answered(case)
    assert math.log(numbers.cost(answer.point)) == pytest.approx(
        convex.solve(programme(case)).objective, abs=1e-12
    )


@pytest.mark.parametrize("excess", [-1e-6, -1e-8, 0.0, 1e-9, 1e-7, 1e-6, 1e-4])
def test_three_limits_that_almost_meet_in_one_point_are_solved(excess: float) -> None:
    """Two of them hold the optimum; the third is as close to it as rounding, or as a sweep gets."""
    caps = {"max_pretraining_tokens": 1e12, "max_tokens_per_param": 10.0}
    case = Case("max-quality", "besiroglu-2024", (1e11, 1e12, 0.0), caps=caps)
    case = replace(case, budget=case.dollars.total(1e11, 1e12) * (1 + excess))
    solution = convex.solve(programme(case))
    # Below, the ratio and the budget bind; above, the tokens and the budget.
    expected = [1e11 * (1 + max(excess, excess / 2)), 1e12 * (1 + min(excess / 2, 0.0))]
    assert np.exp(solution.x) == pytest.approx(expected, rel=1e-8)
    assert solution.certificate.certified
