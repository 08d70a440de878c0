r"""The additive ("Chinchilla") form of the pretraining loss.

.. math:: L(N, D) = E + A N^{-\alpha} + B D^{-\beta}

Hoffmann et al. 2022 (arXiv 2203.15556), Eq. 2 and section 3.3 (approach 3).
"""

from __future__ import annotations

from laws.form import Form
from laws.symbols import D, N, constant

E, A, B = constant("E"), constant("A"), constant("B")
alpha, beta = constant("alpha"), constant("beta")

FORM = Form(
    name="chinchilla",
    statement=E + A * N**-alpha + B * D**-beta,
    irreducible=E,
    variables=(N, D),
    constants=(E, A, B, alpha, beta),
    units={
        "E": "nat/token",
        "A": "nat/token param^alpha",
        "B": "nat/token token^beta",
    },
    meaning="an irreducible part plus one power law each in parameters and tokens",
    log_convex=True,
    convexity="reducible part is a posynomial",
)
