"""Derivatives of a law by central differences in high precision: an oracle for `laws.compile`."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import sympy as sp

from laws.law import Law

DIGITS = 50
"""Working precision [decimal digits]; steps of 1e-12 leave two dozen of them for the result."""

_PRECISE = {
    "excess": lambda r: max(r - 1, 0),
    "capped": lambda r: min(r, 1),
    "beyond": lambda r: 1 if r > 1 else 0,
    "ramp": lambda t: max(t, 0),
    "step": lambda t: 1 if t > 0 else 0,
    "logistic": lambda x: 1 / (1 + mpmath.exp(-x)),
}


def precise(law: Law) -> Callable[..., mpmath.mpf]:
    """The law as a function of its variables in the working precision of mpmath."""
    constants = {s: sp.Float(v, 50) for s, v in law.substitutions.items()}
    expression = law.form.expression.xreplace(constants)
    compiled: Callable[..., mpmath.mpf] = sp.lambdify(
        law.form.variables, expression, modules=[_PRECISE, "mpmath"]
    )
    return compiled


def difference(
    function: Callable[..., mpmath.mpf], centre: list[mpmath.mpf], along: list[int]
) -> mpmath.mpf:
    """Central difference, once in each of `along`, with steps of 1e-12 of the argument."""
    if not along:
        return function(*centre)
    index, *rest = along
    step = centre[index] * mpmath.mpf(10) ** -12
    up, down = list(centre), list(centre)
    up[index] += step
    down[index] -= step
    return (difference(function, up, rest) - difference(function, down, rest)) / (2 * step)
