"""`budget plan` as a user meets it: where results go, formats, summaries."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

CONTRACT = {
    "schema",
    "scenario",
    "goal",
    "status",
    "model",
    "pretraining",
    "rl",
    "inference",
    "other_costs",
    "total_cost_usd",
    "total_flop",
    "quality",
    "overtraining",
    "compute_optimal_reference",
    "baselines",
    "implied_served_tokens",
    "near_optimal",
    "shadow_prices",
    "elasticities",
    "intervals",
    "certificate",
    "laws",
    "warnings",
    "provenance",
}
PARTS = {
    "model": {"active_params", "total_params", "sparsity"},
    "pretraining": {
        "tokens",
        "unique_tokens",
        "epochs",
        "flop",
        "chip_hours",
        "cost_usd",
        "share",
        "training_bits",
    },
    "rl": {"tokens", "flop", "chip_hours", "cost_usd", "share"},
    "inference": {
        "output_tokens",
        "input_tokens",
        "cached_input_tokens",
        "flop",
        "chip_hours",
        "cost_usd",
        "share",
        "usd_per_million_output_tokens",
        "samples_per_query",
    },
    "quality": {"loss", "loss_reducible", "score"},
    "overtraining": {
        "tokens_per_param",
        "overtraining_factor",
        "vs_20_tokens_per_param",
        "vs_same_compute",
    },
    "compute_optimal_reference": {"active_params", "tokens", "loss"},
    "certificate": {"method", "convex", "primal_infeasibility", "kkt_residual", "gap"},
    "provenance": {"version", "scenario_sha256", "seed"},
}
SHIPPED = ["gpt5", "min-cost", "max-quality", "llama3-8b", "llama3-405b", "deepseek-v3"]


@pytest.mark.parametrize("name", SHIPPED)
def test_json_has_every_key_of_the_contract(budget, name):
    run = budget("plan", name, "-f", "json")
    assert run.code == 0
    data = json.loads(run.out)
    assert set(data) == CONTRACT
    for part, keys in PARTS.items():
        assert set(data[part]) == keys, part
    for baseline in data["baselines"]:
        assert {
            "name",
            "active_params",
            "tokens",
            "total_cost_usd",
            "loss",
            "extra_cost_usd",
        } <= set(baseline)
    for law in data["laws"]:
        assert set(law) == {"name", "source", "valid", "notes"}
    assert data["near_optimal"]["active_params"][0] <= data["near_optimal"]["active_params"][1]


def test_infeasible_json_says_what_binds(budget):
    run = budget("plan", "min-cost", "--set", "goal.loss=1.6", "-f", "json")
    assert run.code == 3
    data = json.loads(run.out)
    assert set(data) == CONTRACT | {"binding"}
    assert data["status"] == "infeasible"
    assert data["total_cost_usd"] is None
    assert data["binding"][0]["name"] == "goal.loss"
    assert "infeasible" in run.err


def test_report_goes_to_reports_and_the_summary_to_standard_output(budget, tmp_path):
    run = budget("plan", "gpt5")
    assert run.code == 0
    written = sorted(p.name for p in (tmp_path / "reports").iterdir())
    assert written == ["gpt5-cost-vs-size.svg", "gpt5-spend.svg", "gpt5-tornado.svg", "gpt5.md"]
    assert "100B" in run.out
    assert "$950.1M" in run.out
    assert "Report: reports/gpt5.md" in run.err


def test_every_figure_of_the_report_exists_and_is_svg(budget, tmp_path):
    import re
    import xml.etree.ElementTree as ET

    budget("plan", "max-quality")
    report = (tmp_path / "reports" / "max-quality.md").read_text()
    links = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", report)
    assert len(links) == 3
    for link in links:
        assert ET.parse(tmp_path / "reports" / link).getroot().tag.endswith("svg")


def test_a_path_and_a_shipped_name_give_the_same_plan(budget, scenario):
    path = scenario("min-cost")
    by_path = json.loads(budget("plan", path, "-f", "json").out)
    by_name = json.loads(budget("plan", "min-cost", "-f", "json").out)
    assert by_path.pop("scenario") == "mine"
    assert by_name.pop("scenario") == "min-cost"
    assert by_path == by_name


def test_dash_puts_the_report_on_standard_output_and_the_summary_on_standard_error(
    budget, tmp_path
):
    run = budget("plan", "min-cost", "-o", "-")
    assert run.out.startswith("# Cheapest model")
    assert "![" not in run.out
    assert "27.68B" in run.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("output", "file"),
    [("here.md", "here.md"), ("out/", "out/min-cost.md"), ("a/b/c.md", "a/b/c.md")],
)
def test_output_may_be_a_file_or_a_folder(budget, tmp_path, output, file):
    assert budget("plan", "min-cost", "-o", output, "--no-plots").code == 0
    assert (tmp_path / file).read_text().startswith("# Cheapest model")


def test_several_scenarios_make_a_list_of_plans(budget):
    plans = json.loads(budget("plan", "llama3-8b", "llama3-405b", "-f", "json").out)
    assert [p["scenario"] for p in plans] == ["llama3-8b", "llama3-405b"]


def test_csv_is_one_row_a_scenario_with_the_flattened_keys(budget, tmp_path):
    run = budget("plan", "llama3-8b", "llama3-405b", "-f", "csv", "-o", "plans.csv")
    assert run.code == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "plans.csv").read_text())))
    assert [r["scenario"] for r in rows] == ["llama3-8b", "llama3-405b"]
    assert float(rows[1]["pretraining.flop"]) == pytest.approx(3.8e25, rel=1e-3)
    assert {"model.active_params", "total_cost_usd", "status"} <= set(rows[0])


def test_quiet_keeps_the_answer(budget):
    run = budget("plan", "gpt5", "-q", "--no-plots")
    assert run.out.count("\n") == 1
    assert "100B active parameters" in run.out
    assert run.err == ""


def test_quiet_json_is_json_alone(budget):
    run = budget("plan", "gpt5", "-q", "-f", "json")
    json.loads(run.out)
    assert run.err == ""


def test_verbose_shows_the_certificate(budget):
    assert "kkt_residual" in budget("plan", "min-cost", "-v", "--no-plots").out


def test_one_infeasible_scenario_does_not_hide_the_others(budget, scenario, tmp_path):
    bad = scenario("min-cost", ('match = { params = "100B", tokens = "2T" }', "loss = 1.6"))
    run = budget("plan", bad, "llama3-8b", "--no-plots")
    assert run.code == 3
    assert (tmp_path / "reports" / "llama3-8b.md").exists()
    assert "mine.toml" in run.err


def test_law_option_is_the_same_as_setting_the_key(budget):
    one = budget("plan", "min-cost", "--law", "hoffmann-2022", "-f", "json")
    two = budget("plan", "min-cost", "--set", "law.pretraining=hoffmann-2022", "-f", "json")
    assert one.out == two.out


def test_the_report_says_how_to_make_it_again(budget):
    run = budget(
        "plan", "gpt5", "--set", "traffic.output=80 Mtok/s", "--law", "hoffmann-2022", "-o", "-"
    )
    assert (
        "budget plan scenarios/gpt5.toml --set 'traffic.output=80 Mtok/s' "
        "--set law.pretraining=hoffmann-2022"
    ) in run.out


def test_reports_hold_no_absolute_path_and_no_date(budget, scenario, tmp_path):
    path = tmp_path / scenario("min-cost")
    budget("plan", str(path), "-o", "out/")
    for file in (tmp_path / "out").iterdir():
        text = file.read_text()
        assert str(tmp_path) not in text
        assert "dc:date" not in text


def test_uncertified_plans_exit_4(budget, monkeypatch):
    from budget.solve import convex

    monkeypatch.setattr(convex, "TOLERANCE", -1.0)
    run = budget("plan", "min-cost", "-f", "json")
    assert run.code == 4
    assert json.loads(run.out)["status"] == "optimal-not-certified"
    assert "optimality is not proven" in run.err


@pytest.mark.parametrize("command", [[], ["plan"], ["laws"], ["laws", "show"], ["schema"]])
def test_every_command_has_help_with_an_example(budget, command):
    run = budget(*command, "--help")
    assert run.code == 0
    assert "Example" in run.out
    assert "budget " in run.out


def test_help_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['budget', '--help']\n"
        "from budget.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'sympy', 'scipy', 'numpy', 'pandas', 'matplotlib', 'pydantic', 'pint', 'rich'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_a_closed_pipe_is_not_an_error(tmp_path):
    budget = Path(sys.executable).parent / "budget"
    done = subprocess.run(
        f"{budget} plan gpt5 -o - -q | head -1",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith("# GPT-5")
    assert done.stderr == ""


def test_no_colour_when_not_a_terminal(budget):
    assert "\x1b" not in budget("plan", "min-cost", "--no-plots").out


def test_schema_is_a_json_schema_that_accepts_the_shipped_scenarios(budget):
    import tomllib

    import jsonschema

    from budget.scenario import shipped

    schema = json.loads(budget("schema").out)
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    for path in shipped().values():
        data = tomllib.loads(path.read_text())
        assert not list(validator.iter_errors(data)), path
        assert list(validator.iter_errors({**data, "gaol": 1}))


def test_a_pipe_is_written_to_and_never_replaced(budget, tmp_path):
    import os
    import stat
    import threading

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    assert budget("plan", "min-cost", "-q", "-o", "pipe").code == 0
    reader.join(10)
    assert read[0].startswith("# Cheapest model")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [p.name for p in tmp_path.iterdir()] == ["pipe"]


def test_a_link_is_followed(budget, tmp_path):
    (tmp_path / "real.md").write_text("old")
    (tmp_path / "link.md").symlink_to("real.md")
    assert budget("plan", "min-cost", "-q", "--no-plots", "-o", "link.md").code == 0
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "real.md").read_text().startswith("# Cheapest model")


def test_two_reports_never_share_a_place(budget, scenario, tmp_path):
    scenario("min-cost")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.toml").write_text((tmp_path / "mine.toml").read_text())
    run = budget("plan", "mine.toml", "other/mine.toml", "-o", "out/")
    assert run.code == 2
    assert "two scenarios are called 'mine'" in run.err
    run = budget("plan", "min-cost", "gpt5", "-o", "both.md")
    assert run.code == 2
    assert "names one file for 2 scenarios" in run.err


def test_a_full_disk_is_not_called_a_bug(budget, monkeypatch):
    import click

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    real = click.echo
    monkeypatch.setattr(click, "echo", lambda *a, **k: real(*a, **k) if k.get("err") else full())
    run = budget("plan", "min-cost", "-f", "json", "-q")
    assert run.code == 1
    assert run.err == "Error: No space left on device\n"


def test_overrides_replace_the_summary_that_they_may_falsify(budget):
    out = budget("plan", "gpt5", "--set", "model.active_params=70B", "-o", "-", "-q").out
    assert "100B active parameters serving" not in out
    assert "The scenario scenarios/gpt5.toml with `model.active_params = 70B`." in out


def test_assumptions_name_the_comment_the_option_or_the_default(budget):
    out = budget("plan", "gpt5", "--set", "pretraining.mfu=0.4", "-o", "-", "-q").out
    assert "| `pretraining.mfu` | 0.4 | --set |" in out
    assert "| `inference.redundancy` | 1 | default |" in out
    assert "| `pretraining.goodput` | 0.9 | Share of paid time that trains" in out


def test_a_byte_order_mark_is_ignored(budget, scenario, tmp_path):
    path = tmp_path / scenario("min-cost")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert budget("plan", "mine.toml", "-f", "json", "-q").code == 0


def test_plans_that_are_given_are_not_called_optimal_in_the_report(budget):
    out = budget("plan", "llama3-8b", "-o", "-", "-q").out
    assert "| Status | evaluated, not optimised: goal fixed |" in out
    data = json.loads(budget("plan", "llama3-8b", "-f", "json", "-q").out)
    optimal = data["baselines"][0]["total_cost_usd"]
    import math

    assert data["certificate"]["gap"] == pytest.approx(math.log(data["total_cost_usd"] / optimal))


def test_loss_targets_are_not_carried_to_other_laws(budget):
    out = budget("plan", "min-cost", "--set", "goal.loss=1.95", "-o", "-", "-q").out
    assert "hoffmann-2022 |" not in out
    assert "no target for laws" in out


def test_a_plan_that_breaks_a_limit_is_not_said_to_cost_less(budget):
    out = budget("plan", "gpt5", "--set", "data.unique_tokens=10T", "-o", "-", "-q").out
    assert "costs -$" not in out
    assert "This plan breaks data.unique_tokens" in out
