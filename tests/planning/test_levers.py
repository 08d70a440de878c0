"""Levers beside N and D: sparsity, samples, repetition; a downstream score as the goal."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

from budget.errors import ScenarioError
from budget.planning import solve_scenario
from budget.scenario import load

SPARSE = {
    "law.pretraining": "abnar-2025",
    "goal.match": {"params": "30B", "tokens": "2T", "sparsity": 4},
}
SAMPLED = {
    "goal.match": {"params": "100B", "tokens": "2T", "samples": 1},
    "inference.samples": {"G": 0.2, "gamma": 0.5},
}
SIGMOID = {"kind": "sigmoid", "floor": 0.25, "ceiling": 0.9, "slope": 12, "L_half": 2.0}
ERROR = {"kind": "error", "epsilon": 0.9, "k_e": 2.0, "gamma": 0.7}


def solve(*settings: dict[str, object], **more: object):
    changes = [pair for s in (*settings, more) for pair in s.items()]
    return solve_scenario(load("min-cost", changes))


def abnar(n: float, d: float, s: float) -> float:
    """Abnar et al. 2025, Eq. 4, in the paper's own variables: total size, inactive share."""
    total, inactive = n * s, 1 - 1 / s
    return (
        16612.50 * total**-0.5962
        + 5455.67 * d**-0.3954
        + 0.4598 * (1 - inactive) ** 0.1666
        + 17.26 * (1 - inactive) ** -0.1603 * total**-0.1595
        + 0.94
    )


def flop(n: float, d: float, served: float = 2.6e14) -> float:
    return 6 * n * d + 2 * n * served


def test_sparsity_is_chosen_and_reported_with_total_and_active_parameters():
    plan = solve(SPARSE, {"constraints.max_sparsity": 16}).plan
    assert plan.model.sparsity == pytest.approx(16, rel=1e-9)
    assert plan.model.total_params == pytest.approx(16 * plan.model.active_params, rel=1e-12)
    assert plan.certificate["convex"] is True
    assert plan.status == "optimal"
    assert plan.shadow_prices["constraints.max_sparsity"].usd_per_unit > 0
    n, d = plan.model.active_params, plan.pretraining.tokens
    assert abnar(n, d, 16) == pytest.approx(abnar(3e10, 2e12, 4), abs=1e-9)


def test_sparse_plan_is_the_brute_force_minimum():
    plan = solve(SPARSE, {"constraints.max_sparsity": 16}).plan
    target = abnar(3e10, 2e12, 4)

    def cost(log_n: float) -> float:
        n = math.exp(log_n)
        if abnar(n, 1e20, 16) > target:
            return math.inf
        log_d = brentq(lambda x: abnar(n, math.exp(x), 16) - target, 20, 46)
        return math.log(flop(n, math.exp(log_d)))

    grid = np.linspace(math.log(1e9), math.log(1e11), 400)
    best = min(grid, key=cost)
    found = minimize_scalar(cost, bounds=(best - 0.02, best + 0.02), options={"xatol": 1e-10})
    assert math.log(plan.total_flop) == pytest.approx(found.fun, abs=1e-9)


def test_a_cap_on_total_parameters_binds_instead():
    plan = solve(
        SPARSE, {"constraints.max_sparsity": 16, "constraints.max_total_params": "50B"}
    ).plan
    assert plan.model.total_params == pytest.approx(5e10, rel=1e-9)
    assert plan.model.sparsity < 16


def test_given_sparsity_is_held():
    plan = solve(SPARSE, {"model.sparsity": 8}).plan
    assert plan.model.sparsity == pytest.approx(8, rel=1e-12)


def test_samples_are_a_certified_lever():
    outcome = solve(SAMPLED)
    plan = outcome.plan
    assert plan.certificate["convex"] is True
    assert plan.inference.samples_per_query > 1
    assert plan.inference.output_tokens == pytest.approx(
        2.6e14 * plan.inference.samples_per_query, rel=1e-12
    )
    pulls, spends = outcome.numbers.pulls(outcome.point)
    prices = [spends[v] / pulls[v] for v in outcome.problem.variables]
    assert prices == pytest.approx([prices[0]] * 3, rel=1e-7)


