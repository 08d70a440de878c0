r"""Compute-optimal allocation rules that come without a loss.

.. math:: N^*(C) = N_0 (C/C_0)^a

Hoffmann et al. 2022, approaches 1 and 2 (Table 2), and Kaplan et al. 2020 (section 6).
The tokens follow from C = 6 N D.
"""

from __future__ import annotations

from laws.form import Form
from laws.symbols import C, constant

N0, C0, a = constant("N0"), constant("C0"), constant("a")

FORM = Form(
    name="allocation",
    kind="allocation",
    statement=N0 * (C / C0) ** a,
    variables=(C,),
    constants=(N0, C0, a),
    meaning="the compute-optimal model size as a power of training compute",
)
