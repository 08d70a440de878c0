r"""From loss to what a benchmark reports.

- Sigmoid of loss, the second step of Llama 3 (arXiv 2407.21783) and the OLMo ladder (arXiv
  2412.04403).
- Average top-1 error, Gadre et al. 2024 (arXiv 2403.08540): :math:`\epsilon - k e^{-\gamma L}`.

- Accuracy directly from compute at fixed tokens per parameter, without the loss between:
  a power law of its logarithm, Krajewski et al. 2025 (arXiv 2512.08894).

A meta-analysis finds only 39 % of tasks predictable this way: treat scores as indications.
"""

from __future__ import annotations

import sympy as sp

from laws.form import Form
from laws.symbols import C, L, constant, logistic

floor, ceiling = constant("floor"), constant("ceiling")
slope, L_half = constant("slope"), constant("L_half")
epsilon, k_e, gamma = constant("epsilon"), constant("k_e"), constant("gamma")

SIGMOID = Form(
    name="score-sigmoid",
    kind="downstream",
    statement=floor + (ceiling - floor) * logistic(-slope * (L - L_half)),
    variables=(L,),
    constants=(floor, ceiling, slope, L_half),
    units={"slope": "token/nat", "L_half": "nat/token"},
    meaning="score between chance and ceiling, half way at L_half",
)

ERROR = Form(
    name="error-exponential",
    kind="downstream",
    statement=epsilon - k_e * sp.exp(-gamma * L),
    variables=(L,),
    constants=(epsilon, k_e, gamma),
    units={"gamma": "token/nat"},
    meaning="average top-1 error over tasks",
)

k_acc, p_acc, C_1 = constant("k_acc"), constant("p_acc"), constant("C_1")

DIRECT = Form(
    name="accuracy-of-compute",
    kind="downstream",
    statement=sp.exp(-k_acc * (C / C_1) ** -p_acc),
    variables=(C,),
    constants=(k_acc, p_acc, C_1),
    units={"C_1": "FLOP"},
    meaning="accuracy whose negative logarithm falls as a power of compute, at fixed D/N",
)
