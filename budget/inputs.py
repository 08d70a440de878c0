"""Numeric inputs of a plan: every number the answer depends on, as a symbol with a source."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import sympy as sp


@dataclass(frozen=True)
class Input:
    """One number: dotted key of the scenario (or `law.alpha`, `catalog.h100-sxm.bf16`)."""

    key: str
    value: float
    unit: str
    source: str


@dataclass
class Inputs:
    """Registry of inputs; the same key always yields the same symbol."""

    entries: dict[str, Input] = field(default_factory=dict)
    symbols: dict[str, sp.Symbol] = field(default_factory=dict)

    def add(self, key: str, value: float, unit: str, source: str = "scenario") -> sp.Symbol:
        """Register an input and return its symbol."""
        if key not in self.entries:
            self.entries[key] = Input(key, float(value), unit, source)
            # Non-negative in fact; "positive" lets SymPy merge powers and is harmless at zero.
            # A name that is a Python identifier spares lambdify a substitution for every input.
            self.symbols[key] = sp.Symbol(re.sub(r"\W", "_", key), positive=True)
        return self.symbols[key]

    @property
    def values(self) -> dict[sp.Symbol, float]:
        """Symbol to value."""
        return {self.symbols[k]: e.value for k, e in self.entries.items()}
