"""Loads `laws/constants/*.toml` into `Law` objects. The files hold every number."""

from __future__ import annotations

import difflib
import math
import tomllib
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from laws import (
    allocation,
    compute,
    downstream,
    hyperparameters,
    moe,
    precision,
    rl,
    testtime,
    vocabulary,
)
from laws.form import KINDS, Form, Kind
from laws.law import Constant, Covariance, Law, Range, Source
from laws.loss import chinchilla, data_constrained, farseer, kaplan, over_trained, power

_MODULES = (
    chinchilla,
    kaplan,
    data_constrained,
    over_trained,
    farseer,
    power,
    allocation,
    hyperparameters,
    moe,
    precision,
    vocabulary,
    rl,
    testtime,
    downstream,
    compute,
)

FORMS: dict[str, Form] = {
    form.name: form
    for module in _MODULES
    for form in vars(module).values()
    if isinstance(form, Form)
}
"""Every formula of the library, by name."""


class UnknownLawError(LookupError):
    """No law of that name; the message holds the nearest names."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.nearest = nearest(name, [*names(), *_aliases()])
        hint = f"; did you mean {' or '.join(self.nearest)}?" if self.nearest else ""
        super().__init__(f"no law named '{name}'{hint}")


def nearest(name: str, choices: list[str]) -> list[str]:
    """At most three of `choices` that look like `name`."""
    folded = {c.casefold(): c for c in choices}
    found = difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)
    return [folded[f] for f in found]


def names(kind: Kind | None = None) -> list[str]:
    """Names of all laws with constants, in the order of the files, of one kind if given."""
    return [n for n, law in _laws().items() if kind is None or law.form.kind == kind]


def get(name: str) -> Law:
    """Return a law by its name or an alias, case-insensitively, or from a ``.toml`` file.

    Raises `UnknownLawError` naming the nearest laws, or `laws.LawFileError`.
    """
    if name.endswith(".toml"):
        return _from_file(name)
    key = name.casefold()
    key = _aliases().get(key, key)
    try:
        return _laws()[key]
    except KeyError:
        raise UnknownLawError(name) from None


def _from_file(name: str) -> Law:
    path = Path(name)
    # Read again only when the file has changed: a plan looks its law up many times.
    stamp = path.stat().st_mtime_ns if path.exists() else 0
    return _read_file(name, stamp)


@lru_cache(maxsize=16)
def _read_file(name: str, _stamp: int) -> Law:
    from laws.files import load

    return load(name)


def forms(kind: Kind | None = None) -> list[Form]:
    """All forms, also those whose constants the user must bring."""
    return [f for f in FORMS.values() if kind is None or f.kind == kind]


@lru_cache(maxsize=1)
def _documents() -> list[dict[str, Any]]:
    folder = resources.files("laws") / "constants"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    return [tomllib.loads(f.read_text(encoding="utf-8")) for f in files]


@lru_cache(maxsize=1)
def _laws() -> dict[str, Law]:
    found = [
        _law(name, entry, document)
        for document in _documents()
        for name, entry in document["laws"].items()
    ]
    order = list(KINDS)
    found.sort(key=lambda law: order.index(law.form.kind))
    return {law.name: law for law in found}


@lru_cache(maxsize=1)
def _aliases() -> dict[str, str]:
    return {
        alias: name
        for document in _documents()
        for name, entry in document["laws"].items()
        for alias in entry.get("aliases", [])
    }


def _law(name: str, entry: dict[str, Any], document: dict[str, Any]) -> Law:
    source = Source(
        paper=document["paper"],
        arxiv=document["arxiv"],
        where=entry["where"],
        checked=entry["checked"],
    )
    return Law(
        name=name,
        summary=entry["summary"],
        form=FORMS[entry["form"]],
        constants={n: _constant(c) for n, c in entry["constants"].items()},
        source=source,
        param_count=entry["param_count"],
        data=entry["data"],
        validity={n: Range(v["low"], v["high"], v["unit"]) for n, v in entry["validity"].items()},
        notes=tuple(entry.get("notes", [])),
        correlations=entry.get("correlations", {}),
        covariance=_covariance(entry.get("covariance")),
    )


def _covariance(entry: dict[str, Any] | None) -> Covariance | None:
    if entry is None:
        return None
    return Covariance(
        tuple(entry["parameters"]), tuple(tuple(row) for row in entry["matrix"]), entry["note"]
    )


def _constant(entry: dict[str, Any]) -> Constant:
    # A paper that fits in logarithms prints ln A; the file keeps what is printed.
    value = math.exp(entry["ln"]) if "ln" in entry else float(entry["value"])
    return Constant(
        value=value,
        unit=entry["unit"],
        digits=entry["digits"],
        stderr=entry.get("stderr"),
        note=entry.get("note", ""),
        of_logarithm="ln" in entry,
    )
