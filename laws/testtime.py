r"""Spending compute after training: repeated samples, train-versus-test trade.

- Coverage of k samples, Brown et al. 2024 (arXiv 2407.21787): pass@k = exp(-a k^{-b}).
- Train-to-test, Roberts et al. 2026 (arXiv 2604.01411): loss of the sampled task,
  :math:`E + A N^{-\alpha} + B D^{-\beta} + G k^{-\gamma}`; form as reported, constants the user's.
- pass@k from size and data, or from the gold likelihood, Schaeffer et al. 2026.
- Train-versus-test trade, Jones 2021 (arXiv 2104.03113).
"""

from __future__ import annotations

import sympy as sp

from laws.form import Form
from laws.symbols import C, D, N, constant, k, plain

a, b = constant("a"), constant("b")

COVERAGE = Form(
    name="coverage",
    kind="test-time",
    statement=sp.exp(-a * k**-b),
    variables=(k,),
    constants=(a, b),
    meaning="share of problems solved by at least one of k samples",
)

E, A, B, G = constant("E"), constant("A"), constant("B"), constant("G")
alpha, beta, gamma = constant("alpha"), constant("beta"), constant("gamma")

TRAIN_TO_TEST = Form(
    name="train-to-test",
    kind="test-time",
    statement=E + A * N**-alpha + B * D**-beta + G * k**-gamma,
    irreducible=E,
    variables=(N, D, k),
    constants=(E, A, B, G, alpha, beta, gamma),
    units={"A": "param^alpha", "B": "token^beta"},
    meaning="loss of a task answered with k samples of a model of N parameters and D tokens",
    log_convex=True,
    convexity="reducible part is a posynomial",
)

SAMPLES = Form(
    name="samples",
    kind="test-time",
    statement=G * k**-gamma,
    variables=(k,),
    constants=(G, gamma),
    meaning="task loss still to be removed by drawing more samples per query",
    log_convex=True,
    convexity="a monomial",
)

E0, N0, D0 = constant("E_0"), constant("N_0"), constant("D_0")

PASS_AT_K = Form(
    name="pass-at-k",
    kind="test-time",
    statement=E0 + N0 * N**-beta + D0 * D**-gamma,
    irreducible=E0,
    variables=(N, D),
    constants=(E0, N0, D0, beta, gamma),
    units={"N_0": "param^beta", "D_0": "token^gamma"},
    meaning="-ln pass@k at one k, whose constants depend on k",
    log_convex=True,
    convexity="reducible part is a posynomial",
)

gold = sp.Symbol("p_gold", positive=True)
xi, K0, kappa = constant("xi_0"), constant("K_0"), constant("kappa")

PASS_AT_K_GOLD = Form(
    name="pass-at-k-of-gold",
    kind="test-time",
    statement=xi + K0 * (-sp.log(gold)) ** kappa,
    variables=(gold,),
    constants=(xi, K0, kappa),
    meaning="-ln pass@k at one k from the likelihood of the gold answer",
)

slope, C1, T1 = plain("slope"), constant("C_1"), constant("T_1")

TRADE = Form(
    name="train-test-trade",
    kind="test-time",
    statement=T1 * (C / C1) ** -slope,
    variables=(C,),
    constants=(slope, C1, T1),
    units={"C_1": "FLOP", "T_1": "FLOP"},
    meaning="test compute that keeps a level of skill as training compute changes",
)
