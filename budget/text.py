"""Numbers as people read them. One place, so that summary, report and figures agree."""

from __future__ import annotations

import math
from collections.abc import Callable

_SUFFIXES = ((1e15, "Q"), (1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K"))


def significant(value: float, digits: int = 4) -> str:
    """`value` with significant digits and no exponent where that is readable."""
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e6:
        decimals = max(digits - 1 - math.floor(math.log10(abs(value))), 0)
        return f"{value:,.{decimals}f}"
    return f"{value:.{digits - 1}e}"


def count(value: float, digits: int = 4) -> str:
    """Parameters or tokens: ``259.2T``."""
    for size, suffix in _SUFFIXES:
        if abs(value) >= size * 0.99995:
            return f"{value / size:.{digits}g}{suffix}"
    return f"{value:.{digits}g}"


def exact(value: float) -> str:
    """Parameters or tokens, short and to seven digits: ``27.68B (2.768279e10)``."""
    mantissa, exponent = f"{value:.6e}".split("e")
    return f"{count(value)} ({mantissa}e{int(exponent)})"


def scientific(value: float, digits: int = 4) -> str:
    """FLOP and other huge numbers: ``1.889e25``."""
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def dollars(value: float, digits: int = 4) -> str:
    """Money: ``$34.62M``; cents below a thousand dollars."""
    sign = "-" if value < 0 else ""
    amount = abs(value)
    for size, suffix in _SUFFIXES[1:4]:
        if amount >= size * 0.99995:
            return f"{sign}${amount / size:.{digits}g}{suffix}"
    return f"{sign}${amount:,.2f}" if amount < 1e3 else f"{sign}${amount:,.0f}"


def percent(value: float) -> str:
    """A share: ``23.8 %``."""
    return f"{100 * value:.1f} %"


def factor(value: float) -> str:
    """A ratio: ``143x``."""
    return f"{value:.3g}x" if value < 1000 else f"{value:,.0f}x"


def bound_on(value: float) -> str:
    """A residual as a power of ten that it stays below, so that reports do not jitter."""
    if value <= 1e-12:
        return "below 1e-12"
    return f"below 1e{math.ceil(math.log10(value) - 1e-9)}"


def input_value(value: float, unit: str) -> str:
    """An input in the unit people state it in."""
    known = _IN_UNIT.get(unit)
    return f"{value:.10g} {unit}" if known is None else known(value)


def _duration(seconds: float) -> str:
    days = seconds / 86400
    return f"{days:.6g} days" if days >= 2 else f"{24 * days:.6g} hours"


_IN_UNIT: dict[str, Callable[[float], str]] = {
    "1": lambda v: f"{v:.10g}",
    "USD": lambda v: dollars(v, 6),
    "USD/s": lambda v: f"{v * 3600:.6g} USD/hour",
    "s": _duration,
    "FLOP/s": lambda v: f"{v / 1e12:.6g} TFLOP/s",
    "token": lambda v: f"{count(v, 6)} tokens",
    "param": lambda v: f"{count(v, 6)} parameters",
    "token/s": lambda v: f"{count(v, 6)} tokens/s",
    "nat/token": lambda v: f"{v:.6g} nat/token",
    "token/param": lambda v: f"{v:.6g} tokens/parameter",
}
