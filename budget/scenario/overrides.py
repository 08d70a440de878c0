"""`--set a.b.c=value`: change one key of the raw scenario before it is validated."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from budget.errors import ScenarioError

_EXCLUSIVE = (
    ("goal.loss", "goal.score", "goal.match"),
    ("traffic.output", "traffic.output_tokens"),
    ("traffic.input", "traffic.input_tokens"),
    ("model.sparsity", "model.total_params"),
    ("law.rl", "rl.law"),
)
"""Keys of which a scenario may hold one: setting one removes the others."""


def parse_assignment(text: str) -> tuple[str, Any]:
    """Split ``a.b.c=value``; the value is TOML if it reads as TOML, else a string."""
    key, equals, value = text.partition("=")
    key, value = key.strip(), value.strip()
    if not equals or not key or not value:
        raise ScenarioError(
            f"expected KEY=VALUE, e.g. traffic.output='50 Mtok/s'; got '{text}'", "--set"
        )
    try:
        return key, tomllib.loads(f"value = {value}")["value"]
    except (ValueError, RecursionError):  # not TOML, or a number or nesting beyond its limits
        return key, value


def apply(raw: Mapping[str, Any], changes: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return a copy of `raw` with dotted keys set."""
    result = copy.deepcopy(dict(raw))
    for key, value in changes:
        for group in _EXCLUSIVE:
            mine = [k for k in group if key == k or key.startswith(f"{k}.")]
            if mine:
                for other in group:
                    if other not in mine:
                        _remove(result, other)
        _set(result, key, copy.deepcopy(value))
    return result


def _set(table: dict[str, Any], key: str, value: Any) -> None:
    *parents, last = key.split(".")
    if not last or not all(parents):
        raise ScenarioError(f"'{key}' is not a dotted key", "--set")
    for index, parent in enumerate(parents):
        table = table.setdefault(parent, {})
        if not isinstance(table, dict):
            raise ScenarioError(
                f"'{'.'.join(parents[: index + 1])}' is not a table", f"--set {key}"
            )
    table[last] = value


def _remove(table: dict[str, Any], key: str) -> None:
    *parents, last = key.split(".")
    for parent in parents:
        inner = table.get(parent)
        if not isinstance(inner, dict):
            return
        table = inner
    table.pop(last, None)