def test_sampled_plan_is_the_brute_force_minimum():
    plan = solve(SAMPLED).plan

    def loss(n: float, d: float, k: float) -> float:
        return 1.8172 + 482.01 * n**-0.3478 + 2085.43 * d**-0.3658 + 0.2 * k**-0.5

    target = loss(1e11, 2e12, 1)
    k, n = np.meshgrid(np.exp(np.linspace(0, 3, 1500)), np.exp(np.linspace(21, 26, 3000)))
    rest = target - 1.8172 - 482.01 * n**-0.3478 - 0.2 * k**-0.5
    with np.errstate(invalid="ignore", divide="ignore"):
        d = np.where(rest > 0, (rest / 2085.43) ** (-1 / 0.3658), np.inf)
    grid = 6 * n * d + 2 * n * k * 2.6e14
    assert plan.total_flop <= grid.min()
    assert plan.total_flop == pytest.approx(grid.min(), rel=1e-4)


def test_one_sample_where_samples_buy_nothing():
    weak = {**SAMPLED, "inference.samples": {"G": 1e-6, "gamma": 0.5}}
    plan = solve(weak).plan
    assert plan.inference.samples_per_query == pytest.approx(1.0, rel=1e-9)
    assert plan.model.active_params == pytest.approx(2.768279e10, rel=1e-3)


def test_samples_may_be_given_or_capped():
    given = solve({**SAMPLED, "inference.samples": {"G": 0.2, "gamma": 0.5, "count": 4}}).plan
    assert given.inference.samples_per_query == pytest.approx(4, rel=1e-12)
    capped = solve(SAMPLED, {"constraints.max_samples_per_query": 1.5}).plan
    assert capped.inference.samples_per_query == pytest.approx(1.5, rel=1e-9)


@pytest.mark.parametrize(
    ("table", "loss_of"),
    [
        (SIGMOID, lambda s: 2.0 + math.log((0.9 - 0.25) / (s - 0.25) - 1) / 12),
        (ERROR, lambda s: -math.log((0.9 - (1 - s)) / 2.0) / 0.7),
    ],
)
def test_a_score_target_is_the_loss_that_gives_it(table, loss_of):
    score = {"sigmoid": 0.6, "error": 0.5}[table["kind"]]
    by_score = solve({"goal.score": score, "law.downstream": table}).plan
    by_loss = solve({"goal.loss": loss_of(score)}).plan
    assert by_score.quality.score == pytest.approx(score, rel=1e-9)
    assert by_score.quality.loss == pytest.approx(loss_of(score), rel=1e-9)
    assert by_score.model.active_params == pytest.approx(by_loss.model.active_params, rel=1e-8)
    assert by_score.certificate["convex"] is True
    assert by_score.elasticities["total_cost_usd"]["goal.score"] > 0


def test_scores_beyond_the_law_are_infeasible():
    above = solve({"goal.score": 0.95, "law.downstream": SIGMOID}).plan
    assert above.status == "infeasible"
    assert "beyond what law.downstream can give" in above.binding[0].message
    near = solve({"goal.score": 0.89, "law.downstream": SIGMOID}).plan
    assert near.status == "infeasible"
    assert "below the irreducible loss" in near.binding[0].message


def test_a_score_is_reported_wherever_the_scenario_has_a_downstream_law():
    plan = solve({"law.downstream": SIGMOID}).plan
    assert 0.25 < plan.quality.score < 0.9
    assert plan.goal["match"]["params"] == 1e11


