r"""Laws of reinforcement learning. No consensus constants exist (November 2026).

`power` adds :math:`K R^{-\gamma}` to the pretraining loss, R in generated tokens.
`sigmoid` is the saturating score of Khatri et al. 2025 (ScaleRL, arXiv 2510.13786),

.. math:: S(C) = R_0 + \frac{A - R_0}{1 + (C_{mid}/C)^B}

with C the RL compute. Its base score R_0 is a constant or, so that pretraining
matters, a logistic function of the pretraining loss L (`sigmoid-of-loss`):

.. math:: R_0(L) = \frac{A}{1 + e^{k (L - L_{half})}}

`rl-learning-efficiency` is Tan et al. 2025 (arXiv 2509.25300): ln(1 - pass@1) = -k(N) ln X + E,
k(N) = K_max/(1 + N_half/N), X compute or data.
"""

from __future__ import annotations

import sympy as sp

from laws.form import Form
from laws.symbols import C, L, N, R, X, constant, logistic, plain

K, gamma = constant("K"), constant("gamma")
A, R0, C_mid, B = constant("A"), constant("R0"), constant("C_mid"), constant("B")
k, L_half = constant("k"), constant("L_half")


def _saturating(base: sp.Expr) -> sp.Expr:
    return base + (A - base) / (1 + (C_mid / C) ** B)


POWER = Form(
    name="rl-power",
    kind="rl-loss",
    statement=K * R**-gamma,
    variables=(R,),
    constants=(K, gamma),
    units={"K": "nat/token token^gamma"},
    meaning="loss still to be removed by RL falls as a power of generated tokens",
    log_convex=True,
    convexity="a monomial",
)

N_half, K_max, X1 = constant("N_half"), constant("K_max"), constant("X_1")
E_0 = plain("E_0")

LEARNING = Form(
    name="rl-learning-efficiency",
    kind="rl-score",
    statement=1 - sp.exp(E_0) * (X / X1) ** (-K_max / (1 + N_half / N)),
    variables=(N, X),
    constants=(K_max, N_half, E_0, X1),
    units={"N_half": "param"},
    meaning="pass@1 whose failures fall as a power of RL effort X, faster for larger models",
)

SIGMOID = Form(
    name="rl-sigmoid",
    kind="rl-score",
    statement=_saturating(R0),
    variables=(C,),
    constants=(A, R0, C_mid, B),
    units={"C_mid": "FLOP"},
    meaning="score rises from a fixed base to a ceiling, half way at C_mid",
)

SIGMOID_OF_LOSS = Form(
    name="rl-sigmoid-of-loss",
    kind="rl-score",
    statement=_saturating(A * logistic(-k * (L - L_half))),
    variables=(C, L),
    constants=(A, C_mid, B, k, L_half),
    units={"C_mid": "FLOP", "k": "token/nat", "L_half": "nat/token"},
    meaning="the same, from a base score that falls with the pretraining loss",
)
