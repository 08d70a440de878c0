"""How plans respond: limits, warnings, conventions (cases B11, B16, B18, B19, B80, B83)."""

from __future__ import annotations

import pytest

import budget
import laws
from budget.planning import solve_scenario
from budget.scenario import load
from laws.symbols import D, N


def plan(name: str, **changes: object) -> budget.Plan:
    pairs = [(key.replace("__", "."), value) for key, value in changes.items()]
    return budget.plan(name, pairs)


def test_zero_traffic_reproduces_the_compute_optimum_exactly():
    found = plan("min-cost", traffic__output_tokens=0)
    best = laws.get("besiroglu-2024").optimum(found.pretraining.flop)
    assert found.model.active_params == pytest.approx(best.params, rel=1e-9)
    assert found.pretraining.tokens == pytest.approx(best.tokens, rel=1e-9)
    assert found.model.active_params == pytest.approx(1.05201e11, rel=5e-6)
    assert found.pretraining.tokens == pytest.approx(1.89934e12, rel=5e-6)
    assert found.overtraining.overtraining_factor == pytest.approx(1.0, rel=1e-9)
    assert found.implied_served_tokens == pytest.approx(0.0, abs=1e-6 * best.tokens)


def test_size_falls_and_tokens_rise_with_traffic():
    plans = [plan("min-cost", traffic__output_tokens=t) for t in (0, 1e12, 1e13, 1e14, 1e15)]
    sizes = [p.model.active_params for p in plans]
    tokens = [p.pretraining.tokens for p in plans]
    assert sizes == sorted(sizes, reverse=True)
    assert tokens == sorted(tokens)


def test_marginal_cost_of_quality_is_equal_across_levers():
    outcome = solve_scenario(load("min-cost"))
    pulls, spends = outcome.numbers.pulls(outcome.point)
    assert spends[N] / pulls[N] == pytest.approx(spends[D] / pulls[D], rel=1e-9)


def test_sardana_condition_at_equal_price_per_flop():
    found = plan("min-cost")
    c = laws.get("besiroglu-2024").constants
    n, d = found.model.active_params, found.pretraining.tokens
    pull_n = c["alpha"].value * c["A"].value * n ** -c["alpha"].value
    pull_d = c["beta"].value * c["B"].value * d ** -c["beta"].value
    assert pull_n / pull_d == pytest.approx(1 + 2.6e14 / (3 * d), rel=1e-9)


@pytest.mark.parametrize(
    ("params", "tokens", "saving", "ratio"),
    [
        # Sardana et al. 2024, sections 3 and 4, with the unrounded Hoffmann constants: 7B on 2.1
        # times the data, saving 1.7e22 FLOP; recomputed 7.1203e9, 2.098 and 1.635e22.
        (7.1203e9, 2.098, 1.635e22, 13e9),
    ],
)
def test_sardana_example_13b_quality_2e12_tokens(params, tokens, saving, ratio):
    law = laws.get("hoffmann-2022-unrounded")
    compute_optimal = law.optimal_tokens(ratio)
    found = plan(
        "min-cost",
        law__pretraining="hoffmann-2022-unrounded",
        goal__match={"params": ratio, "tokens": compute_optimal},
        traffic__output_tokens=2e12,
    )
    assert found.model.active_params == pytest.approx(params, rel=1e-4)
    assert found.pretraining.tokens / compute_optimal == pytest.approx(tokens, rel=5e-4)
    before = 6 * ratio * compute_optimal + 2 * ratio * 2e12
    assert before - found.total_flop == pytest.approx(saving, rel=1e-3)


def test_gpu_hours_of_a_7b_on_1t():
    # B83: 4.2e22 FLOP at half of 989.4e12 is 23,583 GPU-hours and 47.2 thousand dollars at 2 USD.
    found = plan(
        "llama3-8b",
        model__active_params=7e9,
        pretraining__tokens=1e12,
        pretraining__mfu=0.5,
        pretraining__goodput=1.0,
        pretraining__chip_price="2 USD/hour",
    )
    assert found.pretraining.chip_hours == pytest.approx(23583, rel=1e-4)
    assert found.total_cost_usd == pytest.approx(47.2e3, rel=1e-3)


