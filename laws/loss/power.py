r"""Loss as a power law in one quantity, or in size and steps: Kaplan et al. 2020.

.. math:: L(X) = (X_c/X)^{\alpha_X}

Equations 1.1 to 1.3 and 1.6 of arXiv 2001.08361. Each holds where nothing else limits the loss.
"""

from __future__ import annotations

import sympy as sp

from laws.form import Form
from laws.symbols import C, D, N, constant

Xc, alpha = constant("X_c"), constant("alpha")
Nc, Sc = constant("N_c"), constant("S_c")
alpha_N, alpha_S = constant("alpha_N"), constant("alpha_S")
steps = sp.Symbol("steps", positive=True)


def _single(name: str, variable: sp.Symbol, unit: str, meaning: str) -> Form:
    return Form(
        name=name,
        kind="learning-curve",
        statement=(Xc / variable) ** alpha,
        variables=(variable,),
        constants=(Xc, alpha),
        units={"X_c": unit, "alpha": "1"},
        meaning=meaning,
        log_convex=True,
        convexity="a monomial",
    )


PARAMS = _single("power-in-params", N, "param", "loss of a size trained to convergence")
TOKENS = _single("power-in-tokens", D, "token", "loss of an ample model on given data")
COMPUTE = _single("power-in-compute", C, "FLOP", "loss of the best size for given compute")

STEPS = Form(
    name="size-and-steps",
    kind="learning-curve",
    statement=(Nc / N) ** alpha_N + (Sc / steps) ** alpha_S,
    variables=(N, steps),
    constants=(Nc, Sc, alpha_N, alpha_S),
    units={"N_c": "param", "S_c": "step", "alpha_N": "1", "alpha_S": "1"},
    meaning="loss after a number of steps at large batch",
    log_convex=True,
    convexity="a posynomial",
)
