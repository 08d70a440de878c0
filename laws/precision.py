r"""Precision of weights, activations and cache: Kumar et al. 2024 (arXiv 2411.04330).

.. math:: N_{eff} = N \prod_i (1 - e^{-P_i/\gamma_i}), \qquad
          \delta = C_T D^{\gamma_D} N^{-\gamma_N} e^{-P/\gamma_{post}}

delta is what quantising after training adds to the loss: it grows with D, so an over-trained
model loses more when it is served in few bits. Published as formulas; constants depend on the
authors' set-up and are not carried here.
"""

from __future__ import annotations

import sympy as sp

from laws.form import Form
from laws.symbols import D, N, constant

P_w, P_a, P_kv, P_post = (sp.Symbol(s, positive=True) for s in ("P_w", "P_a", "P_kv", "P_post"))
gamma_w, gamma_a, gamma_kv = constant("gamma_w"), constant("gamma_a"), constant("gamma_kv")
C_T, gamma_D, gamma_N, gamma_post = (
    constant(s) for s in ("C_T", "gamma_D", "gamma_N", "gamma_post")
)

EFFECTIVE_PARAMS = Form(
    name="precision-effective-params",
    kind="precision",
    statement=N
    * (1 - sp.exp(-P_w / gamma_w))
    * (1 - sp.exp(-P_a / gamma_a))
    * (1 - sp.exp(-P_kv / gamma_kv)),
    variables=(N, P_w, P_a, P_kv),
    constants=(gamma_w, gamma_a, gamma_kv),
    units={"gamma_w": "bit", "gamma_a": "bit", "gamma_kv": "bit"},
    meaning="size of the full-precision model as good as one trained in few bits",
)

POST_TRAINING = Form(
    name="post-training-quantisation",
    kind="precision",
    statement=C_T * D**gamma_D * N**-gamma_N * sp.exp(-P_post / gamma_post),
    variables=(N, D, P_post),
    constants=(C_T, gamma_D, gamma_N, gamma_post),
    units={"C_T": "nat/token param^gamma_N token^(-gamma_D)", "gamma_post": "bit"},
    meaning="loss added by quantising after training; grows with over-training",
)
