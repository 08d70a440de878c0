r"""Compute-optimal allocation rules that come without a loss.

.. math:: N^*(C) = N_0 (C/C_0)^a

Hoffmann et al. 2022, approaches 1 and 2 (Table 2), and Kaplan et al. 2020 (section 6).
The tokens follow from C = 6 N D.
"""

from __future__ import annotations

from laws.form import Form
from laws.symbols import C, constant, plain

N0, C0, a = constant("N0"), constant("C0"), constant("a")

FORM = Form(
    name="allocation",
    kind="allocation",
    statement=N0 * (C / C0) ** a,
    variables=(C,),
    constants=(N0, C0, a),
    units={"N0": "param", "C0": "FLOP"},
    meaning="the compute-optimal model size as a power of training compute",
)

k_0, p, C1 = constant("k_0"), plain("p"), constant("C_1")

TOKENS = Form(
    name="tokens-of-compute",
    kind="allocation",
    statement=k_0 * (C / C1) ** p,
    variables=(C,),
    constants=(k_0, p, C1),
    units={"k_0": "token", "C_1": "FLOP"},
    meaning="the compute-optimal tokens as a power of training compute",
    yields="tokens",
)

GROWTH = Form(
    name="size-growth",
    kind="hyperparameter",
    statement=(C / C0) ** a,
    variables=(C,),
    constants=(C0, a),
    units={"C0": "FLOP"},
    meaning="growth of the compute-optimal size from its value at C0; no anchor is published",
)
