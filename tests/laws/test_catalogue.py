"""The constants carry their provenance, and every law can be found and shown."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import tomllib
from decimal import Decimal
from importlib import resources
from typing import Any

import pytest

import laws
from laws import render

NAMES = laws.names()
FILES = sorted(
    (f for f in (resources.files("laws") / "constants").iterdir() if f.name.endswith(".toml")),
    key=lambda f: f.name,
)
# Decimal keeps the digits as they are written in the file.
DOCUMENTS = [tomllib.loads(f.read_text(encoding="utf-8"), parse_float=Decimal) for f in FILES]
ENTRIES: dict[str, dict[str, Any]] = {n: e for d in DOCUMENTS for n, e in d["laws"].items()}
ALIASES = {alias: n for n, e in ENTRIES.items() for alias in e.get("aliases", [])}
CONSTANTS = [
    pytest.param(n, c, id=f"{n}-{c}") for n, law in ENTRIES.items() for c in law["constants"]
]

each_law = pytest.mark.parametrize("name", NAMES)
each_constant = pytest.mark.parametrize(("name", "constant"), CONSTANTS)
each_form = pytest.mark.parametrize("form", laws.forms(), ids=lambda f: f.name)


def significant(number: Decimal | int) -> int:
    return len(Decimal(number).normalize().as_tuple().digits)


# -- provenance ----------------------------------------------------------------------


def test_every_entry_of_the_files_is_a_law():
    assert sorted(ENTRIES) == sorted(NAMES)
    assert sum(len(d["laws"]) for d in DOCUMENTS) == len(NAMES)


@each_constant
def test_constant_has_unit_and_digits(name, constant):
    found = laws.get(name).constants[constant]
    assert found.unit.strip()
    assert isinstance(found.digits, int)
    assert found.digits >= 1


@each_constant
def test_constant_is_a_number_its_symbol_allows(name, constant):
    law = laws.get(name)
    (symbol,) = (c for c in law.form.constants if str(c) == constant)
    value = law.constants[constant].value
    assert math.isfinite(value)
    assert value > 0 or not symbol.is_positive


@each_constant
def test_constant_claims_no_fewer_digits_than_it_is_written_with(name, constant):
    entry = ENTRIES[name]["constants"][constant]
    assert ("ln" in entry) != ("value" in entry)
    assert significant(entry["ln"] if "ln" in entry else entry["value"]) <= entry["digits"]


@each_constant
def test_constant_is_loaded_as_written(name, constant):
    entry, found = ENTRIES[name]["constants"][constant], laws.get(name).constants[constant]
    if "value" in entry:
        assert significant(Decimal(repr(found.value))) <= found.digits
        assert found.value == float(entry["value"])
    else:
        assert math.log(found.value) == pytest.approx(float(entry["ln"]), rel=1e-15)


@each_constant
def test_standard_error_is_positive_where_given(name, constant):
    error = laws.get(name).constants[constant].stderr
    assert error is None or 0 < error < math.inf


@each_law
def test_law_names_its_source_and_how_it_was_checked(name):
    law = laws.get(name)
    assert re.fullmatch(r"\d{4}\.\d{5}", law.source.arxiv)
    assert re.search(r"\b(19|20)\d\d\b", law.source.paper)
    assert law.source.where.strip()
    assert law.source.checked.strip()
    assert law.source.arxiv in str(law.source)


@each_law
def test_law_says_what_it_counts_and_on_which_data(name):
    law = laws.get(name)
    assert law.summary.strip()
    assert law.param_count.strip()
    assert law.data.strip()


@each_law
def test_validity_ranges_are_ranges(name):
    for span in laws.get(name).validity.values():
        assert 0 < span.low < span.high < math.inf
        assert span.unit.strip()


@pytest.mark.parametrize("name", laws.names("loss"))
def test_loss_laws_say_where_their_runs_lie(name):
    law = laws.get(name)
    assert law.validity
    assert set(law.validity) <= {*map(str, law.form.variables), "D/N", "C"}


def test_a_law_speaks_up_outside_its_runs():
    law = laws.get("hoffmann-2022")
    assert law.outside(N=1e9, D=20e9) == []
    (message,) = law.outside(N=160e9, D=20e9)
    assert "10 times the largest of the runs" in message
    (message,) = law.outside(N=1e9, D=5e8)
    assert "0.1 times the smallest of the runs" in message


@each_law
def test_loaded_constants_are_those_of_the_form(name):
    law = laws.get(name)
    assert set(law.constants) == set(map(str, law.form.constants))
    assert law.constant_values == tuple(law.constants[str(c)].value for c in law.form.constants)


# -- names ---------------------------------------------------------------------------


@each_law
def test_names_are_found_in_any_case(name):
    law = laws.get(name)
    assert law.name == name
    assert laws.get(name.upper()) is law
    assert laws.get(name.title()) is law


@pytest.mark.parametrize("alias", ALIASES)
def test_aliases_resolve_in_any_case(alias):
    assert laws.get(alias).name == ALIASES[alias]
    assert laws.get(alias.upper()) is laws.get(alias)


def test_no_alias_hides_a_law_or_another_alias():
    given = [alias for e in ENTRIES.values() for alias in e.get("aliases", [])]
    assert len(given) == len(set(given))
    assert not set(given) & set(NAMES)


@each_law
def test_misspelt_name_is_answered_with_the_right_one(name):
    with pytest.raises(laws.UnknownLawError) as caught:
        laws.get(name.replace("-", "", 1))
    assert name in str(caught.value)
    assert name in caught.value.nearest


def test_unknown_name_is_repeated_with_the_nearest_laws():
    with pytest.raises(laws.UnknownLawError, match="no law named 'besiroglu'") as caught:
        laws.get("besiroglu")
    assert "did you mean besiroglu-2024" in str(caught.value)
    assert len(caught.value.nearest) <= 3


@pytest.mark.parametrize("name", ["", "zzzzzzzzzz"])
def test_hopeless_name_gets_no_suggestion(name):
    with pytest.raises(laws.UnknownLawError) as caught:
        laws.get(name)
    assert str(caught.value) == f"no law named '{name}'"


def test_unknown_law_is_a_lookup_error():
    assert issubclass(laws.UnknownLawError, LookupError)


def test_kinds_partition_the_laws():
    kinds = {law.form.kind for law in map(laws.get, NAMES)}
    assert sorted(n for kind in kinds for n in laws.names(kind)) == sorted(NAMES)
    assert {f.kind for f in laws.forms()} >= kinds


# -- showing -------------------------------------------------------------------------


@each_law
def test_law_is_plain_data(name):
    found = laws.get(name).to_dict()
    assert {"name", "formula", "constants", "source", "validity"} <= set(found)
    assert found["name"] == name
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@each_law
def test_plain_data_keeps_the_constants_exactly(name):
    law = laws.get(name)
    found = json.loads(json.dumps(law.to_dict()))
    assert found["constants"] == {n: c.value for n, c in law.constants.items()}
    assert set(found["constant_details"]) == set(law.constants)


@each_law
def test_page_shows_formula_constants_and_source(name):
    law = laws.get(name)
    page = render.markdown(law)
    assert page.startswith(f"# {name}\n")
    assert render.form_latex(law.form) in page
    assert law.source.arxiv in page
    for constant in law.constants:
        assert f"| {constant} | " in page


@each_form
def test_formula_names_every_symbol_of_the_expression(form):
    assert render.form_latex(form).strip()
    symbols = set(map(str, form.expression.free_symbols))
    assert symbols <= set(re.findall(r"\w+", render.formula(form)))


@each_form
def test_formula_braces_balance(form):
    text = render.form_latex(form)
    assert text.count("{") == text.count("}")
    assert text.count(r"\left") == text.count(r"\right")


@each_form
def test_form_says_what_it_means(form):
    assert form.meaning.strip()
    assert (form.convexity == "not claimed") == (not form.log_convex)


# -- layers --------------------------------------------------------------------------


def test_laws_work_without_budget():
    program = (
        "import sys, laws\n"
        "from laws import render\n"
        "for name in laws.names(): laws.get(name).to_dict(), render.markdown(laws.get(name))\n"
        "sys.exit(any(m.partition('.')[0] == 'budget' for m in sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
