"""Quantities and counts: what is read is what was written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget.quantity import parse_count, parse_quantity
from budget.text import count, dollars, exact, significant

AMOUNTS = st.floats(1e-6, 1e12, allow_nan=False)


@given(AMOUNTS)
def test_rates_scale_with_their_prefix(x):
    one = parse_quantity(f"{x!r} tok/s", "token/s", "")
    for prefix, factor in (("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)):
        assert parse_quantity(f"{x!r} {prefix}tok/s", "token/s", "") == pytest.approx(one * factor)


@given(AMOUNTS)
def test_durations_agree_across_units(x):
    seconds = parse_quantity(f"{x!r} days", "s", "")
    assert parse_quantity(f"{24 * x!r} hours", "s", "") == pytest.approx(seconds, rel=1e-12)
    assert parse_quantity(f"{86400 * x!r} s", "s", "") == pytest.approx(seconds, rel=1e-12)
    assert parse_quantity(f"{x / 365.25!r} years", "s", "") == pytest.approx(seconds, rel=1e-12)


@given(AMOUNTS)
def test_prices_are_per_second_inside(x):
    assert parse_quantity(f"{x!r} USD/hour", "USD/s", "") == pytest.approx(x / 3600, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("50 Mtok/s", "token/s", 5e7),
        ("60 days", "s", 5184000.0),
        ("2.10 USD/hour", "USD/s", 2.10 / 3600),
        ("0.15 USD/Mtok", "USD/token", 0.15e-6),
        ("989 TFLOP/s", "FLOP/s", 989e12),
        ("60 MUSD", "USD", 60e6),
        ("5.2e6 s", "s", 5.2e6),
        ("1_000 tok/s", "token/s", 1000.0),
        ("  3   tok / s ", "token/s", 3.0),
    ],
)
def test_the_examples_of_the_design(text, unit, value):
    assert parse_quantity(text, unit, "") == pytest.approx(value, rel=1e-15)


@given(st.floats(1e-3, 999, allow_nan=False))
def test_counts_read_back(x):
    for suffix, factor in (("K", 1e3), ("M", 1e6), ("B", 1e9), ("T", 1e12)):
        assert parse_count(f"{x!r}{suffix}") == pytest.approx(x * factor, rel=1e-15)
        assert parse_count(f"{x!r}{suffix.lower()}") == parse_count(f"{x!r}{suffix}")


@given(st.floats(1.0, 1e17, allow_nan=False))
def test_printed_counts_read_back_to_their_digits(x):
    assert parse_count(count(x)) == pytest.approx(x, rel=5e-4)
    assert float(exact(x).split("(")[1].rstrip(")")) == pytest.approx(x, rel=5e-7)


@given(st.floats(1e-2, 1e14, allow_nan=False))
def test_printed_dollars_and_numbers_read_back(x):
    text = dollars(x, 6).removeprefix("$").replace(",", "")
    if x >= 1e3:
        assert parse_count(text) == pytest.approx(x, rel=1e-3)
    assert float(significant(x).replace(",", "")) == pytest.approx(x, rel=5e-3)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    for parse in (parse_count, lambda t: parse_quantity(t, "s", "60 days")):
        try:
            value = parse(text)
        except ValueError as error:
            assert "expected" in str(error)
        else:
            assert isinstance(value, float)
