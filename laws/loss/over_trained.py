r"""Loss of over-trained models, Gadre et al. 2024 (arXiv 2403.08540), Eq. 4.

.. math:: L = E + (a M^{\eta} + b M^{-\eta}) C^{-\eta}, \quad M = D/N, \; C = 6ND

The additive form with equal exponents (alpha = beta = 2 eta), written in the token multiplier M:
at fixed M the reducible loss falls with compute at one rate, whatever M.
"""

from __future__ import annotations

from laws.form import Form
from laws.symbols import C, D, N, constant

E, a, b, eta = constant("E"), constant("a"), constant("b"), constant("eta")
M, c_train = constant("M"), constant("c_train")

FORM = Form(
    name="over-trained",
    statement=E + (a * M**eta + b * M**-eta) * C**-eta,
    where=((M, D / N), (C, c_train * N * D)),
    irreducible=E,
    variables=(N, D),
    constants=(E, a, b, eta, c_train),
    units={
        "E": "nat/token",
        "a": "nat/token FLOP^eta param^eta token^(-eta)",
        "b": "nat/token FLOP^eta param^(-eta) token^eta",
        "c_train": "FLOP/param/token",
    },
    meaning="reducible loss falls as a power of compute at every fixed tokens per parameter",
    log_convex=True,
    convexity="reducible part is a posynomial",
)
