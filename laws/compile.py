"""Symbolic expression to vectorised numeric value, gradient and Hessian.

The only place where formulas become code. Everything is lambdified once per
(expression, arguments) with common subexpressions shared, and cached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike, NDArray

from laws.symbols import NUMPY

_MODULES: list[Any] = [NUMPY, "numpy"]


def lambdify(
    arguments: Sequence[sp.Symbol], outputs: Sequence[sp.Expr]
) -> Callable[..., list[Any]]:
    """Compile `outputs` as one function of `arguments`, sharing subexpressions; cached.

    Overflow yields infinity without a warning: at the far ends of a search that is the answer.
    """
    return _lambdify(tuple(arguments), tuple(outputs))


@lru_cache(maxsize=512)
def _lambdify(
    arguments: tuple[sp.Symbol, ...], outputs: tuple[sp.Expr, ...]
) -> Callable[..., list[Any]]:
    compiled: Callable[..., list[Any]] = sp.lambdify(
        list(arguments), list(outputs), modules=_MODULES, cse=True
    )
    return np.errstate(all="ignore")(compiled)


@dataclass(frozen=True)
class Compiled:
    """A formula as numeric functions of `arguments`.

    `wrt` names the arguments that derivatives are taken in. All methods broadcast
    over array arguments of shape (...,): `value` returns (...), `gradient` (..., k)
    and `hessian` (..., k, k), with k = len(wrt).
    """

    expression: sp.Expr
    arguments: tuple[sp.Symbol, ...]
    wrt: tuple[sp.Symbol, ...]

    @cached_property
    def first(self) -> list[sp.Expr]:
        """Symbolic first derivatives."""
        return [sp.diff(self.expression, s) for s in self.wrt]

    @cached_property
    def second(self) -> list[sp.Expr]:
        """Symbolic second derivatives, upper triangle by rows."""
        k = len(self.wrt)
        return [sp.diff(self.first[i], self.wrt[j]) for i in range(k) for j in range(i, k)]

    @cached_property
    def _value(self) -> Callable[..., list[Any]]:
        return lambdify(self.arguments, [self.expression])

    @cached_property
    def _gradient(self) -> Callable[..., list[Any]]:
        return lambdify(self.arguments, self.first)

    @cached_property
    def _hessian(self) -> Callable[..., list[Any]]:
        return lambdify(self.arguments, self.second)

    def value(self, *arguments: ArrayLike) -> NDArray[np.float64]:
        """Evaluate the formula."""
        floats, shape = _as_floats(arguments)
        return np.broadcast_to(self._value(*floats)[0], shape).astype(float)

    def gradient(self, *arguments: ArrayLike) -> NDArray[np.float64]:
        """Evaluate the gradient in `wrt`."""
        floats, shape = _as_floats(arguments)
        return _stack(self._gradient(*floats), shape)

    def hessian(self, *arguments: ArrayLike) -> NDArray[np.float64]:
        """Evaluate the Hessian in `wrt`."""
        floats, shape = _as_floats(arguments)
        k = len(self.wrt)
        upper = _stack(self._hessian(*floats), shape)
        full = np.empty((*shape, k, k))
        rows, columns = np.triu_indices(k)
        full[..., rows, columns] = upper
        full[..., columns, rows] = upper
        return full


def _as_floats(
    arguments: Sequence[ArrayLike],
) -> tuple[list[NDArray[np.float64]], tuple[int, ...]]:
    # Integer columns overflow in 6*N*D beyond 9.2e18: always go through float.
    floats = [np.asarray(a, dtype=float) for a in arguments]
    return floats, np.broadcast_shapes(*(f.shape for f in floats))


def _stack(parts: Sequence[Any], shape: tuple[int, ...]) -> NDArray[np.float64]:
    return np.stack([np.broadcast_to(p, shape) for p in parts], axis=-1).astype(float)


@lru_cache(maxsize=256)
def compile_expression(
    expression: sp.Expr, arguments: tuple[sp.Symbol, ...], wrt: tuple[sp.Symbol, ...]
) -> Compiled:
    """Return the cached `Compiled` of an expression."""
    return Compiled(expression, arguments, wrt)
