"""`budget check`, users' law files, `budget laws compare`."""

from __future__ import annotations

import json

import pytest

import laws

GOOD = """
name = "mylaw"
formula = "E + A / N^alpha + B / D^beta"
irreducible = "E"
source = "our runs of March 2026"

[constants]
E = 1.8172
A = { value = 482.01, unit = "nat/token param^alpha", stderr = 124.58 }
B = { value = 2085.43, unit = "nat/token token^beta" }
alpha = 0.3478
beta = 0.3658

[validity]
N = { low = 57e6, high = 16.2e9, unit = "param" }
D = { low = 0.82e9, high = 318e9, unit = "token" }
"""


@pytest.fixture
def law_file(tmp_path):
    def write(text: str = GOOD, *replacements: tuple[str, str]) -> str:
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "mylaw.toml").write_text(text, encoding="utf-8")
        return "mylaw.toml"

    return write


def test_all_our_laws_pass(budget):
    run = budget("check", "-q", "--examples", "20")
    assert run.code == 0, run.out
    assert "0 failed" in run.out
    assert "seed 0" in run.out


def test_a_named_law_shows_every_check(budget):
    run = budget("check", "hoffmann-2022", "--examples", "20", "--seed", "7")
    assert run.out.count("pass  hoffmann-2022") == 9
    assert "seed 7" in run.out


def test_json_lists_results(budget):
    data = json.loads(budget("check", "kaplan-2020", "-f", "json", "--examples", "5").out)
    assert data["seed"] == 0
    assert all(r["passed"] for r in data["results"])


def test_a_users_law_is_checked(budget, law_file):
    assert budget("check", law_file(), "--examples", "30").code == 0


@pytest.mark.parametrize(
    ("replacements", "sentence", "detail"),
    [
        ([("A / N^alpha", "A * N^alpha")], "loss falls with every input", "loss rises from"),
        ([("E + A", "A"), ('irreducible = "E"\n', ""), ("E = 1.8172\n", "")], None, None),
        ([("B / D^beta", "B / D^beta * (1 + N / D)")], "units are homogeneous", "adds"),
        ([('unit = "nat/token param^alpha"', 'unit = "1"')], "units are homogeneous", "param"),
        ([("E + A", "E - 3 + A")], "value is finite and positive", "value -"),
        ([("E + A", "E * 0.9 + A")], "loss approaches its irreducible part", "irreducible"),
        (
            [("482.01", "482.0123456"), ("stderr = 124.58", "digits = 5")],
            "constants survive printing",
            "is not its 5 digits",
        ),
    ],
)
def test_a_wrong_law_fails_with_a_counterexample(budget, law_file, replacements, sentence, detail):
    run = budget("check", law_file(GOOD, *replacements), "--examples", "100")
    if sentence is None:
        assert run.code == 0
        return
    assert run.code == 1
    (line,) = [li for li in run.out.splitlines() if li.startswith(f"FAIL  mylaw: {sentence}")]
    assert detail in line


def test_the_counterexample_is_the_smallest(budget, law_file):
    # Rises with N only beyond 1e9: shrinking must end just above it.
    path = law_file(
        GOOD, ("A / N^alpha", "A / min(N, 1000000000)^alpha + max(N - 1000000000, 0) / N")
    )
    run = budget("check", path, "--examples", "300")
    (line,) = [li for li in run.out.splitlines() if "loss falls" in li]
    size = float(line.split("N = ")[1].split(",")[0])
    assert 0.5e9 < size < 1.2e9


def test_a_law_that_rises_cannot_be_planned_with(budget, law_file):
    path = law_file(GOOD, ("A / N^alpha", "A * N^alpha"))
    run = budget("plan", "min-cost", "--law", path)
    assert run.code == 2
    assert "cannot be planned with: loss rises" in run.err


def test_a_law_outside_the_rules_is_planned_with_a_bound_and_says_what_it_rests_on(
    budget, law_file
):
    path = law_file(
        GOOD, ("B / D^beta", "B * exp(-beta * log(D))"), ('token token^beta"', 'token"')
    )
    run = budget("plan", "min-cost", "--law", path, "-f", "json")
    assert run.code == 0
    plan = json.loads(run.out)
    assert plan["certificate"]["convex"] is False
    assert plan["certificate"]["gap"] < 1.1e-3
    assert plan["model"]["active_params"] == pytest.approx(2.768279e10, rel=1e-6)


