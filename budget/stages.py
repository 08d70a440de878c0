"""Hardware of a stage: from FLOP to chip-hours to dollars."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from budget import catalog
from budget.inputs import Inputs
from budget.scenario.schema import Stage

SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True)
class Hardware:
    """A stage's chip as symbols; `flop_per_second` is what one paid chip-second delivers."""

    name: str
    chip: str
    precision: str
    peak: sp.Symbol
    mfu: sp.Symbol
    goodput: sp.Symbol
    price: sp.Symbol
    peak_source: str

    def chip_seconds(self, flop: sp.Expr) -> sp.Expr:
        """Paid chip-seconds for `flop` model FLOP."""
        return flop / (self.peak * self.mfu * self.goodput)

    def cost(self, flop: sp.Expr) -> sp.Expr:
        """Dollars for `flop` model FLOP."""
        return self.chip_seconds(flop) * self.price


def resolve(inputs: Inputs, table: Stage, name: str, part: str | None = None) -> Hardware:
    """Look up a stage's fields, its own first and its table's next, and register them."""
    inner: Stage | None = getattr(table, part) if part else None

    def field(key: str) -> tuple[object, str]:
        value = getattr(inner, key) if inner is not None else None
        if value is not None:
            return value, f"{name}.{part}.{key}"
        return getattr(table, key), f"{name}.{key}"

    def number(key: str, unit: str) -> sp.Symbol:
        value, where = field(key)
        assert isinstance(value, float | int)
        return inputs.add(where, float(value), unit)

    chip_name, chip_key = field("chip")
    chip = catalog.chip(str(chip_name), chip_key)
    precision, precision_key = str(field("precision")[0]), field("precision")[1]
    stated, peak_key = field("peak")
    if stated is not None:
        assert isinstance(stated, float)
        peak = inputs.add(peak_key, stated, "FLOP/s")
        peak_source = "scenario"
    else:
        value = chip.peak_at(precision, precision_key)
        peak_source = f"catalogue: {chip.source}"
        peak = inputs.add(f"catalog.{chip.id}.{precision}", value, "FLOP/s", peak_source)
    return Hardware(
        name=f"{name}.{part}" if part else name,
        chip=chip.id,
        precision=precision,
        peak=peak,
        mfu=number("mfu", "1"),
        goodput=number("goodput", "1"),
        price=number("chip_price", "USD/s"),
        peak_source=peak_source,
    )
