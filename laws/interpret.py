"""Evaluate an expression once, with its exact gradient, without compiling it.

Compilation (`laws.compile`) pays off from a few dozen calls on; a number that is wanted once is
cheaper by walking the expression. The gradient is reverse-mode differentiation of the same
tree: exact, in all symbols at the cost of about one more walk.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import sympy as sp
from sympy.codegen.cfunctions import expm1

from laws.symbols import beyond, capped, excess, logistic, ramp, step

Values = Mapping[sp.Symbol, float]


def evaluate(expressions: Iterable[sp.Expr], values: Values) -> list[float]:
    """Numbers of expressions at `values`; common subexpressions are evaluated once."""
    known: dict[sp.Basic, float] = {}
    return [_walk(e, values, known) for e in expressions]


def value_and_gradient(
    expression: sp.Expr, symbols: Sequence[sp.Symbol], values: Values
) -> tuple[float, list[float]]:
    """Value and partial derivatives in `symbols` of one expression."""
    known: dict[sp.Basic, float] = {}
    value = _walk(expression, values, known)
    adjoint: dict[sp.Basic, float] = dict.fromkeys(known, 0.0)
    adjoint[expression] = 1.0
    # `known` holds children before parents; walk it backwards.
    for node in reversed(list(known)):
        weight = adjoint[node]
        if weight and node.args:
            for child, slope in zip(node.args, _slopes(node, known), strict=True):
                adjoint[child] += weight * slope
    return value, [adjoint.get(s, 0.0) for s in symbols]


def _walk(node: sp.Basic, values: Values, known: dict[sp.Basic, float]) -> float:
    found = known.get(node)
    if found is None:
        if isinstance(node, sp.Symbol):
            found = float(values[node])
        elif not node.args:
            found = float(node)
        else:
            found = _OPERATIONS[node.func]([_walk(a, values, known) for a in node.args])
        known[node] = found
    return found


def _power(arguments: Sequence[float]) -> float:
    base, exponent = arguments
    try:
        return float(base**exponent)
    except (OverflowError, ZeroDivisionError):
        return math.inf


def _exp(arguments: Sequence[float]) -> float:
    try:
        return math.exp(arguments[0])
    except OverflowError:
        return math.inf


def _logistic(x: float) -> float:
    return 0.5 * (1.0 + math.tanh(0.5 * x))


def _log(arguments: Sequence[float]) -> float:
    return math.log(arguments[0]) if arguments[0] > 0 else -math.inf


_OPERATIONS: dict[type, Callable[[Sequence[float]], float]] = {
    sp.Add: math.fsum,
    sp.Mul: math.prod,
    sp.Pow: _power,
    sp.exp: _exp,
    sp.log: _log,
    expm1: lambda a: math.expm1(a[0]),
    excess: lambda a: max(a[0] - 1.0, 0.0),
    capped: lambda a: min(a[0], 1.0),
    beyond: lambda a: 1.0 if a[0] > 1.0 else 0.0,
    ramp: lambda a: max(a[0], 0.0),
    step: lambda a: 1.0 if a[0] > 0.0 else 0.0,
    logistic: lambda a: _logistic(a[0]),
}


def _slopes(node: sp.Basic, known: Mapping[sp.Basic, float]) -> list[float]:
    """Partial derivative of a node in each of its arguments."""
    arguments = [known[a] for a in node.args]
    kind = node.func
    if kind is sp.Add:
        return [1.0] * len(arguments)
    if kind is sp.Mul:
        return [
            math.prod(arguments[:i]) * math.prod(arguments[i + 1 :]) for i in range(len(arguments))
        ]
    if kind is sp.Pow:
        base, exponent = arguments
        slope = exponent * _power((base, exponent - 1.0)) if exponent else 0.0
        return [slope, known[node] * math.log(base) if base > 0 else 0.0]
    (x,) = arguments
    return [_UNARY[kind](x)]


_UNARY: dict[type, Callable[[float], float]] = {
    sp.exp: lambda x: _exp([x]),
    sp.log: lambda x: 1.0 / x,
    expm1: lambda x: _exp([x]),
    excess: lambda x: 1.0 if x > 1.0 else 0.0,
    capped: lambda x: 0.0 if x > 1.0 else 1.0,
    beyond: lambda x: 0.0,  # noqa: ARG005
    ramp: lambda x: 1.0 if x > 0.0 else 0.0,
    step: lambda x: 0.0,  # noqa: ARG005
    logistic: lambda x: _logistic(x) * _logistic(-x),
}
