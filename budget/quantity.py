"""Quantities in scenario files: a string with a unit, in; a float in a base unit, out.

Units come from pint with a registry of our own, so that `Mtok`, `USD` and `FLOP` mean one
thing and nothing else is accepted by accident. Base units are token, second, USD, FLOP,
byte; a derived value is the product of them (FLOP/s, USD/s, token/s).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic.json_schema import JsonSchemaValue
from pydantic_core.core_schema import CoreSchema, no_info_plain_validator_function

if TYPE_CHECKING:
    import pint

_DEFINITIONS = """\
kilo- = 1e3 = k-
mega- = 1e6 = M-
giga- = 1e9 = G-
tera- = 1e12 = T-
peta- = 1e15 = P-
exa- = 1e18 = E-
milli- = 1e-3 = m-
second = [time] = s = sec
minute = 60 * second = min
hour = 3600 * second = h = hr
day = 24 * hour = d
week = 7 * day
month = 30.4375 * day
year = 365.25 * day = yr
token = [token] = tok
USD = [money] = usd = dollar
FLOP = [flop] = flop
"""

_COUNT_SUFFIX = {"": 1.0, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12, "Q": 1e15}
_NUMBER = r"[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_COUNT = re.compile(rf"\s*({_NUMBER})\s*([KMBTQ]?)\s*", re.IGNORECASE)
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*([A-Za-z].*?)\s*")
# Names joined by / or * only: what a scenario needs, and nothing that pint would evaluate.
_UNIT = re.compile(r"[A-Za-z]+(?:\s*[/*]\s*[A-Za-z]+){0,3}")


@lru_cache(maxsize=1)
def _registry() -> pint.UnitRegistry[Any]:
    import pint

    registry: pint.UnitRegistry[Any] = pint.UnitRegistry(None)
    for line in _DEFINITIONS.splitlines():
        registry.define(line)
    return registry


def parse_count(value: object) -> float:
    """A count from a number or a suffixed string: ``"100B"``, ``"15T"``, ``2e12``.

    Raises `ValueError` with what was expected.
    """
    if isinstance(value, bool):
        raise ValueError(f"expected a count, got {value!r}")
    if isinstance(value, int | float):
        return _finite(float(value), value)
    if isinstance(value, str):
        match = _COUNT.fullmatch(value)
        if match:
            return _finite(float(match[1]) * _COUNT_SUFFIX[match[2].upper()], value)
    raise ValueError(
        f"expected a count such as 2e12 or '15T' (K, M, B, T for 1e3 to 1e12), got {value!r}"
    )


def parse_quantity(value: object, unit: str, example: str) -> float:
    """A quantity in `unit` from a string such as ``"50 Mtok/s"``.

    Raises `ValueError` for a bare number, an unknown unit or a wrong dimension.
    """
    import pint

    if not isinstance(value, str):
        raise ValueError(f"needs a unit, e.g. '{example}'; got the bare number {value!r}")
    match = _QUANTITY.fullmatch(value)
    if not match:
        kind = "needs a unit" if re.fullmatch(rf"\s*{_NUMBER}\s*", value) else "is not a quantity"
        raise ValueError(f"{value!r} {kind}; expected e.g. '{example}'")
    registry = _registry()
    try:
        if not _UNIT.fullmatch(match[2]):
            raise ValueError
        parsed = registry.parse_units(match[2])
    except (pint.errors.PintError, ValueError):
        raise ValueError(
            f"unknown unit '{match[2]}' in {value!r}; expected e.g. '{example}'"
        ) from None
    if not parsed.is_compatible_with(registry.parse_units(unit)):
        raise ValueError(
            f"{value!r} is not in {unit} or a multiple of it; expected e.g. '{example}'"
        )
    factor = registry.Quantity(1.0, parsed).to(registry.parse_units(unit)).magnitude
    return _finite(float(match[1]) * float(factor), value)


def _finite(number: float, value: object) -> float:
    if not math.isfinite(number):
        raise ValueError(f"expected a finite number, got {value!r}")
    return number


def utilisation(value: float) -> float:
    """A share of a chip's peak or of paid time: above 0, at most 1. Raises `ValueError`."""
    if not 0 < value <= 1:
        raise ValueError(
            f"must be above 0 and at most 1, got {value:g}: a chip cannot deliver more than its "
            "dense peak; 40 % is written 0.4"
        )
    return value


@dataclass(frozen=True)
class Quantity:
    """Annotation of a schema field: a quantity stored in `unit`, positive unless `zero`."""

    unit: str
    example: str
    zero: bool = False

    def parse(self, value: object) -> float:
        """Parse and check the sign. Raises `ValueError`."""
        return _checked(parse_quantity(value, self.unit, self.example), self.zero)

    def __get_pydantic_core_schema__(self, *_: object) -> CoreSchema:
        return no_info_plain_validator_function(self.parse)

    def __get_pydantic_json_schema__(self, *_: object) -> JsonSchemaValue:
        return {
            "type": "string",
            "description": f"a quantity in {self.unit}",
            "examples": [self.example],
        }


@dataclass(frozen=True)
class Count:
    """Annotation of a schema field: a count, positive unless `zero`."""

    zero: bool = False

    def parse(self, value: object) -> float:
        """Parse and check the sign. Raises `ValueError`."""
        return _checked(parse_count(value), self.zero)

    def __get_pydantic_core_schema__(self, *_: object) -> CoreSchema:
        return no_info_plain_validator_function(self.parse)

    def __get_pydantic_json_schema__(self, *_: object) -> JsonSchemaValue:
        return {
            "anyOf": [{"type": "number"}, {"type": "string"}],
            "description": "a count: a number, or a string with suffix K, M, B or T",
            "examples": ["100B", 2e12],
        }


def _checked(value: float, zero: bool) -> float:
    if value < 0 or (value == 0 and not zero):
        raise ValueError(f"must {'not be negative' if zero else 'be positive'}, got {value:g}")
    return value
