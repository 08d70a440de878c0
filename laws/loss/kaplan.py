r"""The joint law of Kaplan et al. 2020 (arXiv 2001.08361), Eq. 1.5.

.. math:: L(N, D) = \left[(N_c/N)^{\alpha_N/\alpha_D} + D_c/D\right]^{\alpha_D}
"""

from __future__ import annotations

import sympy as sp

from laws.form import Form
from laws.symbols import D, N, constant

Nc, Dc = constant("Nc"), constant("Dc")
alpha_N, alpha_D = constant("alpha_N"), constant("alpha_D")

FORM = Form(
    name="kaplan",
    statement=((Nc / N) ** (alpha_N / alpha_D) + Dc / D) ** alpha_D,
    irreducible=sp.Integer(0),
    variables=(N, D),
    constants=(Nc, Dc, alpha_N, alpha_D),
    units={"Nc": "param", "Dc": "token"},
    meaning="a power of a sum of power laws, with no irreducible loss",
    log_convex=True,
    convexity="a positive power of a posynomial",
)