def test_under_training_is_warned_about_with_the_penalty():
    found = plan("llama3-8b", model__active_params=5e8, pretraining__tokens=2.2e7)
    law = laws.get("besiroglu-2024-full")
    best = law.optimum(6 * 5e8 * 2.2e7)
    penalty = float(law.value(N=5e8, D=2.2e7)) - best.loss
    (warning,) = [w for w in found.warnings if "under-trained" in w]
    assert "0.044 tokens per parameter" in warning
    assert f"{penalty:.4g} nat/token" in warning


def test_over_training_is_not_warned_about_when_traffic_is_served():
    without = plan("llama3-8b")
    assert any("over-trained" in w for w in without.warnings)
    served = plan(
        "llama3-8b",
        traffic={"output_tokens": "100T", "peak_to_mean": 1.5},
        inference={
            "chip": "h100-sxm",
            "precision": "bf16",
            "mfu": 0.1,
            "goodput": 0.9,
            "chip_price": "2.35 USD/hour",
        },
    )
    assert not any("trained:" in w for w in served.warnings)
    assert served.inference.cost_usd > 0


def test_gpt3_has_no_traffic_that_rationalises_it():
    found = plan("llama3-8b", model__active_params=175e9, pretraining__tokens=300e9)
    assert found.implied_served_tokens / 300e9 == pytest.approx(-1.719, abs=5e-4)
    assert any("no served traffic rationalises" in w for w in found.warnings)


def test_planning_for_the_implied_traffic_gives_the_plan_back():
    given = plan("llama3-8b", law__pretraining="besiroglu-2024")
    back = plan(
        "min-cost",
        goal__match={
            "params": given.model.active_params,
            "tokens": given.pretraining.tokens,
        },
        traffic__output_tokens=given.implied_served_tokens,
    )
    assert back.model.active_params == pytest.approx(given.model.active_params, rel=1e-7)
    assert back.pretraining.tokens == pytest.approx(given.pretraining.tokens, rel=1e-7)


def test_sparse_models_under_a_dense_law_are_flagged():
    assert any("fitted on dense models" in w for w in budget.plan("deepseek-v3").warnings)
    assert budget.plan("deepseek-v3").model.sparsity == pytest.approx(17.87, rel=1e-3)


def test_total_parameters_are_not_guessed():
    assert budget.plan("min-cost").model.total_params is None
    assert plan("min-cost", model__sparsity=16).model.total_params == pytest.approx(
        16 * 2.768279e10, rel=1e-6
    )


def test_leaving_the_range_of_the_runs_is_flagged():
    (law,) = budget.plan("gpt5").laws
    assert not law.valid
    assert any(note.startswith("D/N") for note in law.notes)


def test_inside_the_range_of_the_runs_nothing_is_flagged():
    found = plan("llama3-8b", model__active_params=1e9, pretraining__tokens=20e9)
    assert found.laws[0].valid
    assert not any("extrapolation" in w for w in found.warnings)


def test_unstated_peak_to_mean_is_flagged_and_stating_it_costs():
    scenario = load("min-cost")
    raw = dict(scenario.raw["traffic"])
    del raw["peak_to_mean"]
    unstated = solve_scenario(scenario.with_changes([("traffic", raw)])).plan
    assert any("peak_to_mean is not stated" in w for w in unstated.warnings)
    peaky = plan("min-cost", traffic__peak_to_mean=2.0)
    assert peaky.model.active_params < unstated.model.active_params
    assert peaky.total_cost_usd > unstated.total_cost_usd


