r"""Mixture-of-experts models: routed size, granularity, sparsity.

- Clark et al. 2022 (arXiv 2202.01169): bilinear law in ln N and ln E with saturation, and the
  effective parameter count of a routed model.
- Krajewski et al. 2024 (arXiv 2402.07871): fine-grained experts, granularity G.
- Abnar et al. 2025 (arXiv 2501.12370): sparsity; the paper's S is the share of experts that
  are inactive, here S = total/active, so that 1 - S_paper = 1/S.
- Ludziejewski et al. 2025 (arXiv 2502.05172): joint law in active size, data and experts.
- Frantar et al. 2023 (arXiv 2309.08520): weight sparsity, share of weights pruned.
"""

from __future__ import annotations

import sympy as sp

from laws.form import Form
from laws.symbols import D, N, S, constant, plain

a, b, c, d = (plain(s) for s in "abcd")
N1 = constant("N_1")
E_start, E_max = constant("E_start"), constant("E_max")
experts = sp.Symbol("experts", positive=True)
saturated = constant("Ehat")
_log10 = sp.log(10)


def _lg(x: sp.Expr) -> sp.Expr:
    return sp.log(x) / _log10


# 1/Ehat = 1/(E - 1 + 1/(1/E_start - 1/E_max)) + 1/E_max
_saturation = 1 / (1 / (experts - 1 + 1 / (1 / E_start - 1 / E_max)) + 1 / E_max)
_ROUTED_CONSTANTS = (a, b, c, d, E_start, E_max, N1)
_ROUTED_UNITS = {"N_1": "param"}

ROUTED = Form(
    name="routed",
    kind="moe-loss",
    statement=sp.Integer(10)
    ** (a * _lg(N / N1) + b * _lg(saturated) + c * _lg(N / N1) * _lg(saturated) + d),
    where=((saturated, _saturation),),
    variables=(N, experts),
    constants=_ROUTED_CONSTANTS,
    units=_ROUTED_UNITS,
    meaning="loss of a model of N parameters routed over a number of experts, at fixed data",
)

EFFECTIVE_PARAMS = Form(
    name="routed-effective-params",
    kind="moe-size",
    statement=N1
    * sp.Integer(10)
    ** (
        ((a + c * _lg(saturated)) * _lg(N / N1) + b * (_lg(saturated) - _lg(E_start)))
        / (a + c * _lg(E_start))
    ),
    where=((saturated, _saturation),),
    variables=(N, experts),
    constants=tuple(x for x in _ROUTED_CONSTANTS if x is not d),
    units=_ROUTED_UNITS,
    meaning="size of the dense model as good as N parameters routed over a number of experts",
)

G = sp.Symbol("G", positive=True)
g, gamma = constant("g"), constant("gamma")
alpha, beta = constant("alpha"), constant("beta")
A, B, E = constant("A"), constant("B"), constant("E")

FINE_GRAINED = Form(
    name="fine-grained-moe",
    kind="moe-loss",
    statement=E + (g / G**gamma + A) * N**-alpha + B * D**-beta,
    irreducible=E,
    variables=(N, D, G),
    constants=(E, A, B, g, alpha, beta, gamma),
    units={
        "E": "nat/token",
        "A": "nat/token param^alpha",
        "g": "nat/token param^alpha",
        "B": "nat/token token^beta",
    },
    meaning="parameters count for more as experts are cut finer (granularity G)",
    log_convex=True,
    convexity="reducible part is a posynomial",
)

lam, delta = constant("lambda"), constant("delta")
C_S, D_S = constant("C_S"), constant("D_S")
total = constant("N_tot")

SPARSE = Form(
    name="sparsity",
    kind="loss",
    statement=E + A * total**-alpha + B * D**-beta + C_S * S**-lam + D_S * S**delta * total**-gamma,
    where=((total, N * S),),
    irreducible=E,
    variables=(N, D, S),
    constants=(E, A, B, C_S, D_S, alpha, beta, gamma, lam, delta),
    units={
        "E": "nat/token",
        "A": "nat/token param^alpha",
        "B": "nat/token token^beta",
        "C_S": "nat/token",
        "D_S": "nat/token param^gamma",
    },
    meaning="loss of a sparse model of N active parameters and sparsity S = total/active",
    log_convex=True,
    convexity="reducible part is a posynomial in N, D and S",
)

omega, zeta, gamma_s = plain("omega"), plain("zeta"), plain("gamma")
delta_s, alpha_s, beta_s = plain("delta"), plain("alpha"), plain("beta")
D1 = constant("D_1")

JOINT = Form(
    name="joint-moe",
    kind="moe-loss",
    statement=E
    + A * saturated**delta_s * (N / N1) ** (alpha_s + gamma_s * sp.log(saturated))
    + B * saturated**omega * (D / D1) ** (beta_s + zeta * sp.log(saturated)),
    where=((saturated, _saturation),),
    irreducible=E,
    variables=(N, D, experts),
    constants=(E, A, B, alpha_s, beta_s, gamma_s, delta_s, omega, zeta, E_start, E_max, N1, D1),
    units={"E": "nat/token", "A": "nat/token", "B": "nat/token", "N_1": "param", "D_1": "token"},
    meaning="loss of a routed model in active size, data and saturated experts",
)

pruned = sp.Symbol("pruned", positive=True)
a_S, b_S, c_S, b_N = (constant(s) for s in ("a_S", "b_S", "c_S", "b_N"))
a_D, b_D = constant("a_D"), constant("b_D")

PRUNED = Form(
    name="pruned",
    kind="moe-loss",
    statement=E + (a_S * (1 - pruned) ** b_S + c_S) * N**-b_N + (a_D / D) ** b_D,
    irreducible=E,
    variables=(N, D, pruned),
    constants=(E, a_S, b_S, c_S, b_N, a_D, b_D),
    units={
        "E": "nat/token",
        "a_S": "nat/token param^b_N",
        "c_S": "nat/token param^b_N",
        "a_D": "token",
    },
    meaning="loss of N remaining weights when a share of the weights is pruned",
)
