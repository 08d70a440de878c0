r"""Vocabulary, tokenizers, distillation.

- Tao et al. 2024 (arXiv 2407.13623): unigram-normalised loss in vocabulary and other parameters.
- Bits per byte: :math:`L / (\ln 2 \times \text{bytes per token})`, the unit in which losses of
  different tokenizers compare.
- Busbridge et al. 2025 (arXiv 2502.08606): loss of a distilled student.
"""

from __future__ import annotations

import sympy as sp

from laws.form import Form
from laws.symbols import D, H, L, N, constant

N_v = sp.Symbol("N_v", positive=True)
E_u, A_nv, A_v, A_H = (constant(s) for s in ("E_u", "A_nv", "A_v", "A_H"))
alpha_nv, alpha_v, beta = constant("alpha_nv"), constant("alpha_v"), constant("beta")

VOCABULARY = Form(
    name="vocabulary",
    kind="vocabulary",
    statement=-E_u + A_nv * N**-alpha_nv + A_v * N_v**-alpha_v + A_H * H**-beta,
    irreducible=-E_u,
    variables=(N, N_v, H),
    constants=(E_u, A_nv, A_v, A_H, alpha_nv, alpha_v, beta),
    units={
        "E_u": "nat/token",
        "A_nv": "nat/token param^alpha_nv",
        "A_v": "nat/token param^alpha_v",
        "A_H": "nat/token char^beta",
    },
    meaning="unigram-normalised loss in non-vocabulary size N, vocabulary size N_v, characters H",
    log_convex=True,
    convexity="reducible part is a posynomial",
)

bytes_per_token = constant("bytes_per_token")

BITS_PER_BYTE = Form(
    name="bits-per-byte",
    kind="vocabulary",
    statement=L / (sp.log(2) * bytes_per_token),
    variables=(L, bytes_per_token),
    constants=(),
    meaning="loss in bits per byte of text, comparable across tokenizers",
    log_convex=True,
    convexity="a monomial",
)

L_T, L_free = sp.Symbol("L_T", positive=True), constant("Ltilde")
c0, c1, d1, f1 = (constant(s) for s in ("c_0", "c_1", "d_1", "f_1"))
A, B = constant("A"), constant("B")
alpha, gamma = constant("alpha"), constant("gamma")

DISTILLATION = Form(
    name="distillation",
    kind="distillation",
    statement=L_T
    + L_T**-c0
    * (1 + (L_T / (L_free * d1)) ** (1 / f1)) ** (-c1 * f1)
    * (A * N**-alpha + B * D**-beta) ** gamma,
    variables=(N, D, L_T, L_free),
    constants=(A, B, alpha, beta, gamma, c0, c1, d1, f1),
    units={"A": "param^alpha", "B": "token^beta"},
    meaning="loss of a student of N parameters distilled on D tokens from a teacher of loss L_T; "
    "Ltilde is the loss it would reach without a teacher",
)
