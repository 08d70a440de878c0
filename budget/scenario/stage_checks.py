"""Hardware that a scenario must state in full, and the error that all checks raise."""

from __future__ import annotations

from typing import Any

from budget import catalog
from budget.errors import ScenarioError
from budget.scenario.schema import RL, Inference, Pretraining, Stage

STAGE_FIELDS = ("chip", "precision", "mfu", "goodput", "chip_price")


def fail(key: str, message: str) -> None:
    """Raise the error of a key."""
    raise ScenarioError(message, key)


def stage(table: Stage | None, name: str, part: str | None) -> None:
    """Every hardware field of a stage must be stated in its table or in its parent, and exist."""
    assert isinstance(table, Pretraining | RL | Inference)
    inner = getattr(table, part) if part else None
    label = f"{name}.{part}" if part else name
    for field in STAGE_FIELDS:
        if getattr(table, field) is None and (inner is None or getattr(inner, field) is None):
            hint = _seen(table, inner) if field == "chip_price" else ""
            fail(f"{label}.{field}", f"required: there is no default (here or in [{name}]){hint}")
    stated: dict[str, tuple[Any, str]] = {}
    for field in ("chip", "precision", "peak"):
        own = getattr(inner, field) if inner is not None else None
        where = f"{label}.{field}" if own is not None else f"{name}.{field}"
        stated[field] = (own if own is not None else getattr(table, field), where)
    chip = catalog.chip(*stated["chip"])
    precision, where = stated["precision"]
    if stated["peak"][0] is None:
        chip.peak_at(precision, where)
    else:
        chip.refuse_sparse(stated["peak"][0], precision, stated["peak"][1])


def _seen(table: Stage, inner: Stage | None) -> str:
    """What the catalogue has seen a chip rented for: a hint, never a default."""
    name = inner.chip if inner is not None and inner.chip is not None else table.chip
    chip = catalog.chip(str(name), "chip")
    return f"; {chip.id} was seen at {chip.rent} ({chip.rent_note})" if chip.rent else ""
