"""First-order conditions, the symmetries of the problem, and sums that must come out."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.mathematics import ADDITIVE, LAWS, Additive, least_cost
from oracles.planner import answered, examples, optimum, planned, values
from strategies import Case, Hardware, Traffic, cases, decades

SECONDS_PER_HOUR = 3600.0


def law_of(case: Case) -> Additive:
    law = LAWS[case.law]
    assert isinstance(law, Additive)
    return law


def priced(case: Case, factor: float) -> Case:
    """Every price of the scenario multiplied."""

    def dearer(stage: Hardware) -> Hardware:
        return replace(stage, usd_per_hour=stage.usd_per_hour * factor)

    rl = case.rl and replace(
        case.rl, generation=dearer(case.rl.generation), training=dearer(case.rl.training)
    )
    return replace(
        case,
        pretraining=dearer(case.pretraining),
        decode=dearer(case.decode),
        prefill=dearer(case.prefill),
        rl=rl,
        data_cost=None if case.data_cost is None else case.data_cost * factor,
        staff_cost=None if case.staff_cost is None else case.staff_cost * factor,
        budget=None if case.budget is None else case.budget * factor,
    )


@examples(60)
@given(case=cases("min-cost"))
def test_plan_solves_the_first_order_conditions_as_one_scalar_root(case: Case) -> None:
    """A root, unlike a minimum, fixes N, D and R themselves to nine digits."""
    constants = case.rl.constants if case.rl else {}
    best = least_cost(law_of(case), case.dollars, case.loss, **constants)
    assert optimum(case) == pytest.approx((best.N, best.D, best.R), rel=1e-9)


@examples(40)
@given(case=cases("min-cost"))
def test_pulls_are_in_proportion_to_dollars(case: Case) -> None:
    """alpha A N^-alpha : beta B D^-beta : gamma K R^-gamma = C_pt + C_rl + C_inf : C_pt : C_rl.

    Dollars are the planner's own lines; research multiplies what a token of pretraining costs.
    """
    answer, numbers = answered(case)
    N, D, R = values(answer.point)
    spent = dict.fromkeys(("pretraining", "rl", "inference"), 0.0)
    for line in numbers.lines(answer.point):
        if line.group in spent:
            spent[line.group] += line.cost_usd
        elif line.name == "research and failed runs":
            spent["pretraining"] += line.cost_usd
    pull_params, pull_tokens = law_of(case).pulls(N, D)
    assert pull_params / pull_tokens == pytest.approx(
        sum(spent.values()) / spent["pretraining"], rel=1e-7
    )
    if case.rl:
        pull_rl = case.rl.constants["gamma"] * case.rl.added_loss(R)
        assert pull_rl / pull_tokens == pytest.approx(spent["rl"] / spent["pretraining"], rel=1e-7)


@examples(40)
@given(case=cases("min-cost", rl=False, plain=True))
def test_sardana_condition_at_equal_prices(case: Case) -> None:
    N, D, _ = optimum(case)
    pull_params, pull_tokens = law_of(case).pulls(N, D)
    assert pull_params / pull_tokens == pytest.approx(1 + case.traffic.output / (3 * D), rel=1e-7)


@examples(40)
@given(law=st.sampled_from(ADDITIVE), compute=decades(18, 27))
def test_zero_traffic_is_the_compute_optimum(law: str, compute: float) -> None:
    N, D = LAWS[law].optimum(compute)
    case = Case("min-cost", law, (N, D, 0.0), loss=float(LAWS[law].loss(N, D)))
    assert optimum(case)[:2] == pytest.approx((N, D), rel=1e-9)
    spend = compute * case.pretraining.usd_per_flop
    best = Case("max-quality", law, (N, D, 0.0), budget=spend)
    assert optimum(best)[:2] == pytest.approx((N, D), rel=1e-9)


@examples(25)
@given(case=cases("min-cost", rl=False, plain=True))
def test_implied_served_tokens_are_the_traffic_at_equal_prices(case: Case) -> None:
    plan = planned(case).plan
    tokens = plan.pretraining.tokens
    assert plan.implied_served_tokens == pytest.approx(
        case.traffic.output, rel=1e-7, abs=1e-7 * tokens
    )


@examples(25)
@given(law=st.sampled_from(ADDITIVE), params=decades(8, 12), tokens_per_param=decades(0, 4))
def test_implied_served_tokens_are_undone_by_planning_with_them(
    law: str, params: float, tokens_per_param: float
) -> None:
    anchor = (params, params * tokens_per_param, 0.0)
    implied = planned(Case("fixed", law, anchor)).plan.implied_served_tokens
    pull_params, pull_tokens = LAWS[law].pulls(*anchor[:2])
    assert implied == pytest.approx(
        3 * anchor[1] * (pull_params / pull_tokens - 1), rel=1e-9, abs=1e-9 * anchor[1]
    )
    if implied < 0:
        return
    back = Case(
        "min-cost",
        law,
        anchor,
        loss=float(LAWS[law].loss(*anchor[:2])),
        match=True,
        traffic=Traffic(implied),
    )
    assert optimum(back)[:2] == pytest.approx(anchor[:2], rel=1e-7)


@examples(30)
@given(case=cases("min-cost", caps=True), seed=st.integers(0, 2**32 - 1))
def test_no_feasible_neighbour_is_cheaper(case: Case, seed: int) -> None:
    law = law_of(case)
    N, D, R = optimum(case)
    least = case.dollars.total(N, D, R)
    random = np.random.default_rng(seed)
    found = 0
    for _ in range(2000):
        step = 10.0 ** random.uniform(-4, 0.5)
        n, r = N * math.exp(step * random.normal()), R * math.exp(step * random.normal())
        rl = float(case.rl.added_loss(r)) if case.rl else 0.0
        left = case.loss - law.E - law.A * n**-law.alpha - rl
        if left <= 0:
            continue
        # On the target, or better than it, so that a lower cap on tokens can be met.
        d = (law.B / left) ** (1 / law.beta) * math.exp(random.choice([0.0, abs(random.normal())]))
        if min(case.slacks(n, d, r or 1.0).values(), default=0.0) < 0:
            continue
        assert case.dollars.total(n, d, r) >= least * (1 - 1e-9)
        found += 1
        if found == 50:
            return


@examples(15)
@given(case=cases("min-cost"))
def test_size_falls_and_tokens_rise_with_traffic(case: Case) -> None:
    totals = [0.0, 1e8, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e17]
    plans = [
        optimum(replace(case, traffic=replace(case.traffic, output=total))) for total in totals
    ]
    sizes, tokens, rl_tokens = np.array(plans).T
    assert (np.diff(sizes) <= 1e-9 * sizes[1:]).all()
    assert (np.diff(tokens) >= -1e-9 * tokens[1:]).all()
    assert (np.diff(rl_tokens) >= -1e-9 * rl_tokens[1:]).all()
    assert sizes[-1] < sizes[0]
    assert tokens[-1] > tokens[0]


@examples(20)
@given(case=cases("min-cost", caps=True) | cases("max-quality", caps=True), by=decades(-3, 3))
def test_scaling_all_prices_scales_the_cost_and_nothing_else(case: Case, by: float) -> None:
    before, numbers = answered(case)
    after, dearer = answered(priced(case, by))
    assert values(after.point) == pytest.approx(values(before.point), rel=1e-8)
    assert dearer.cost(after.point) == pytest.approx(by * numbers.cost(before.point), rel=1e-9)


@examples(20)
@given(case=cases("min-cost"), by=decades(-3, 3))
def test_only_rate_times_lifetime_counts(case: Case, by: float) -> None:
    as_totals = replace(case, traffic=replace(case.traffic, as_rates=False))
    as_rates = replace(case, traffic=replace(case.traffic, as_rates=True))
    longer = replace(
        as_rates, traffic=replace(as_rates.traffic, lifetime=case.traffic.lifetime * by)
    )
    expected = optimum(as_totals)
    assert optimum(as_rates) == pytest.approx(expected, rel=1e-9)
    assert optimum(longer) == pytest.approx(expected, rel=1e-9)


@examples(10)
@given(case=cases("min-cost", caps=True) | cases("max-quality", caps=True))
def test_whole_plan_adds_up_and_restates_itself(case: Case) -> None:
    plan = planned(case).plan
    assert plan.status == "optimal"
    law, dollars = law_of(case), case.dollars
    N, D, R = plan.model.active_params, plan.pretraining.tokens, plan.rl.tokens
    t, rl = case.traffic, case.rl
    parts = [plan.pretraining, plan.rl, plan.inference]
    other = sum(plan.other_costs.values())
    total = plan.total_cost_usd
    assert sum(p.cost_usd for p in parts) + other == pytest.approx(total, rel=1e-12)
    assert sum(p.share for p in parts) + other / total == pytest.approx(1.0, rel=1e-12)
    assert total == pytest.approx(dollars.total(N, D, R), rel=1e-12)
    research = (dollars.research - 1) * dollars.nd * N * D
    assert other == pytest.approx(dollars.fixed + research, rel=1e-9)
    assert plan.pretraining.flop == pytest.approx(6 * N * D, rel=1e-12)
    assert plan.pretraining.chip_hours == pytest.approx(
        6 * N * D / case.pretraining.flop_per_second / SECONDS_PER_HOUR, rel=1e-12
    )
    assert plan.rl.flop == pytest.approx(rl.flop_per_param_token * N * R if rl else 0.0, rel=1e-12)
    uncached = (t.input or 0.0) * (1 - (t.cached_share or 0.0))
    assert plan.inference.flop == pytest.approx(2 * N * (t.output + uncached), rel=1e-12)
    reserved = (
        t.output / case.decode.flop_per_second + uncached / case.prefill.flop_per_second
    ) * (t.peak_to_mean * t.redundancy)
    assert plan.inference.chip_hours == pytest.approx(
        2 * N * reserved / SECONDS_PER_HOUR, rel=1e-12
    )
    over = plan.overtraining
    best_params, best_tokens = law.optimum(6 * N * D)
    assert over.tokens_per_param == pytest.approx(D / N, rel=1e-12)
    assert over.overtraining_factor == pytest.approx(D / law.optimal_tokens(N), rel=1e-9)
    assert over.vs_20_tokens_per_param == pytest.approx(D / N / 20, rel=1e-12)
    assert over.vs_same_compute == pytest.approx(D / N / (best_tokens / best_params), rel=1e-9)
    reference = plan.compute_optimal_reference
    assert (reference.active_params, reference.tokens) == pytest.approx(
        (best_params, best_tokens), rel=1e-9
    )
    assert reference.loss == pytest.approx(law.loss(best_params, best_tokens), rel=1e-12)


@examples(20)
@given(case=cases("min-cost", rl=False))
def test_near_optimal_sizes_cost_one_per_cent_more(case: Case) -> None:
    plan = planned(case).plan
    law = law_of(case)
    low, high = plan.near_optimal["active_params"]
    assert low < plan.model.active_params < high
    for N in (low, high):
        left = case.loss - law.E - law.A * N**-law.alpha
        D = (law.B / left) ** (1 / law.beta)
        cost = case.dollars.total(N, D)
        # Fixed costs may outweigh the choice of size: the interval then ends where it is cut off.
        ends = abs(math.log(N / plan.model.active_params)) > 7.99
        assert cost == pytest.approx(1.01 * plan.total_cost_usd, rel=1e-7) or (
            ends and cost <= 1.01 * plan.total_cost_usd
        )


@examples(15)
@given(case=cases("min-cost", rl=False))
def test_baselines_have_the_same_loss_and_their_own_cost(case: Case) -> None:
    plan = planned(case).plan
    law = law_of(case)
    for baseline in plan.baselines:
        N, D = baseline.active_params, baseline.tokens
        assert law.loss(N, D) == pytest.approx(case.loss, rel=1e-9)
        assert baseline.loss == pytest.approx(case.loss, rel=1e-9)
        assert baseline.total_cost_usd == pytest.approx(case.dollars.total(N, D), rel=1e-9)
        assert baseline.extra_cost_usd == pytest.approx(
            case.dollars.total(N, D) - plan.total_cost_usd, abs=1e-8 * plan.total_cost_usd
        )
        if baseline.name == "chinchilla":
            assert law.optimal_tokens(N) == pytest.approx(D, rel=1e-8)
        elif baseline.name == "equal-cost":
            assert case.dollars.nd * D == pytest.approx(case.dollars.n, rel=1e-9)
        else:
            assert baseline.name == "match"
            assert baseline.active_params == pytest.approx(case.anchor[0], rel=1e-12)
            assert baseline.tokens == pytest.approx(case.anchor[1], rel=1e-12)


@examples(15)
@given(case=cases("min-cost"))
def test_cost_is_homogeneous_in_prices(case: Case) -> None:
    """Euler: elasticities in all prices sum to 1 for the cost and to 0 for the sizes."""
    plan = planned(case).plan
    prices = ("chip_price", "data.cost", "staff_cost")
    for output, degree in (
        ("total_cost_usd", 1.0),
        ("model.active_params", 0.0),
        ("pretraining.tokens", 0.0),
    ):
        row = plan.elasticities[output]
        total = sum(v for key, v in row.items() if key.endswith(prices))
        assert total == pytest.approx(degree, abs=1e-8)
