"""`budget laws` and `budget laws show`."""

from __future__ import annotations

import json

import laws


def test_list_names_every_law(budget):
    run = budget("laws")
    assert run.code == 0
    for name in laws.names():
        assert name in run.out


def test_list_names_the_forms_whose_constants_the_user_brings(budget):
    out = budget("laws").out
    assert "rl-power" in out
    assert "rl-sigmoid" in out


def test_json_is_a_list_with_the_contract_keys(budget):
    data = json.loads(budget("laws", "--format", "json").out)
    assert [law["name"] for law in data] == laws.names()
    for law in data:
        assert {"name", "formula", "constants", "source", "validity"} <= set(law)
    by_name = {law["name"]: law for law in data}
    assert by_name["besiroglu-2024"]["constants"]["alpha"] == 0.3478


def test_kind_filters(budget):
    data = json.loads(budget("laws", "--kind", "allocation", "-f", "json").out)
    assert {law["kind"] for law in data} == {"allocation"}


def test_show_renders_formula_constants_source_and_optimum(budget):
    out = budget("laws", "show", "besiroglu-2024").out
    assert "```math" in out
    assert "482.01" in out
    assert "124.58" in out
    assert "2404.10102" in out
    assert "7.225e+10" in out


def test_show_accepts_aliases_in_any_case(budget):
    assert "# hoffmann-2022\n" in budget("laws", "show", "Chinchilla").out


def test_show_latex_is_the_formula_alone(budget):
    assert budget("laws", "show", "hoffmann-2022", "-f", "latex").out == (
        "L(N, D) = A N^{- \\alpha} + B D^{- \\beta} + E\n"
    )


def test_show_json(budget):
    law = json.loads(budget("laws", "show", "kaplan-2020", "-f", "json").out)
    assert law["param_count"] == "non-embedding"


def test_rounded_hoffmann_constants_carry_the_note_on_20_tokens_per_parameter(budget):
    out = budget("laws", "show", "hoffmann-2022").out
    assert "do not reproduce 20 tokens per parameter" in out
    assert "92.6" in out


def test_search_filters_by_name_summary_and_source(budget):
    names = [
        law["name"] for law in json.loads(budget("laws", "--search", "routed", "-f", "json").out)
    ]
    assert names
    assert all(name.startswith("clark") for name in names)


def test_show_takes_the_compute_to_show_the_optimum_at(budget):
    out = budget("laws", "show", "besiroglu-2024", "--compute", "5e26").out
    assert "| 5e+26 | 2.318e+12 |" in out
    assert "at 5e+26 FLOP: 0.75 N*:" in out
    assert budget("laws", "show", "besiroglu-2024", "--compute", "-1").code == 2
