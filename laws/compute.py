"""FLOP accounting: what training, serving and RL cost in arithmetic.

Attention is left out here: these are the 6ND and 2ND identities in matrix-multiply
parameters. Kaplan et al. 2020 (arXiv 2001.08361), section 2.1 and Table 1.
"""

from __future__ import annotations

import sympy as sp

from laws.form import Form
from laws.symbols import D, N, R, T_in, T_out, constant

c_train, c_forward = constant("c_train"), constant("c_forward")
f, u = constant("f"), constant("u")


def _flop(
    name: str,
    statement: sp.Expr,
    variables: tuple[sp.Symbol, ...],
    constants: tuple[sp.Symbol, ...],
    meaning: str,
) -> Form:
    return Form(
        name=f"{name}-flop",
        kind="flop",
        statement=statement,
        variables=variables,
        constants=constants,
        meaning=meaning,
        units={str(c): "FLOP/param/token" for c in constants if str(c).startswith("c_")},
        log_convex=True,
        convexity="a monomial",
    )


PRETRAINING = _flop(
    "pretraining",
    c_train * N * D,
    (N, D),
    (c_train,),
    "forward and backward pass over every pretraining token",
)

DECODE = _flop(
    "decode",
    c_forward * N * T_out,
    (N, T_out),
    (c_forward,),
    "one forward pass for every token decoded",
)

PREFILL = _flop(
    "prefill",
    c_forward * N * T_in,
    (N, T_in),
    (c_forward,),
    "one forward pass for every uncached input token",
)

RL_GENERATION = _flop(
    "rl-generation",
    c_forward * N * R,
    (N, R),
    (c_forward,),
    "one forward pass for every rollout token",
)

RL_TRAINING = _flop(
    "rl-training",
    N * R * (c_forward * f + c_train * u),
    (N, R),
    (c_forward, c_train, f, u),
    "f extra forward passes (reference, reward) and an update on a share u of the rollouts",
)
