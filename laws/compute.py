"""FLOP accounting: what training, serving and RL cost in arithmetic.

Attention is left out here: these are the 6ND and 2ND identities in matrix-multiply
parameters. Kaplan et al. 2020 (arXiv 2001.08361), section 2.1 and Table 1.
"""

from __future__ import annotations

from laws.form import Form
from laws.symbols import D, N, R, T_in, T_out, constant

c_train, c_forward = constant("c_train"), constant("c_forward")
f, u = constant("f"), constant("u")

PRETRAINING = Form(
    name="pretraining-flop",
    kind="flop",
    expression=c_train * N * D,
    variables=(N, D),
    constants=(c_train,),
    meaning="forward and backward pass over every pretraining token",
    log_convex=True,
    convexity="a monomial",
)

DECODE = Form(
    name="decode-flop",
    kind="flop",
    expression=c_forward * N * T_out,
    variables=(N, T_out),
    constants=(c_forward,),
    meaning="one forward pass for every token decoded",
    log_convex=True,
    convexity="a monomial",
)

PREFILL = Form(
    name="prefill-flop",
    kind="flop",
    expression=c_forward * N * T_in,
    variables=(N, T_in),
    constants=(c_forward,),
    meaning="one forward pass for every uncached input token",
    log_convex=True,
    convexity="a monomial",
)

RL_GENERATION = Form(
    name="rl-generation-flop",
    kind="flop",
    expression=c_forward * N * R,
    variables=(N, R),
    constants=(c_forward,),
    meaning="one forward pass for every rollout token",
    log_convex=True,
    convexity="a monomial",
)

RL_TRAINING = Form(
    name="rl-training-flop",
    kind="flop",
    expression=N * R * (c_forward * f + c_train * u),
    variables=(N, R),
    constants=(c_forward, c_train, f, u),
    meaning="f extra forward passes (reference, reward) and an update on a share u of the rollouts",
    log_convex=True,
    convexity="a monomial",
)
