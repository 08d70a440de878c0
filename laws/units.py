"""Units of formulas: every law must be dimensionally homogeneous.

Units are products of powers whose exponents may be constants of the law (``param^alpha``).
Losses in nat per token are pure numbers here: "per token" is an average, not a dimension, and
the laws add such losses to powers of tokens.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import sympy as sp

from laws.form import VARIABLE_UNITS, Form
from laws.symbols import ramp

BASE = ("FLOP", "byte", "bit", "token", "param", "USD", "second", "char", "step", "sample")
_LOSS = ("nat/token", "token/nat")
_FACTOR = re.compile(
    r"(?P<slash>/?)\s*(?P<name>[A-Za-z]+)(?:\^(?P<power>\([^()]+\)|[A-Za-z0-9_.-]+))?\s*"
)

Dimension = dict[str, sp.Expr]


class UnitError(ValueError):
    """A formula that adds unlike quantities, or a unit that cannot be read."""


def parse(unit: str, constants: Mapping[str, sp.Symbol]) -> Dimension:
    """Exponent of every base unit, e.g. of ``"nat/token param^alpha"``. Raises `UnitError`."""
    text = unit.strip()
    for loss in _LOSS:
        text = text.removeprefix(loss).strip()
    if text in ("", "1"):
        return {}
    found: Dimension = {}
    position = 0
    while position < len(text):
        match = _FACTOR.match(text, position)
        if match is None or match["name"] not in BASE:
            raise UnitError(f"cannot read the unit '{unit}' (base units: {', '.join(BASE)})")
        exponent = _exponent(match["power"], constants, unit)
        if match["slash"]:
            exponent = -exponent
        found[match["name"]] = found.get(match["name"], sp.S.Zero) + exponent
        position = match.end()
    return _clean(found)


def _exponent(text: str | None, constants: Mapping[str, sp.Symbol], unit: str) -> sp.Expr:
    if text is None:
        return sp.S.One
    from laws.parse import FormulaError
    from laws.parse import parse as parse_formula

    try:
        return parse_formula(text, constants)
    except FormulaError as error:
        raise UnitError(f"cannot read the exponent '{text}' in the unit '{unit}'") from error


def of_form(form: Form) -> Dimension:
    """Dimension of a form's value. Raises `UnitError` if it is not homogeneous."""
    constants = {str(c): c for c in form.constants}
    known: dict[sp.Symbol, Dimension] = {
        c: parse(form.units.get(str(c), "1"), constants) for c in form.constants
    }
    for variable in form.variables:
        known[variable] = parse(VARIABLE_UNITS.get(str(variable), "1"), constants)
    return dimension(form.expression, known)


def dimension(expression: sp.Expr, known: Mapping[sp.Symbol, Dimension]) -> Dimension:
    """Dimension of an expression whose symbols have the dimensions `known`."""
    if isinstance(expression, sp.Symbol):
        return known[expression]
    if isinstance(expression, sp.Mul):
        return _product([dimension(a, known) for a in expression.args])
    if isinstance(expression, sp.Add):
        return _alike(expression, known)
    if isinstance(expression, sp.Pow):
        base, exponent = expression.args
        _number(exponent, known)
        return _clean({u: e * exponent for u, e in dimension(base, known).items()})
    if isinstance(expression, ramp):
        return dimension(expression.args[0], known)
    # Numbers, and functions of numbers: exp, log, expm1, excess, capped.
    for argument in expression.args:
        _number(argument, known)
    return {}


def _product(parts: list[Dimension]) -> Dimension:
    total: Dimension = {}
    for part in parts:
        for unit, exponent in part.items():
            total[unit] = total.get(unit, sp.S.Zero) + exponent
    return _clean(total)


def _alike(expression: sp.Expr, known: Mapping[sp.Symbol, Dimension]) -> Dimension:
    first, *others = expression.args
    expected = dimension(first, known)
    for other in others:
        found = dimension(other, known)
        if _product([found, {u: -e for u, e in expected.items()}]):
            raise UnitError(f"adds {render(expected)} ({first}) to {render(found)} ({other})")
    return expected


def _number(expression: sp.Expr, known: Mapping[sp.Symbol, Dimension]) -> None:
    found = dimension(expression, known)
    if found:
        raise UnitError(f"needs a pure number, got {render(found)} in {expression}")


def _clean(found: Dimension) -> Dimension:
    simplified = {u: sp.expand(e) for u, e in found.items()}
    return {u: e for u, e in simplified.items() if sp.cancel(e) != 0}


def render(found: Dimension) -> str:
    """A dimension as text."""
    parts = [u if e == 1 else f"{u}^({e})" for u, e in sorted(found.items())]
    return " ".join(parts) or "a pure number"