def test_repetition_is_a_decision():
    scarce = solve({"law.pretraining": "muennighoff-2023", "data.unique_tokens": 3e12}).plan
    assert scarce.pretraining.epochs > 2
    capped = solve(
        {
            "law.pretraining": "muennighoff-2023",
            "data.unique_tokens": 3e12,
            "data.max_epochs": 2,
        }
    ).plan
    assert capped.pretraining.epochs == pytest.approx(2, rel=1e-9)
    assert capped.total_cost_usd > scarce.total_cost_usd


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"law.pretraining": "abnar-2025"}, "quality depends on it: state it"),
        (SPARSE, "or bound it with constraints.max_sparsity"),
        ({"constraints.max_sparsity": 4}, "needs a law in sparsity"),
        ({"constraints.max_samples_per_query": 4}, "needs inference.samples"),
        ({"inference.samples": {"G": 1, "gamma": 1}}, "quality depends on it: state it"),
        ({"goal.match.samples": 2}, "needs inference.samples"),
        ({"goal.score": 0.5, "law.downstream": {"kind": "sigmoid"}}, "needs it: state your own"),
        (
            {"goal.score": 0.5, "law.downstream": {**SIGMOID, "gamma": 1.0}},
            "is a constant of kind 'error'",
        ),
        ({"goal.score": 0.5, "law.downstream": {**SIGMOID, "floor": 0.95}}, "below ceiling"),
    ],
)
def test_levers_are_refused_with_what_is_missing(settings, message):
    with pytest.raises(ScenarioError, match=message):
        solve(settings)


PRECISE = {
    "goal.match": {"params": "100B", "tokens": "2T", "bits": 16},
    "pretraining.low_precision": {"gamma_w": 2.5, "gamma_a": 2.2, "gamma_kv": 0.9},
}


def effective(n: float, p: float) -> float:
    return n * (1 - np.exp(-p / 2.5)) * (1 - np.exp(-p / 2.2)) * (1 - np.exp(-p / 0.9))


def test_training_precision_is_a_certified_lever():
    outcome = solve(PRECISE, {"traffic.output_tokens": 0})
    plan = outcome.plan
    assert plan.status == "optimal"
    assert plan.certificate["convex"] is True
    assert 3 < plan.pretraining.training_bits < 12
    pulls, spends = outcome.numbers.pulls(outcome.point)
    prices = [spends[v] / pulls[v] for v in outcome.problem.variables]
    assert prices == pytest.approx([prices[0]] * 3, rel=1e-7)


def test_precision_plan_is_the_brute_force_minimum():
    plan = solve(PRECISE, {"traffic.output_tokens": 0}).plan
    target = 482.01 * effective(1e11, 16) ** -0.3478 + 2085.43 * 2e12**-0.3658
    p, n = np.meshgrid(np.linspace(3, 12, 1500), np.exp(np.linspace(24, 28, 3000)))
    rest = target - 482.01 * effective(n, p) ** -0.3478
    with np.errstate(invalid="ignore", divide="ignore"):
        d = np.where(rest > 0, (rest / 2085.43) ** (-1 / 0.3658), np.inf)
    least = (6 * n * d * p / 16).min()
    per_flop = 2.35 / 3600 / (989.4e12 * 0.4 * 0.9)
    assert plan.total_cost_usd / per_flop <= least
    assert plan.total_cost_usd / per_flop == pytest.approx(least, rel=1e-5)


def test_given_bits_are_held_and_bounds_bind():
    given = solve({**PRECISE, "pretraining.low_precision.bits": 8}).plan
    assert given.pretraining.training_bits == pytest.approx(8, rel=1e-12)
    bound = solve(PRECISE, {"constraints.min_training_bits": 10}).plan
    assert bound.pretraining.training_bits == pytest.approx(10, rel=1e-9)


def test_over_training_and_fp4_serving_warns():
    chips = {"chip": "b200-sxm", "precision": "fp4"}
    plan = solve({f"inference.{key}": value for key, value in chips.items()}).plan
    assert any("runs in fp4" in w for w in plan.warnings)
    assert not any("runs in fp4" in w for w in solve().plan.warnings)


def test_the_equal_cost_rule_counts_given_samples_and_bits():
    settings = {
        "inference.samples": {"G": 0.2, "gamma": 0.5, "count": 4},
        "pretraining.low_precision": {"gamma_w": 2.5, "gamma_a": 2.2, "gamma_kv": 0.9, "bits": 8},
    }
    plan = solve_scenario(load("gpt5", list(settings.items()))).plan
    assert plan.pretraining.share == pytest.approx(1 / 3, rel=1e-12)
    # Four samples a query and half the bits: eight times the tokens.
    assert plan.pretraining.tokens == pytest.approx(8 * 2.592e14, rel=1e-12)
