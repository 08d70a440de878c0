r"""Farseer, Li et al. 2025 (arXiv 2506.10972): the data exponent itself changes with size.

.. math:: L = e^{a_3 N^{\gamma} + b_3} + e^{a_2 N^{\beta} + b_2} D^{-e^{a_1 N^{\alpha} + b_1}}

Its optimal tokens per parameter rise with compute. Constants are not public in a form this
library could check.
"""

from __future__ import annotations

import sympy as sp

from laws.form import Form
from laws.symbols import D, N, constant, plain

a1, b1, a2, b2, a3, b3 = (plain(s) for s in ("a_1", "b_1", "a_2", "b_2", "a_3", "b_3"))
alpha, beta, gamma = plain("alpha"), plain("beta"), plain("gamma")
N1, D1 = constant("N_1"), constant("D_1")
n = N / N1

FORM = Form(
    name="farseer",
    statement=sp.exp(a3 * n**gamma + b3)
    + sp.exp(a2 * n**beta + b2) * (D / D1) ** -sp.exp(a1 * n**alpha + b1),
    variables=(N, D),
    constants=(a1, b1, a2, b2, a3, b3, alpha, beta, gamma, N1, D1),
    units={"N_1": "param", "D_1": "token"},
    meaning="loss with an exponent of data that depends on size; N_1, D_1 are units of N and D",
)