def test_cached_input_is_a_part_of_input_and_costs_nothing_to_prefill():
    prefill = {"inference.prefill": {"mfu": 0.4}}
    changes = {
        "traffic__input_tokens": 1e14,
        **{k.replace(".", "__"): v for k, v in prefill.items()},
    }
    all_cached = plan("min-cost", **changes, traffic__cached_input_share=1.0)
    half = plan("min-cost", **changes, traffic__cached_input_share=0.5)
    none = plan("min-cost", **changes)
    assert all_cached.total_cost_usd == pytest.approx(budget.plan("min-cost").total_cost_usd)
    assert all_cached.inference.input_tokens == half.inference.input_tokens == 1e14
    assert half.inference.cached_input_tokens == 5e13
    assert all_cached.total_cost_usd < half.total_cost_usd < none.total_cost_usd


def test_a_size_given_with_min_cost_is_held():
    found = plan("min-cost", model__active_params=4e10)
    assert found.model.active_params == pytest.approx(4e10, rel=1e-12)
    assert found.total_cost_usd > budget.plan("min-cost").total_cost_usd
    assert found.quality.loss == pytest.approx(budget.plan("min-cost").quality.loss, abs=1e-10)


def test_deadline_binds_and_is_priced():
    found = plan(
        "min-cost",
        constraints__training_deadline="60 days",
        constraints__training_chips=2000,
    )
    days = found.pretraining.chip_hours / 2000 / 24
    assert days == pytest.approx(60, rel=1e-9)
    price = found.shadow_prices["constraints.training_deadline"]
    assert price.usd_per_unit > 0
    assert price.unit == "s"


def test_a_slack_limit_changes_nothing():
    free = budget.plan("min-cost")
    slack = plan("min-cost", constraints__max_active_params=1e12)
    assert slack.model.active_params == pytest.approx(free.model.active_params, rel=1e-9)
    assert slack.shadow_prices["constraints.max_active_params"].usd_per_unit == 0


def test_max_quality_and_min_cost_are_the_same_plan_seen_from_two_sides():
    cheapest = budget.plan("min-cost")
    scenario = load("min-cost")
    best = solve_scenario(
        scenario.with_changes(
            [("goal", {"kind": "max-quality", "budget": f"{cheapest.total_cost_usd!r} USD"})]
        )
    ).plan
    assert best.model.active_params == pytest.approx(cheapest.model.active_params, rel=1e-7)
    assert best.quality.loss == pytest.approx(cheapest.quality.loss, rel=1e-10)


def test_repetition_lowers_what_extra_tokens_are_worth():
    fresh = plan("min-cost", law__pretraining="muennighoff-2023", data__unique_tokens=1e16)
    scarce = plan("min-cost", law__pretraining="muennighoff-2023", data__unique_tokens=3e12)
    base = plan("min-cost", law__pretraining="muennighoff-2023-base")
    assert fresh.total_cost_usd == pytest.approx(base.total_cost_usd, rel=1e-9)
    assert scarce.total_cost_usd > fresh.total_cost_usd
    assert scarce.pretraining.epochs > 1
    assert scarce.certificate["convex"]
    assert scarce.status == "optimal"


def test_near_optimal_sizes_cost_one_percent_more():
    outcome = solve_scenario(load("min-cost"))
    for size in outcome.plan.near_optimal["active_params"]:
        held = plan("min-cost", model__active_params=size)
        assert held.total_cost_usd / outcome.plan.total_cost_usd == pytest.approx(1.01, rel=1e-6)


def test_plans_print_themselves_and_export():
    found = budget.plan("gpt5")
    frame = found.to_frame()
    assert frame.loc[0, "model.active_params"] == 1e11
    assert "100B" in found._repr_markdown_()


def test_infeasible_from_python_is_a_result():
    found = plan("min-cost", goal__loss=1.6)
    assert found.status == "infeasible"
    assert "0.2172 below" in found.binding[0].message
    assert "0.2172 below" in found._repr_markdown_()


