"""A `Form` is a formula without numbers: one SymPy expression and what its symbols mean."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import sympy as sp

Kind = Literal["loss", "allocation", "rl-loss", "rl-score", "flop"]

KINDS: dict[Kind, str] = {
    "loss": "pretraining loss",
    "allocation": "compute-optimal allocation",
    "rl-loss": "RL, added to the loss",
    "rl-score": "RL, saturating score",
    "flop": "FLOP accounting",
}


@dataclass(frozen=True)
class Form:
    """One formula, stated once; everything else about it is derived.

    `statement` may use abbreviations that `where` defines, in order; `expression` is the
    statement with all of them written out. `irreducible` is the part of a loss that no spend
    removes. `log_convex` claims that ln(expression - irreducible) is convex in the logarithms
    of `variables`, for the reason given in `convexity`; a property test holds every claim
    against the Hessian.
    """

    name: str
    statement: sp.Expr
    variables: tuple[sp.Symbol, ...]
    constants: tuple[sp.Symbol, ...]
    meaning: str
    kind: Kind = "loss"
    irreducible: sp.Expr = sp.S.Zero
    log_convex: bool = False
    convexity: str = "not claimed"
    where: tuple[tuple[sp.Symbol, sp.Expr], ...] = ()

    def __post_init__(self) -> None:
        stray = self.expression.free_symbols - set(self.variables) - set(self.constants)
        if stray:
            raise ValueError(f"form {self.name}: undeclared symbols {sorted(map(str, stray))}")

    @cached_property
    def expression(self) -> sp.Expr:
        """The formula in variables and constants only."""
        full = self.statement
        for symbol, definition in self.where:
            full = full.xreplace({symbol: definition})
        return full

    @property
    def reducible(self) -> sp.Expr:
        """The part of the loss that spend can remove."""
        return self.expression - self.irreducible
