"""The numbers the shipped scenarios must show: the whiteboard, released models, hand checks."""

from __future__ import annotations

import pytest

import budget
from budget import evidence
from budget.planning import solve_scenario
from budget.scenario import load


@pytest.fixture(scope="module")
def gpt5():
    return budget.plan("gpt5")


def test_whiteboard_traffic_is_50_million_tokens_a_second_for_60_days(gpt5):
    assert gpt5.inference.output_tokens == 50e6 * 60 * 86400 == 2.592e14


def test_whiteboard_token_counts_come_out_equal(gpt5):
    assert gpt5.pretraining.tokens == pytest.approx(2.592e14, rel=1e-12)


def test_whiteboard_costs_are_equal_thirds(gpt5):
    for part in (gpt5.pretraining, gpt5.rl, gpt5.inference):
        assert part.share == pytest.approx(1 / 3, rel=1e-12)
    # By hand: 6 x 1e11 x 2.592e14 FLOP over 989.4e12 x 0.36 x 0.9 at 2.35 USD an hour.
    by_hand = 6 * 1e11 * 2.592e14 / (989.4e12 * 0.36 * 0.9) / 3600 * 2.35
    assert gpt5.pretraining.cost_usd == pytest.approx(by_hand, rel=1e-12)


def test_whiteboard_is_130_times_20_tokens_per_parameter(gpt5):
    assert gpt5.overtraining.vs_20_tokens_per_param == pytest.approx(129.6, rel=1e-12)


def test_the_rounded_200t_gives_100_times():
    rounded = evidence.variants(load("gpt5"))[1]
    assert rounded.vs_20_tokens_per_param == pytest.approx(100.0, rel=1e-12)


def test_whiteboard_costs_more_than_the_optimum_of_equal_quality(gpt5):
    best = gpt5.baseline("optimal")
    assert best.loss == pytest.approx(gpt5.quality.loss, abs=1e-12)
    assert best.rl_tokens == pytest.approx(gpt5.rl.tokens, rel=1e-12)
    assert best.extra_cost_usd < 0
    assert best.total_cost_usd == pytest.approx(9.0215e8, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "per_param", "factor", "flop", "implied", "hours_reported"),
    [
        ("llama3-8b", 1868, 91.4, 7.227e23, 1.90e14, 1.3e6),
        ("llama3-405b", 38.44, 2.28, 3.80e25, 1.65e13, 30.84e6),
        ("deepseek-v3", 394, 20.8, 3.335e24, 9.04e13, 2.664e6),
    ],
)
def test_released_models(name, per_param, factor, flop, implied, hours_reported):
    plan = budget.plan(name)
    assert plan.overtraining.tokens_per_param == pytest.approx(per_param, rel=1e-3)
    assert plan.overtraining.overtraining_factor == pytest.approx(factor, rel=2e-3)
    assert plan.pretraining.flop == pytest.approx(flop, rel=1e-3)
    assert plan.implied_served_tokens == pytest.approx(implied, rel=3e-3)
    assert load(name).file.pretraining.reported_chip_hours == hours_reported


def test_under_the_printed_constants_the_8b_is_91_times_past_its_optimum():
    plan = budget.plan("llama3-8b", ["law.pretraining=besiroglu-2024"])
    assert plan.overtraining.overtraining_factor == pytest.approx(91.2, rel=1e-3)


def test_405b_chip_hours_are_within_ten_percent_of_the_reported():
    plan = budget.plan("llama3-405b")
    assert plan.pretraining.chip_hours == pytest.approx(30.84e6, rel=0.1)


@pytest.mark.parametrize(
    ("law", "params", "tokens", "flop"),
    [
        ("besiroglu-2024", 2.768279e10, 2.705134e13, 1.888819e25),
        ("hoffmann-2022", 1.058984e10, 4.204257e13, 8.178065e24),
    ],
)
def test_least_cost_for_the_quality_of_100b_on_2t(law, params, tokens, flop):
    plan = budget.plan("min-cost", [("law.pretraining", law)])
    assert plan.model.active_params == pytest.approx(params, rel=5e-7)
    assert plan.pretraining.tokens == pytest.approx(tokens, rel=5e-7)
    assert plan.total_flop == pytest.approx(flop, rel=5e-7)
    assert plan.status == "optimal"


def test_the_100b_model_itself_costs_5_32e25_flop():
    outcome = solve_scenario(load("min-cost"))
    match = outcome.plan.baseline("match")
    per_flop = outcome.plan.total_cost_usd / outcome.plan.total_flop
    assert match.total_cost_usd / per_flop == pytest.approx(5.32e25, rel=1e-4)


def test_quality_of_the_match_is_its_loss():
    assert budget.plan("min-cost").quality.loss == pytest.approx(1.955177, abs=5e-7)


def test_max_quality_spends_the_budget_and_binds_the_data_cap():
    plan = budget.plan("max-quality")
    assert plan.total_cost_usd == pytest.approx(60e6, rel=1e-9)
    assert plan.pretraining.tokens == pytest.approx(8e12, rel=1e-9)
    assert plan.shadow_prices["data.unique_tokens"].usd_per_unit > 0
    assert plan.shadow_prices["data.unique_tokens"].loss_per_unit > 0
    assert plan.shadow_prices["constraints.training_deadline"].elasticity == 0


def test_no_data_cap_is_worth_what_the_variant_says():
    as_stated, twice, uncapped, _ = evidence.variants(load("max-quality"))
    assert as_stated.loss > twice.loss > uncapped.loss
    assert uncapped.tokens > 8e12


@pytest.mark.parametrize("name", ["gpt5", "min-cost", "max-quality", "llama3-8b"])
def test_lines_and_shares_add_up(name):
    outcome = solve_scenario(load(name))
    plan = outcome.plan
    lines = outcome.numbers.lines(outcome.point)
    assert sum(li.cost_usd for li in lines) == pytest.approx(plan.total_cost_usd, rel=1e-12)
    shares = plan.pretraining.share + plan.rl.share + plan.inference.share
    others = sum(plan.other_costs.values()) / plan.total_cost_usd
    assert shares + others == pytest.approx(1.0, rel=1e-12)


def test_every_number_of_a_scenario_has_a_comment_before_it():
    from budget.scenario import shipped

    for path in shipped().values():
        lines = path.read_text().splitlines()
        for table in ("[traffic]", "[pretraining]", "[model]"):
            if table in lines:
                at = lines.index(table)
                assert any(line.startswith("#") for line in lines[at : at + 6]), (path, table)
