"""Plans against cvxpy: the same problems written as geometric programmes, solved by CLARABEL.

Costs (or losses) agree to 1e-6. N, D and R agree to 1e-3 only, because optima are flat: an
interior point method that stops at a relative gap of 1e-9 has fixed N to its square root.
"""

from __future__ import annotations

import math

import cvxpy as cp
import pytest
from hypothesis import given
from oracles.mathematics import LAWS, Additive
from oracles.planner import answered, examples, values
from strategies import Case, cases

pytestmark = pytest.mark.filterwarnings(
    "ignore:Solution may be inaccurate:UserWarning",
)

COST, PLAN = 1e-6, 1e-3

FEASIBLE = 1.01e-8
"""Excess over a limit that the planner certifies as none, in relative terms."""

COUNTS = 1e-4
"""Elasticity below which a lever does nothing that an interior point could see."""


def programme(case: Case) -> tuple[float, tuple[float, float, float]]:
    """Least cost, or least reducible loss, and the point; all scaled by the anchor."""
    N0, D0, R0 = case.anchor
    law, dollars = LAWS[case.law], case.dollars
    n, d, r = (cp.Variable(pos=True) for _ in range(3))
    unit = dollars.total(N0, D0, R0 if case.rl else 0.0)
    terms = [dollars.nd * dollars.research * N0 * D0 * n * d]
    if case.rl:
        terms.append(dollars.nr * N0 * R0 * n * r)
    if dollars.n:
        terms.append(dollars.n * N0 * n)
    if dollars.fixed:
        terms.append(dollars.fixed)
    cost = sum(t / unit for t in terms)
    if isinstance(law, Additive):
        loss = law.A * N0**-law.alpha * n**-law.alpha + law.B * D0**-law.beta * d**-law.beta
    else:
        power = law.alpha_params / law.alpha_tokens
        loss = ((law.Nc / N0) ** power * n**-power + law.Dc / D0 / d) ** law.alpha_tokens
    if case.rl:
        K, gamma = case.rl.constants["K"], case.rl.constants["gamma"]
        loss = loss + K * R0**-gamma * r**-gamma
    scale = float(case.quality_loss(*case.anchor)) - law.E
    limits = []
    amounts = {
        "active_params": N0 * n,
        "pretraining_tokens": D0 * d,
        "rl_tokens": R0 * r,
        "tokens_per_param": D0 / N0 * d / n,
    }
    for key, bound in case.caps.items():
        side, _, name = key.partition("_")
        if name in amounts:
            amount = amounts[name] / bound
            limits.append(amount <= 1 if side == "max" else amount >= 1)
    if "training_deadline" in case.caps:
        rate = case.pretraining.flop_per_second * case.caps["training_chips"]
        limits.append(6 * N0 * D0 / rate / case.caps["training_deadline"] * n * d <= 1)
    if case.data_limit is not None:
        limits.append(D0 * d / case.data_limit <= 1)
    if case.kind == "min-cost":
        problem = cp.Problem(cp.Minimize(cost), [loss / (case.loss - law.E) <= 1, *limits])
    else:
        problem = cp.Problem(cp.Minimize(loss / scale), [cost * (unit / case.budget) <= 1, *limits])
    exact = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
    problem.solve(gp=True, solver=cp.CLARABEL, **exact)
    point = (N0 * n.value, D0 * d.value, R0 * r.value if case.rl else 0.0)
    return float(problem.value) * (unit if case.kind == "min-cost" else scale), point


def agrees(case: Case) -> None:
    best, point = programme(case)
    answer, numbers = answered(case)
    assert answer.certificate.certified
    assert answer.certificate.convex
    found = values(answer.point)
    cost, loss = case.dollars.total(*found), float(case.quality_loss(*found))
    assert numbers.cost(answer.point) == pytest.approx(cost, rel=1e-12)
    assert numbers.loss(answer.point) == pytest.approx(loss, rel=1e-12)
    assert min(case.slacks(*found).values(), default=0.0) >= -FEASIBLE
    objective = cost if case.kind == "min-cost" else loss - LAWS[case.law].E
    assert objective * math.exp(-answer.certificate.gap) <= best * (1 + COST)
    assert objective == pytest.approx(best, rel=COST)
    if case.kind == "min-cost":
        assert loss <= case.loss * (1 + 1e-10)
    else:
        assert cost <= case.budget * (1 + FEASIBLE)
    for mine, theirs, felt in zip(found, point, strength(case, found), strict=True):
        if felt > COUNTS:
            assert mine == pytest.approx(theirs, rel=PLAN)


def strength(case: Case, point: tuple[float, float, float]) -> tuple[float, ...]:
    """Elasticity of cost or of reducible loss in N, D, R, whichever is smaller."""
    E = LAWS[case.law].E

    def logs(i: int, step: float) -> tuple[float, float]:
        moved = [v * math.exp(step) if i == j else v for j, v in enumerate(point)]
        return math.log(case.dollars.total(*moved)), math.log(case.quality_loss(*moved) - E)

    def slope(i: int) -> float:
        pairs = zip(logs(i, 1e-3), logs(i, -1e-3), strict=True)
        return min(abs(up - down) / 2e-3 for up, down in pairs)

    return tuple(slope(i) for i in range(3))


@examples(50)
@given(case=cases("min-cost", rl=False))
def test_min_cost_is_the_geometric_programme(case: Case) -> None:
    agrees(case)


@examples(40)
@given(case=cases("min-cost", rl=True))
def test_min_cost_with_rl_is_the_geometric_programme(case: Case) -> None:
    agrees(case)


@examples(60)
@given(case=cases("min-cost", caps=True))
def test_min_cost_within_caps_is_the_geometric_programme(case: Case) -> None:
    agrees(case)


@examples(40)
@given(case=cases("max-quality"))
def test_max_quality_is_the_geometric_programme(case: Case) -> None:
    agrees(case)


@examples(60)
@given(case=cases("max-quality", caps=True))
def test_max_quality_within_caps_is_the_geometric_programme(case: Case) -> None:
    agrees(case)


@examples(20)
@given(case=cases("min-cost", laws=("kaplan-2020",), rl=False, caps=True))
def test_kaplan_min_cost_is_a_generalised_geometric_programme(case: Case) -> None:
    agrees(case)


@examples(20)
@given(case=cases("max-quality", laws=("kaplan-2020",), rl=False, caps=True))
def test_kaplan_max_quality_is_a_generalised_geometric_programme(case: Case) -> None:
    agrees(case)
