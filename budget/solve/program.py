r"""A mathematical programme in log space, from symbols to numeric functions.

.. math:: \min_x f(x, \theta) \quad \text{subject to} \quad g_i(x, \theta) \le 0,
          \; \ell \le x \le u

x are logarithms of the decision variables, theta the numeric inputs of the scenario. All
derivatives are symbolic. `signs` states in which direction each function can move
with each variable (+1, -1, 0): the bounded global solver relies on it, a property test
holds it against the gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from laws.compile import lambdify
from laws.interpret import value_and_gradient

Vector = NDArray[np.float64]


@lru_cache(maxsize=256)
def _gradient(expression: sp.Expr, variables: tuple[sp.Symbol, ...]) -> tuple[sp.Expr, ...]:
    # Cached: scenarios compared side by side differ in numbers, seldom in formulas.
    return tuple(sp.diff(expression, v) for v in variables)


@dataclass(frozen=True)
class Function:
    """One function of a programme: its name, expression and direction in each variable."""

    name: str
    expression: sp.Expr
    signs: tuple[int, ...]


@dataclass(frozen=True)
class Program:
    """See the module's docstring. Arrays are in the order of `variables`."""

    variables: tuple[sp.Symbol, ...]
    objective: Function
    constraints: tuple[Function, ...]
    inputs: tuple[sp.Symbol, ...]
    values: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    convex: bool

    @property
    def size(self) -> int:
        """Number of variables."""
        return len(self.variables)

    @property
    def functions(self) -> tuple[Function, ...]:
        """Objective first, then the constraints."""
        return (self.objective, *self.constraints)

    @cached_property
    def _gradients(self) -> list[list[sp.Expr]]:
        return [list(_gradient(f.expression, self.variables)) for f in self.functions]

    def _compile(self, outputs: Sequence[sp.Expr]) -> Callable[..., list[Any]]:
        return lambdify((*self.variables, *self.inputs), outputs)

    @cached_property
    def _value_function(self) -> Callable[..., list[Any]]:
        return self._compile([f.expression for f in self.functions])

    @cached_property
    def _first_function(self) -> Callable[..., list[Any]]:
        return self._compile([e for row in self._gradients for e in row])

    @cached_property
    def _second_function(self) -> Callable[..., list[Any]]:
        k = self.size
        return self._compile(
            [
                second
                for row in self._gradients
                for i in range(k)
                for second in _gradient(row[i], self.variables)[i:]
            ]
        )

    @cached_property
    def _single_functions(self) -> list[Callable[..., list[Any]]]:
        return [self._compile([f.expression]) for f in self.functions]

    def evaluate(self, x: Vector) -> Vector:
        """Values of objective and constraints, shape (1 + m, ...) for x of shape (k, ...)."""
        parts = self._value_function(*x, *self.values)
        return np.stack([np.broadcast_to(np.asarray(p, float), x.shape[1:]) for p in parts])

    def evaluate_one(self, index: int, x: Vector) -> Vector:
        """Row `index` of `evaluate`, without the work for the others."""
        (value,) = self._single_functions[index](*x, *self.values)
        return np.broadcast_to(np.asarray(value, float), x.shape[1:])

    def first(self, x: Vector) -> Vector:
        """Jacobian of objective and constraints, shape (1 + m, k)."""
        parts = self._first_function(*x, *self.values)
        return np.array(parts, dtype=float).reshape(-1, self.size)

    def second(self, x: Vector) -> Vector:
        """Hessians of objective and constraints, shape (1 + m, k, k)."""
        k = self.size
        upper = np.array(self._second_function(*x, *self.values), dtype=float)
        full = np.empty((len(self.functions), k, k))
        rows, columns = np.triu_indices(k)
        full[:, rows, columns] = upper.reshape(len(self.functions), -1)
        full[:, columns, rows] = full[:, rows, columns]
        return full

    def lagrangian_cross(self, x: Vector, multipliers: Vector) -> Vector:
        """d(grad_x Lagrangian)/d(theta), shape (k, number of inputs)."""
        cross = np.zeros((self.size, len(self.inputs)))
        for weight, row in zip((1.0, *multipliers), self._gradients, strict=True):
            if weight:
                cross += weight * np.array([self._in_inputs(e, x) for e in row])
        return cross

    def constraint_input_jacobian(self, x: Vector) -> Vector:
        """d(g_i)/d(theta), shape (m, number of inputs)."""
        rows = [self._in_inputs(g.expression, x) for g in self.constraints]
        return np.array(rows).reshape(len(self.constraints), len(self.inputs))

    def _in_inputs(self, expression: sp.Expr, x: Vector) -> list[float]:
        values = dict(zip((*self.variables, *self.inputs), (*x, *self.values), strict=True))
        return value_and_gradient(expression, self.inputs, values)[1]
