"""A `Form` is a formula without numbers: one SymPy expression and what its symbols mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import sympy as sp

Kind = Literal[
    "loss",
    "learning-curve",
    "allocation",
    "hyperparameter",
    "moe-loss",
    "moe-size",
    "precision",
    "vocabulary",
    "distillation",
    "rl-loss",
    "rl-score",
    "test-time",
    "downstream",
    "flop",
]

KINDS: dict[Kind, str] = {
    "loss": "pretraining loss",
    "learning-curve": "loss in one quantity",
    "allocation": "compute-optimal allocation",
    "hyperparameter": "training setting",
    "moe-loss": "mixture-of-experts loss",
    "moe-size": "effective size of routed models",
    "precision": "precision",
    "vocabulary": "vocabulary and tokenizer",
    "distillation": "distillation",
    "rl-loss": "RL, added to the loss",
    "rl-score": "RL, saturating score",
    "test-time": "test-time compute",
    "downstream": "loss to score",
    "flop": "FLOP accounting",
}

VARIABLE_UNITS = {
    "N": "param",
    "D": "token",
    "U": "token",
    "R": "token",
    "C": "FLOP",
    "T_out": "token",
    "T_in": "token",
    "N_v": "param",
    "H": "char",
    "steps": "step",
    "P": "bit",
    "P_w": "bit",
    "P_a": "bit",
    "P_kv": "bit",
    "P_post": "bit",
}
"""Unit of every variable that has one; the others (losses, ratios, counts) are numbers."""


@dataclass(frozen=True)
class Form:
    """One formula, stated once; everything else about it is derived.

    `statement` may use abbreviations that `where` defines, in order; `expression` is the
    statement with all of them written out. `irreducible` is the part of a loss that no spend
    removes. `log_convex` claims that ln(expression - irreducible) is convex in the logarithms
    of `variables`, for the reason given in `convexity`; a property test holds every claim
    against the Hessian. `units` are those of the constants; one that is not listed is a number.
    `yields` says which amount an allocation rule gives.
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
    units: Mapping[str, str] = field(default_factory=dict, hash=False)
    yields: Literal["params", "tokens"] = "params"

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
