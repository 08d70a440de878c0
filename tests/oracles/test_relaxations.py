"""What an infeasible scenario is told to relax, against the inverse of law and cost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.mathematics import LAWS
from oracles.planner import examples, planned
from strategies import Case, cases


def relaxations(case: Case) -> dict[str, float | None]:
    plan = planned(case).plan
    assert plan.status == "infeasible"
    return {b.name: b.relaxed_to for b in plan.binding}


@examples(12)
@given(case=cases("min-cost", rl=False), share=st.floats(0.02, 0.9))
def test_a_loss_out_of_reach_of_both_caps(case: Case, share: float) -> None:
    """Each bound alone moves to where the loss at the caps is the target, or cannot help."""
    law = LAWS[case.law]
    N, D, _ = case.anchor
    target = law.E + share * (case.loss - law.E)
    capped = replace(
        case, loss=target, match=False, caps={"max_active_params": N, "max_pretraining_tokens": D}
    )
    left = {
        "active_params": (target - law.E - law.B * D**-law.beta, law.A, law.alpha),
        "pretraining_tokens": (target - law.E - law.A * N**-law.alpha, law.B, law.beta),
    }
    found = relaxations(capped)
    assert found.pop("goal.loss") == pytest.approx(case.loss, rel=1e-8)
    for name, (rest, factor, exponent) in left.items():
        relaxed = found.pop(f"constraints.max_{name}")
        enough = (rest / factor) ** (-1 / exponent) if rest > 0 else float("inf")
        if enough < 1e17:
            assert relaxed == pytest.approx(enough, rel=1e-6)
        elif enough > 1e22:
            assert relaxed is None
    assert not found


@examples(12)
@given(case=cases("max-quality", rl=False), share=st.floats(0.1, 0.95))
def test_a_budget_below_the_smallest_plan(case: Case, share: float) -> None:
    N, D, _ = case.anchor
    dollars = replace(case, data_cost=None, staff_cost=None).dollars
    least = dollars.total(N, D)
    floored = replace(
        case,
        budget=share * least,
        data_cost=None,
        staff_cost=None,
        caps={"min_active_params": N, "min_pretraining_tokens": D},
    )
    found = relaxations(floored)
    assert found.pop("goal.budget") == pytest.approx(least, rel=1e-8)
    assert found.pop("constraints.min_active_params") == pytest.approx(share * N, rel=1e-6)
    tokens = found.pop("constraints.min_pretraining_tokens")
    fewer = (share * least - dollars.n * N) / (dollars.nd * dollars.research * N)
    if fewer > 1e4:
        assert tokens == pytest.approx(fewer, rel=1e-5)
    elif fewer <= 0:
        assert tokens is None
    assert not found