def test_same_seed_same_answer(budget, law_file):
    path = law_file(GOOD, ("A / N^alpha", "A * N^alpha"))
    assert budget("check", path).out == budget("check", path).out


def test_a_users_law_plans_shows_and_compares(budget, law_file):
    path = law_file()
    own = json.loads(budget("plan", "min-cost", "--law", path, "-f", "json").out)
    ours = json.loads(budget("plan", "min-cost", "-f", "json").out)
    assert own["model"] == ours["model"]
    assert own["certificate"]["convex"] is True
    assert own["laws"][0]["name"] == "mylaw"
    assert "our runs of March 2026" in budget("laws", "show", path).out
    table = json.loads(
        budget("laws", "compare", "besiroglu-2024", path, "--compute", "1e24", "-f", "json").out
    )
    assert table[0]["params"] == pytest.approx(table[1]["params"], rel=1e-12)


@pytest.mark.parametrize(
    ("replacements", "message"),
    [
        ([("A / N^alpha", "__import__('os')")], "unexpected character '_'"),
        ([("A / N^alpha", "A / M^alpha")], "unknown name 'M'"),
        ([("A / N^alpha", "A")], "does not contain N"),
        ([("formula", "formla")], "unknown key 'formla'"),
        ([('source = "our runs of March 2026"\n', "")], "'source' is missing"),
        ([("E = 1.8172", 'E = "1.8"')], "constants.E: expected a finite number, got '1.8'"),
        ([("E = 1.8172", "E = nan")], "expected a finite number"),
        ([("E = 1.8172", "E = 1.8172\nF = 3")], "constant 'F' does not occur"),
        ([("E = 1.8172", "E = 1.8172\nN = 3")], "'N' is a variable"),
        ([("stderr", "stdev")], "unknown key 'stdev'"),
        ([("low = 57e6", "low = 57e12")], "exceeds high"),
        ([("[constants]", "[constants")], "not valid TOML"),
    ],
)
def test_a_broken_law_file_says_what_is_wrong(budget, law_file, replacements, message):
    path = law_file(GOOD, *replacements)
    for command in (("check", path), ("plan", "min-cost", "--law", path), ("laws", "show", path)):
        run = budget(*command)
        assert run.code == 2, command
        assert message in run.err
        assert "mylaw.toml" in run.err


def test_a_missing_law_file(budget):
    assert "cannot be read" in budget("check", "nowhere.toml").err


def test_compare_puts_laws_side_by_side_and_flags_ranges(budget):
    run = budget("laws", "compare", "besiroglu-2024", "hoffmann-2022", "--compute", "5.76e23")
    assert run.code == 0
    assert "18.39" in run.out
    assert "92.65" in run.out
    assert "times the largest of the runs" in run.out


def test_compare_knows_rules_for_size_and_rules_for_tokens(budget):
    rows = json.loads(
        budget(
            "laws", "compare", "hoffmann-2022-approach1", "llama3-2024-tokens",
            "--compute", "3.8e25", "-f", "json",
        ).out
    )  # fmt: skip
    assert rows[1]["tokens"] == pytest.approx(1.629e13, rel=1e-3)
    for row in rows:
        assert 6 * row["params"] * row["tokens"] == pytest.approx(3.8e25, rel=1e-12)
        assert row["loss"] is None


@pytest.mark.parametrize(
    "arguments",
    [
        ("besiroglu-2024", "--compute", "-1"),
        ("besiroglu-2024", "--compute", "much"),
        ("muennighoff-2023", "--compute", "1e22"),
        ("tao-2024", "--compute", "1e22"),
    ],
)
def test_compare_refuses_what_it_cannot_compare(budget, arguments):
    run = budget("laws", "compare", *arguments)
    assert run.code == 2
    assert "Error" in run.err


def test_compare_with_repetition_needs_unique_tokens(budget):
    run = budget(
        "laws", "compare", "muennighoff-2023", "--compute", "1e22", "--unique-tokens", "10B"
    )
    assert "6.126e+09" in run.out


def test_catalogue_page_is_the_committed_one(budget):
    from pathlib import Path

    committed = (Path(__file__).parents[2] / "docs" / "laws.md").read_text(encoding="utf-8")
    out = budget("laws", "-f", "md").out
    assert out == committed
    for name in laws.names():
        assert f"## {name}\n" in out
