"""Chips and released models as data, looked up by name or alias, case-insensitively."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any, TypeVar

from budget.errors import ScenarioError, did_you_mean
from budget.quantity import parse_quantity

T = TypeVar("T")

_SAME_FIGURE = 0.01
"""Relative distance below which a stated peak is taken for the sparse figure."""


@dataclass(frozen=True)
class Chip:
    """An accelerator. Peaks are dense [FLOP/s] by precision; `sparse` is what vendors headline."""

    id: str
    name: str
    peak: Mapping[str, float]
    sparse: Mapping[str, float]
    source: str
    rent: str
    rent_note: str
    note: str

    def peak_at(self, precision: str, where: str) -> float:
        """Dense peak at a precision; raises `ScenarioError` where none is known."""
        try:
            return self.peak[precision]
        except KeyError:
            known = ", ".join(self.peak)
            note = f" ({self.note})" if self.note else ""
            raise ScenarioError(
                f"no {precision} peak is known for {self.id}{note}; known: {known}. "
                "State peak = '... TFLOP/s' (dense) to use your own",
                where,
            ) from None

    def refuse_sparse(self, peak: float, precision: str, where: str) -> None:
        """Raise `ScenarioError` if `peak` is the 2:1 sparse figure of `precision`."""
        sparse = self.sparse.get(precision)
        if sparse and abs(peak / sparse - 1.0) < _SAME_FIGURE:
            raise ScenarioError(
                f"{peak / 1e12:.6g} TFLOP/s is the 2:1 sparse figure of {self.id} at {precision}; "
                f"the dense peak is {self.peak[precision] / 1e12:.6g} TFLOP/s",
                where,
            )


@dataclass(frozen=True)
class Model:
    """A released model; counts are exact and include the vocabulary tables unless named."""

    id: str
    name: str
    total_params: float
    active_params: float
    non_embedding_params: float
    input_table_params: float
    source: str

    def counted(self, param_count: str) -> float:
        """Active parameters in the count a law uses: non-embedding laws leave both tables out."""
        if param_count == "non-embedding":
            return self.active_params - (self.total_params - self.non_embedding_params)
        return self.active_params

    @property
    def matmul_params(self) -> float:
        """Active parameters that matrix products read: all but the input table."""
        return self.active_params - self.input_table_params


def chip(name: str, where: str) -> Chip:
    """Look up a chip. Raises `ScenarioError` for an unknown or ambiguous name."""
    return _find(name, _chips(), "chip", where)


def model(name: str, where: str) -> Model:
    """Look up a released model. Raises `ScenarioError` for an unknown name."""
    return _find(name, _models(), "model", where)


def chips() -> dict[str, Chip]:
    """All chips by id."""
    return dict(_chips()[0])


def _find(name: str, table: tuple[dict[str, T], dict[str, str]], kind: str, where: str) -> T:
    entries, aliases = table
    key = aliases.get(name.casefold(), name.casefold())
    if key in entries:
        return entries[key]
    variants = [e for e in entries if e.startswith(f"{key}-")]
    if variants:
        raise ScenarioError(f"{kind} '{name}' is ambiguous: {' or '.join(variants)}", where)
    hint = did_you_mean(name, [*entries, *aliases]) or f"; known: {', '.join(entries)}"
    raise ScenarioError(f"no {kind} named '{name}'{hint}", where)


def _read(file: str) -> dict[str, Any]:
    return tomllib.loads((resources.files("budget.catalog") / file).read_text(encoding="utf-8"))


def _aliases(document: dict[str, Any]) -> dict[str, str]:
    return {alias: key for key, entry in document.items() for alias in entry.get("aliases", [])}


@lru_cache(maxsize=1)
def _chips() -> tuple[dict[str, Chip], dict[str, str]]:
    document = _read("chips.toml")
    return {key: _chip(key, entry) for key, entry in document.items()}, _aliases(document)


def _chip(key: str, entry: dict[str, Any]) -> Chip:
    def rates(name: str) -> dict[str, float]:
        stated = entry.get(name, {})
        return {p: parse_quantity(v, "FLOP/s", "989 TFLOP/s") for p, v in stated.items()}

    return Chip(
        id=key,
        name=entry["name"],
        peak=rates("peak"),
        sparse=rates("sparse"),
        source=entry["source"],
        rent=entry.get("rent", ""),
        rent_note=entry.get("rent_note", ""),
        note=entry.get("note", ""),
    )


@lru_cache(maxsize=1)
def _models() -> tuple[dict[str, Model], dict[str, str]]:
    document = _read("models.toml")
    found = {
        key: Model(
            id=key,
            name=entry["name"],
            total_params=float(entry["total_params"]),
            active_params=float(entry["active_params"]),
            non_embedding_params=float(entry["non_embedding_params"]),
            input_table_params=float(entry["input_table_params"]),
            source=entry["source"],
        )
        for key, entry in document.items()
    }
    return found, _aliases(document)
