"""Users' own laws: a TOML file with a formula as text, constants, units and ranges.

.. code-block:: toml

    name = "mylaw"
    formula = "E + A / N^alpha + B / D^beta"
    irreducible = "E"
    source = "our runs of March 2026, notebook 12"
    param_count = "total"

    [constants]
    E = 1.75
    A = { value = 420.0, unit = "nat/token param^alpha", stderr = 60 }
    ...

    [validity]
    N = { low = 1e8, high = 7e9, unit = "param" }

Variables are N (parameters), D (pretraining tokens) and, if the law depends on repetition, U
(unique tokens). The formula is read by `laws.parse` and nothing else; text is never
evaluated.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sympy as sp

from laws import curvature
from laws.form import Form
from laws.law import Constant, Law, Range, Source
from laws.parse import FormulaError, parse
from laws.symbols import D, N, U

VARIABLES = {"N": N, "D": D, "U": U}
_KEYS = {
    "name",
    "formula",
    "irreducible",
    "source",
    "summary",
    "param_count",
    "data",
    "notes",
    "constants",
    "validity",
}
_CONSTANT_KEYS = {"value", "unit", "stderr", "note", "digits"}


class LawFileError(ValueError):
    """A law file that cannot be used; the message says where and what was expected."""


def load(path: str | Path) -> Law:
    """Read a law file. Raises `LawFileError`."""
    file = Path(path)
    try:
        text = file.read_bytes().decode("utf-8")
    except OSError as error:
        raise LawFileError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise LawFileError(f"{file}: not UTF-8") from None
    return loads(text, str(file.name), file.stem)


def loads(text: str, label: str, name: str) -> Law:
    """Read a law from TOML text. Raises `LawFileError`."""
    try:
        raw = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise LawFileError(f"{label}: not valid TOML: {error}") from None
    try:
        return _law(raw, name)
    except LawFileError as error:
        raise LawFileError(f"{label}: {error}") from None


def _law(raw: Mapping[str, Any], name: str) -> Law:
    unknown = set(raw) - _KEYS
    if unknown:
        raise LawFileError(f"unknown key '{min(unknown)}'; known: {', '.join(sorted(_KEYS))}")
    for key in ("formula", "source", "constants"):
        if key not in raw:
            raise LawFileError(f"'{key}' is missing")
    constants = {k: _constant(k, v) for k, v in _table(raw, "constants").items()}
    form = _form(raw, str(raw.get("name", name)), constants)
    return Law(
        name=form.name,
        summary=_text(raw, "summary", "a law of your own"),
        form=form,
        constants=constants,
        source=Source(_text(raw, "source", ""), "none", "law file", "by its author"),
        param_count=_text(raw, "param_count", "total"),
        data=_text(raw, "data", "not stated"),
        validity={k: _range(k, v) for k, v in _table(raw, "validity").items()},
        notes=tuple(str(n) for n in raw.get("notes", [])),
    )


def _form(raw: Mapping[str, Any], name: str, constants: Mapping[str, Constant]) -> Form:
    symbols = {
        # "Positive" is claimed only of constants that are.
        k: sp.Symbol(k, positive=True) if c.value > 0 else sp.Symbol(k, real=True)
        for k, c in constants.items()
    }
    known = {**VARIABLES, **symbols}
    statement = _formula(raw, "formula", known)
    irreducible = _formula(raw, "irreducible", symbols) if "irreducible" in raw else sp.S.Zero
    used = statement.free_symbols
    variables = tuple(v for v in VARIABLES.values() if v in used)
    for needed in (N, D):
        if needed not in used:
            raise LawFileError(f"formula does not contain {needed}: a loss law needs N and D")
    idle = [k for k, s in symbols.items() if s not in used | irreducible.free_symbols]
    if idle:
        raise LawFileError(f"constant '{idle[0]}' does not occur in the formula")
    proof = curvature.log_convex(statement - irreducible, variables)
    return Form(
        name=name,
        statement=statement,
        variables=variables,
        constants=tuple(symbols.values()),
        meaning=_text(raw, "summary", "a law of your own"),
        irreducible=irreducible,
        log_convex=proof is not None,
        convexity=proof or "not claimed",
        units={k: c.unit for k, c in constants.items()},
    )


def _formula(raw: Mapping[str, Any], key: str, names: Mapping[str, sp.Symbol]) -> sp.Expr:
    text = raw[key]
    if not isinstance(text, str):
        raise LawFileError(f"{key}: expected text, got {text!r}")
    try:
        return parse(text, names)
    except FormulaError as error:
        raise LawFileError(f"{key}: {error}") from None


def _constant(key: str, entry: object) -> Constant:
    if key in VARIABLES:
        raise LawFileError(f"constants.{key}: '{key}' is a variable")
    if not key.isidentifier() or not key.isascii() or key.startswith("_"):
        raise LawFileError(f"constants.{key}: not a name (letters, digits, _)")
    table = entry if isinstance(entry, dict) else {"value": entry}
    unknown = set(table) - _CONSTANT_KEYS
    if unknown:
        raise LawFileError(f"constants.{key}: unknown key '{min(unknown)}'")
    value = _number(f"constants.{key}", table.get("value"))
    stderr = table.get("stderr")
    return Constant(
        value=value,
        unit=str(table.get("unit", "1")),
        digits=int(_number(f"constants.{key}.digits", table.get("digits", 17))),
        stderr=None if stderr is None else _number(f"constants.{key}.stderr", stderr),
        note=str(table.get("note", "")),
    )


def _range(key: str, entry: object) -> Range:
    if not isinstance(entry, dict) or not {"low", "high"} <= set(entry):
        raise LawFileError(f"validity.{key}: expected {{ low = ..., high = ..., unit = '...' }}")
    low, high = (_number(f"validity.{key}.{end}", entry[end]) for end in ("low", "high"))
    if low > high:
        raise LawFileError(f"validity.{key}: low {low:g} exceeds high {high:g}")
    return Range(low, high, str(entry.get("unit", "1")))


def _number(where: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise LawFileError(f"{where}: expected a finite number, got {value!r}")
    return float(value)


def _table(raw: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    table = raw.get(key, {})
    if not isinstance(table, dict):
        raise LawFileError(f"{key}: expected a table, got {table!r}")
    return table


def _text(raw: Mapping[str, Any], key: str, default: str) -> str:
    value = raw.get(key, default)
    if not isinstance(value, str):
        raise LawFileError(f"{key}: expected text, got {value!r}")
    return value
