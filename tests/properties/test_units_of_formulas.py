"""Every formula is dimensionally homogeneous, and the check can fail."""

from __future__ import annotations

import pytest
import sympy as sp

import laws
from laws import units
from laws.symbols import D, N, constant

EXPECTED = {
    "allocation": {"param": 1},
    "tokens-of-compute": {"token": 1},
    "batch": {"token": 1},
    "batch-of-compute": {"token": 1},
    "critical-batch": {"token": 1},
    "model-scale-of-compute": {"FLOP": 1, "token": -1},
    "size-over-data": {"param": 1, "token": -1},
    "routed-effective-params": {"param": 1},
    "precision-effective-params": {"param": 1},
    "train-test-trade": {"FLOP": 1},
}


@pytest.mark.parametrize("name", list(laws.FORMS))
def test_form_is_homogeneous(name):
    found = units.of_form(laws.FORMS[name])
    kind = laws.FORMS[name].kind
    assert found == ({"FLOP": 1} if kind == "flop" else EXPECTED.get(name, {}))


@pytest.mark.parametrize("name", laws.names())
def test_constants_carry_the_units_of_their_form(name):
    law = laws.get(name)
    for symbol in law.form.constants:
        assert law.constants[str(symbol)].unit == law.form.units.get(str(symbol), "1"), symbol


alpha = constant("alpha")
PARAM, TOKEN = {"param": sp.Integer(1)}, {"token": sp.Integer(1)}


@pytest.mark.parametrize(
    "expression",
    [N + D, N + 1, sp.exp(N), sp.log(D), N**D, N**alpha + D**alpha, (N / D) ** (1 + N)],
)
def test_unlike_quantities_are_refused(expression):
    with pytest.raises(units.UnitError):
        units.dimension(expression, {N: PARAM, D: TOKEN, alpha: {}})


@pytest.mark.parametrize("unit", ["parsec", "token^", "token^(beta)", "token token^(N", "/"])
def test_unreadable_units_are_refused(unit):
    with pytest.raises(units.UnitError):
        units.parse(unit, {"alpha": alpha})


def test_units_with_symbolic_exponents_cancel():
    A = constant("A")
    known = {A: units.parse("nat/token param^alpha", {"alpha": alpha}), N: PARAM, alpha: {}}
    assert units.dimension(A * N**-alpha, known) == {}