def test_an_optimum_at_the_edge_of_the_search_is_refused():
    with pytest.raises(budget.BudgetError, match="runs to"):
        plan(
            "min-cost",
            law__rl="sigmoid",
            goal__score=0.3,
            traffic__output_tokens=0,
            rl={
                "chip": "h100-sxm",
                "precision": "bf16",
                "mfu": 0.3,
                "goodput": 0.9,
                "chip_price": "1e-9 USD/hour",
                "forward_passes": 0,
                "trained_share": 1.0,
                "A": 0.6,
                "B": 0.9,
                "C_mid": "1e3 FLOP",
                "k": 0.01,
                "L_half": 2.0,
            },
        )


def test_implied_traffic_counts_rl_and_research():
    """The optimum serves exactly the traffic that its plan implies, RL and research included."""
    rl = {
        "chip": "h100-sxm",
        "precision": "bf16",
        "mfu": 0.4,
        "goodput": 0.9,
        "chip_price": "2.35 USD/hour",
        "forward_passes": 1,
        "trained_share": 0.5,
        "K": 20,
        "gamma": 0.2,
    }
    found = plan(
        "min-cost",
        law__rl="power",
        rl=rl,
        goal__match={"params": 1e11, "tokens": 2e12, "rl_tokens": 1e12},
    )
    assert found.implied_served_tokens == pytest.approx(2.6e14, rel=1e-7)
    n, d = found.model.active_params, found.pretraining.tokens
    law_alone = laws.get("besiroglu-2024").implied_served_tokens(n, d)
    spent_on_rl = found.rl.tokens * (1 + 1 + 3 * 0.5)
    assert law_alone - spent_on_rl == pytest.approx(2.6e14, rel=1e-7)
    research = plan("min-cost", pretraining__research_multiplier=3)
    assert research.implied_served_tokens == pytest.approx(2.6e14, rel=1e-7)


def test_hardly_any_data_is_a_plan_or_a_refusal_but_no_failure():
    for name in ("max-quality", "llama3-8b"):
        for unique in ("10B", "1B", "1"):
            try:
                found = plan(name, law__pretraining="muennighoff-2023", data__unique_tokens=unique)
            except budget.BudgetError as error:
                assert "more unique tokens are needed" in str(error)
            else:
                assert found.status in ("optimal", "infeasible")


@pytest.mark.parametrize("changes", [{"model__sparsity": 10}, {"model__total_params": 1e9}])
def test_presets_may_not_be_contradicted(changes):
    with pytest.raises(budget.ScenarioError):
        plan("llama3-8b" if "model__total_params" in changes else "deepseek-v3", **changes)


@pytest.mark.parametrize("name", ["llama3_70b", "DeepSeek-V3", "qwen3-32B", "GPT-OSS-120b"])
def test_models_are_found_by_the_names_people_use(name):
    from budget import catalog

    assert catalog.model(name, "model.preset").total_params > 1e10


def test_the_parameter_count_is_the_one_the_law_uses():
    """Case B13: Llama-3-70B in full, without both tables, and in matrix products."""
    from budget import catalog

    model = catalog.model("llama-3-70b", "model.preset")
    assert model.total_params == 70_553_706_496
    assert model.non_embedding_params == 68_452_360_192
    assert model.matmul_params == 69_503_033_344
    changes = {"model__preset": "llama-3-70b", "model__sparsity": 1}
    total = plan("llama3-8b", **changes)
    lean = plan("llama3-8b", **changes, law__pretraining="kaplan-2020")
    assert total.model.active_params == 70_553_706_496
    assert lean.model.active_params == 68_452_360_192
    ratio = lean.pretraining.flop / total.pretraining.flop
    assert ratio == pytest.approx(68_452_360_192 / 70_553_706_496, rel=1e-12)


def test_active_counts_of_deepseek_v3():
    """Case B125: 37.55B with both vocabulary tables, 36.63B without the input table."""
    from budget import catalog

    model = catalog.model("deepseek-v3", "model.preset")
    assert model.active_params == pytest.approx(37.55e9, rel=1e-4)
    assert model.matmul_params == pytest.approx(36.63e9, rel=1e-3)
