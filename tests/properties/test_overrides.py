"""`--set` changes what it names and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget.errors import ScenarioError
from budget.scenario.loading import find_line
from budget.scenario.overrides import apply, parse_assignment

KEYS = st.lists(st.text("abcdefg_", min_size=1, max_size=5), min_size=1, max_size=3).map(".".join)


@given(KEYS, st.integers())
def test_a_set_key_reads_back_and_the_original_is_untouched(key, value):
    raw: dict[str, object] = {"zz": {"keep": 1}}
    changed = apply(raw, [(key, value)])
    found: object = changed
    for part in key.split("."):
        found = found[part]
    assert found == value
    assert changed["zz"] == {"keep": 1}
    assert raw == {"zz": {"keep": 1}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a.b=1.5", 1.5),
        ("a.b=50 Mtok/s", "50 Mtok/s"),
        ('a.b="50 Mtok/s"', "50 Mtok/s"),
        ("a.b=70B", "70B"),
        ("a.b = true", True),
        ("a.b={x = 1}", {"x": 1}),
        ("a.b=x=y", "x=y"),
    ],
)
def test_values_are_toml_where_they_can_be(text, value):
    assert parse_assignment(text) == ("a.b", value)


@given(st.text(max_size=60))
def test_any_text_is_an_assignment_or_refused(text):
    try:
        key, _ = parse_assignment(text)
    except ScenarioError as error:
        assert "expected KEY=VALUE" in str(error)
    else:
        assert key in text


def test_exclusive_keys_replace_each_other():
    raw = {"traffic": {"output": "1 tok/s", "lifetime": "1 day"}, "goal": {"loss": 2.0}}
    changed = apply(raw, [("traffic.output_tokens", 5), ("goal.match.params", "1B")])
    assert changed == {
        "traffic": {"output_tokens": 5, "lifetime": "1 day"},
        "goal": {"match": {"params": "1B"}},
    }


def test_lines_are_found_in_tables_dotted_keys_and_inline_tables():
    text = "[a]\nx = 1\n[b.c]\n# comment\ny.z = 2\nw = { v = 3 }\n[[d]]\nu = 1\n"
    assert find_line(text, ["a", "x"]) == 2
    assert find_line(text, ["b", "c", "y", "z"]) == 5
    assert find_line(text, ["b", "c", "w", "v"]) == 6
    assert find_line(text, ["a", "missing"]) == 1
    assert find_line(text, ["nowhere"]) is None


def test_values_given_are_not_changed_by_later_ones():
    table = {"x": 1}
    apply({}, [("a", table), ("a.y", 2)])
    assert table == {"x": 1}
