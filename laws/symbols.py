"""The symbols every law shares, declared once, positive and real.

All variables of all laws are physical amounts, so `positive=True` holds and lets
SymPy merge powers. Constants of a law are symbols too (`constant("alpha")`), so that
one compiled function serves every published set of constants and every draw of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike, NDArray

N = sp.Symbol("N", positive=True)
"""Parameters. Which count (total, non-embedding, active) is part of the law."""

D = sp.Symbol("D", positive=True)
"""Pretraining tokens seen."""

U = sp.Symbol("U", positive=True)
"""Unique pretraining tokens available."""

R = sp.Symbol("R", positive=True)
"""Tokens generated in RL rollouts."""

C = sp.Symbol("C", positive=True)
"""Training compute [FLOP]."""

T_out = sp.Symbol("T_out", positive=True)
"""Tokens decoded over the lifetime."""

T_in = sp.Symbol("T_in", positive=True)
"""Uncached tokens prefilled over the lifetime."""

L = sp.Symbol("L", positive=True)
"""Loss [nat/token]."""

S = sp.Symbol("S", positive=True)
"""Sparsity: total over active parameters; 1 for a dense model."""

k = sp.Symbol("k", positive=True)
"""Samples drawn per query at test time."""

P = sp.Symbol("P", positive=True)
"""Bits of weights, activations and cache in pretraining."""

H = sp.Symbol("H", positive=True)
"""Training characters."""

X = sp.Symbol("X", positive=True)
"""RL effort, in compute [FLOP] or data [sample] as the law says."""


def constant(name: str) -> sp.Symbol:
    """Return the positive symbol of a fitted constant."""
    return sp.Symbol(name, positive=True)


def plain(name: str) -> sp.Symbol:
    """Return the symbol of a fitted constant of either sign."""
    return sp.Symbol(name, real=True)


class excess(sp.Function):  # type: ignore[misc] # noqa: N801 - lambdified under this name
    r"""``excess(r) = max(r - 1, 0)``: repetitions beyond the first pass.

    SymPy's ``Max`` differentiates into Heaviside and DiracDelta, which cannot be
    lambdified; this atom has the one-sided derivatives the solvers need.
    """

    nargs = (1,)

    def fdiff(self, argindex: int = 1) -> sp.Expr:  # noqa: ARG002
        """Derivative in the only argument."""
        return beyond(self.args[0])

    def _latex(self, printer: object, exp: object = None) -> str:  # noqa: ARG002
        body = rf"\max\left({sp.latex(self.args[0])} - 1, 0\right)"
        return body if exp is None else rf"{{{body}}}^{{{exp}}}"


class capped(sp.Function):  # type: ignore[misc] # noqa: N801
    """``capped(r) = min(r, 1)``: the first pass."""

    nargs = (1,)

    def fdiff(self, argindex: int = 1) -> sp.Expr:  # noqa: ARG002
        """Derivative in the only argument."""
        return 1 - beyond(self.args[0])

    def _latex(self, printer: object, exp: object = None) -> str:  # noqa: ARG002
        body = rf"\min\left({sp.latex(self.args[0])}, 1\right)"
        return body if exp is None else rf"{{{body}}}^{{{exp}}}"


class beyond(sp.Function):  # type: ignore[misc] # noqa: N801
    """``beyond(r)`` is 1 where r > 1 and 0 elsewhere; constant on either side."""

    nargs = (1,)

    def fdiff(self, argindex: int = 1) -> sp.Expr:  # noqa: ARG002
        """Derivative in the only argument, away from the step."""
        return sp.Integer(0)


class logistic(sp.Function):  # type: ignore[misc] # noqa: N801
    """``logistic(x) = 1/(1 + exp(-x))``, whose derivatives stay finite at any x."""

    nargs = (1,)

    def fdiff(self, argindex: int = 1) -> sp.Expr:  # noqa: ARG002
        """Derivative in the only argument."""
        return self * (1 - self)

    @staticmethod
    def written_out(x: sp.Expr) -> sp.Expr:
        """The same in exponentials, for printing and solving."""
        return 1 / (1 + sp.exp(-x))


class ramp(sp.Function):  # type: ignore[misc] # noqa: N801
    """``ramp(t) = max(t, 0)``: what `min` and `max` in users' formulas are made of."""

    nargs = (1,)

    def fdiff(self, argindex: int = 1) -> sp.Expr:  # noqa: ARG002
        """Derivative in the only argument."""
        return step(self.args[0])

    @classmethod
    def eval(cls, t: sp.Expr) -> sp.Expr | None:
        """Fold numbers."""
        return sp.Max(t, 0) if t.is_number else None

    def _latex(self, printer: object, exp: object = None) -> str:  # noqa: ARG002
        body = rf"\max\left({sp.latex(self.args[0])}, 0\right)"
        return body if exp is None else rf"{{{body}}}^{{{exp}}}"


class step(sp.Function):  # type: ignore[misc] # noqa: N801
    """``step(t)`` is 1 where t > 0 and 0 elsewhere."""

    nargs = (1,)

    def fdiff(self, argindex: int = 1) -> sp.Expr:  # noqa: ARG002
        """Derivative in the only argument, away from the step."""
        return sp.Integer(0)


def _floats(x: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(x, dtype=float)


NUMPY: dict[str, Callable[[ArrayLike], NDArray[np.float64]]] = {
    "excess": lambda r: np.maximum(_floats(r) - 1.0, 0.0),
    "capped": lambda r: np.minimum(_floats(r), 1.0),
    "beyond": lambda r: np.where(_floats(r) > 1.0, 1.0, 0.0),
    "ramp": lambda t: np.maximum(_floats(t), 0.0),
    "logistic": lambda x: 0.5 * (1.0 + np.tanh(0.5 * _floats(x))),
    "step": lambda t: np.where(_floats(t) > 0.0, 1.0, 0.0),
}
"""Numeric meaning of the atoms, elementwise, by the name they are lambdified under."""
