"""What a user gets wrong, what they are told, and the exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

INVALID, INFEASIBLE = 2, 3


def test_misspelt_key_names_file_line_and_nearest(budget, scenario):
    run = budget("plan", scenario("min-cost", ("mfu = 0.4", "utilisaton = 0.4")))
    assert run.code == INVALID
    assert "mine.toml:27: pretraining.utilisaton: unknown key 'utilisaton'" in run.err
    assert "did you mean mfu?" in run.err


def test_every_mistake_of_a_file_is_told_at_once(budget, scenario):
    path = scenario("min-cost", ("goodput = 0.9", "godput = 0.9"), ("[goal]", "[gaol]"))
    run = budget("plan", path)
    assert run.code == INVALID
    assert "did you mean goodput?" in run.err
    assert "did you mean goal?" in run.err


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("traffic.output=50", "needs a unit, e.g. '50 Mtok/s'; got the bare number 50"),
        ("traffic.output='50'", "needs a unit"),
        ("traffic.output=50 Mtok", "is not in token/s"),
        ("traffic.lifetime=50 USD", "is not in s"),
        ("traffic.lifetime=50 parsecs", "unknown unit 'parsecs'"),
        ("traffic.lifetime=soon", "is not a quantity"),
        ("traffic.output=-5 Mtok/s", "must not be negative"),
        ("traffic.lifetime=-1 day", "must be positive"),
        ("traffic.lifetime=inf days", "is not a quantity"),
        ("traffic.lifetime=1e999 days", "expected a finite number"),
        ("goal.match.params=100 billion", "expected a count such as 2e12 or '15T'"),
        ("goal.match.tokens=0", "must be positive"),
        ("goal.match=7", "is a table with the keys params, tokens"),
        ("goal.kind=mincost", "did you mean min-cost?"),
        ("law.pretraining=hofman-2022", "no law named 'hofman-2022'; did you mean hoffmann-2022"),
        ("law.pretraining=hoffmann-2022-approach1", "it has no loss to plan with"),
        ("law.pretraining=muennighoff-2023", "depends on repetition and needs it"),
        ("pretraining.chip=h10-sxm", "no chip named 'h10-sxm'; did you mean h100-sxm"),
        ("pretraining.chip=h100", "chip 'h100' is ambiguous: h100-pcie or h100-sxm"),
        ("pretraining.precision=fp4", "no fp4 peak is known for h100-sxm"),
        ("pretraining.peak=1979 TFLOP/s", "2:1 sparse figure of h100-sxm at bf16"),
        ("pretraining.mfu=1.2", "at most 1"),
        ("pretraining.mfu=40", "40 % is written 0.4"),
        ("pretraining.mfu=true", "valid number"),
        ("pretraining.goodput=0", "above 0"),
        ("pretraining.chip_price=0 USD/hour", "a price of zero would make hardware free"),
        ("pretraining.chip_price=2.35", "needs a unit, e.g. '2.10 USD/hour'"),
        ("pretraining.tokens=1T", "goal min-cost chooses the tokens"),
        ("goal.budget=1 MUSD", "takes no budget"),
        ("goal.score=0.5", "a score needs law.downstream, or law.rl = 'sigmoid'"),
        ("law.rl=power", "no consensus value exists, state yours"),
        ("law.rl=equal-cost", "goes with goal equal-cost"),
        ("rl.K=3", "is a constant of law.rl = 'power', which is not chosen"),
        ("traffic.cached_input_share=0.5", "needs traffic.input"),
        ("data.max_epochs=4", "needs data.unique_tokens"),
        ("constraints.training_chips=1000", "go together"),
        ("constraints.max_rl_tokens=1T", "the scenario has no RL"),
        ("model.preset=llama3_70bb", "did you mean llama3_70b"),
        ("traffic.outpt=1 tok/s", "did you mean output"),
        ("traffic", "expected KEY=VALUE"),
        ("goal.kind.deeper=1", "is not a table"),
    ],
)
def test_wrong_value_is_refused_with_what_was_expected(budget, assignment, message):
    run = budget("plan", "min-cost", "--set", assignment)
    assert run.code == INVALID
    assert message in run.err
    assert run.out == ""


def test_an_override_is_blamed_on_the_option_not_on_the_file(budget):
    run = budget("plan", "min-cost", "--set", "pretraining.mfu=7")
    assert "--set pretraining.mfu" in run.err
    assert ".toml" not in run.err


def test_contradictory_bounds_are_named(budget):
    run = budget(
        "plan",
        "min-cost",
        "--set",
        "constraints.min_active_params=50B",
        "--set",
        "constraints.max_active_params=10B",
    )
    assert run.code == INVALID
    assert "5e+10 exceeds max_active_params = 1e+10" in run.err


@pytest.mark.parametrize("key", ["chip", "precision", "mfu", "goodput", "chip_price"])
def test_no_hardware_field_has_a_default(budget, scenario, key):
    line = {
        "chip": 'chip = "h100-sxm"\n',
        "precision": 'precision = "bf16"\n',
        "mfu": "mfu = 0.4\n",
        "goodput": "goodput = 0.9\n",
        "chip_price": 'chip_price = "2.35 USD/hour"\n',
    }[key]
    run = budget("plan", scenario("min-cost", (line, "")))
    assert run.code == INVALID
    assert f"pretraining.{key}: required: there is no default" in run.err
    assert ("h100-sxm was seen at 2.35 USD/hour" in run.err) == (key == "chip_price")


def test_no_traffic_is_not_zero_traffic(budget, scenario):
    run = budget(
        "plan",
        scenario(
            "min-cost",
            ("[traffic]", ""),
            ('output = "50 Mtok/s"', ""),
            ('lifetime = "5.2e6 s"', ""),
            ("peak_to_mean = 1.0", ""),
        ),
    )
    assert run.code == INVALID
    assert "output_tokens = 0 says that none is" in run.err


def test_equal_cost_with_zero_traffic_is_refused(budget):
    run = budget("plan", "gpt5", "--set", "traffic.output=0 tok/s")
    assert run.code == INVALID
    assert "equal-cost with zero traffic is meaningless" in run.err


def test_two_quality_targets_exclude_each_other(budget, scenario):
    run = budget("plan", scenario("min-cost", ("[goal]", "[goal]\nloss = 1.9")))
    assert run.code == INVALID
    assert "excludes goal.loss" in run.err


def test_setting_one_target_replaces_the_other(budget):
    run = budget("plan", "min-cost", "--set", "goal.loss=1.95", "-f", "json")
    assert run.code == 0
    assert '"loss": 1.95' in run.out


def test_target_below_irreducible_loss_says_by_how_much(budget):
    run = budget("plan", "min-cost", "--set", "goal.loss=1.6")
    assert run.code == INFEASIBLE
    assert "0.2172 below the irreducible loss 1.8172 of besiroglu-2024" in run.err


def test_target_at_irreducible_loss_is_infeasible(budget):
    assert budget("plan", "min-cost", "--set", "goal.loss=1.8172").code == INFEASIBLE


def test_budget_too_small_for_any_model(budget):
    run = budget("plan", "max-quality", "--set", "goal.budget=1000 USD")
    assert run.code == INFEASIBLE
    assert "goal.budget = $1,000: raise it to $2M" in run.err


def test_infeasible_limits_are_named_with_the_smallest_relaxation(budget):
    run = budget(
        "plan",
        "min-cost",
        "--set",
        "constraints.max_active_params=20B",
        "--set",
        "constraints.max_tokens_per_param=100",
    )
    assert run.code == INFEASIBLE
    assert "goal.match = 1.95518 nat/token: raise it to 2.00919 nat/token" in run.err
    assert "constraints.max_active_params = 20B parameters: raise it to" in run.err
    assert "constraints.max_tokens_per_param = 100 tokens/parameter: raise it to" in run.err


def test_a_relaxed_limit_is_feasible_and_a_little_less_is_not(budget):
    import json

    def plan(size: float) -> int:
        return budget(
            "plan",
            "min-cost",
            "-f",
            "json",
            "--set",
            f"constraints.max_active_params={size!r}",
            "--set",
            "constraints.max_tokens_per_param=100",
        ).code

    run = budget(
        "plan", "min-cost", "-f", "json", "--set", "constraints.max_active_params=20B",
        "--set", "constraints.max_tokens_per_param=100",
    )  # fmt: skip
    binding = {b["name"]: b for b in json.loads(run.out)["binding"]}
    needed = binding["constraints.max_active_params"]["relaxed_to"]
    assert plan(needed * 1.0001) == 0
    assert plan(needed * 0.9999) == INFEASIBLE


def test_infeasible_writes_no_report(budget, tmp_path):
    budget("plan", "min-cost", "--set", "goal.loss=1.6")
    assert not (tmp_path / "reports").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'[goal]\nkind = "min-cost"\nname = "\xff"\n', ":3: not UTF-8: byte 0xff"),
        (b'[goal]\nkind = "min-cost\n', ":2: not valid TOML"),
        (b"[goal\n", ":1: not valid TOML"),
        (b"[goal]\n[goal]\n", ":2: not valid TOML"),
        (b"", "required table is missing"),
        (b"a = " + b"9" * 5000, "not valid TOML"),
        (b"a = " + b"[" * 9000, "not valid TOML"),
        (b"[goal]\nkind = 'min-cost'\n[goal.match]\n", "required"),
    ],
)
def test_broken_files_name_file_and_line(budget, tmp_path, content, message):
    (tmp_path / "broken.toml").write_bytes(content)
    run = budget("plan", "broken.toml")
    assert run.code == INVALID
    assert "broken.toml" in run.err
    assert message in run.err


def test_unknown_scenario_names_the_nearest(budget):
    run = budget("plan", "gpt-5")
    assert run.code == INVALID
    assert "no such file, and no shipped scenario of that name; did you mean gpt5?" in run.err


def test_a_folder_is_not_a_scenario(budget, tmp_path):
    assert "is a folder" in budget("plan", str(tmp_path)).err


def test_unwritable_output_leaves_the_old_report_untouched(budget, tmp_path):
    folder = tmp_path / "reports"
    folder.mkdir()
    (folder / "gpt5.md").write_text("old")
    (folder / "gpt5-tornado.svg").mkdir()
    run = budget("plan", "gpt5")
    assert run.code == INVALID
    assert "cannot write" in run.err
    assert (folder / "gpt5.md").read_text() == "old"
    assert sorted(p.name for p in folder.iterdir()) == ["gpt5-tornado.svg", "gpt5.md"]


def test_a_file_in_the_way_of_the_output_folder(budget, tmp_path):
    (tmp_path / "reports").write_text("a file")
    run = budget("plan", "gpt5")
    assert run.code == INVALID
    assert "is not a folder" in run.err


def test_unknown_command_names_the_nearest(budget):
    run = budget("plann")
    assert run.code == INVALID
    assert "did you mean plan" in run.err


@pytest.mark.parametrize("arguments", [("plan",), ("plan", "gpt5", "-f", "xml"), ("laws", "show")])
def test_wrong_usage_exits_2(budget, arguments):
    assert budget(*arguments).code == INVALID


def test_laws_show_unknown_name(budget):
    run = budget("laws", "show", "besiroglu")
    assert run.code == INVALID
    assert "did you mean besiroglu-2024" in run.err


def test_laws_unknown_kind(budget):
    assert "did you mean loss" in budget("laws", "--kind", "los").err


def test_an_internal_error_is_one_message_and_exit_1(budget, monkeypatch):
    import budget.planning

    def fail(_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(budget.planning, "solve_scenario", fail)
    run = budget_run(budget, monkeypatch)
    assert run == (1, True)


def budget_run(module: object, monkeypatch: pytest.MonkeyPatch) -> tuple[int, bool]:
    import sys

    import click

    from budget.cli import main

    said: list[str] = []
    monkeypatch.setattr(click, "echo", lambda text="", **_: said.append(str(text)))
    monkeypatch.setattr(sys, "argv", ["budget", "plan", "gpt5"])
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0), any("RuntimeError: boom" in s for s in said)


@pytest.mark.parametrize(
    "hostile",
    [
        "__import__('os').system('x') s",
        "1 s**999999999",
        "1 " + "s*" * 500 + "s",
        "9" * 5000 + " s",
        "1 \u0455",  # Cyrillic s
        "1 s; 2 s",
        "1 {s}",
    ],
)
def test_hostile_units_are_refused(budget, tmp_path, hostile):
    run = budget("plan", "min-cost", "--set", f"traffic.lifetime={hostile}")
    assert run.code == INVALID
    assert list(Path(tmp_path).iterdir()) == []
