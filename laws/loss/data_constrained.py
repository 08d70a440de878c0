r"""Loss with repeated data, Muennighoff et al. 2023 (arXiv 2305.16264), Eqs. 5-6.

.. math:: L(N, D, U) = E + A\,N'^{-\alpha} + B\,D'^{-\beta}

with :math:`x' = u + u R^*(1 - e^{-(x/u - 1)/R^*})` for x > u and x' = x below: tokens
saturate against the unique tokens U, parameters against the size
:math:`U_N = N^*(\min(D, U))` for which the unique tokens are compute-optimal. With
every token fresh and N no larger than that size the law is the additive one.

Why the solver may treat it as convex. Let r = x/u >= 1 and v(r) = x'/u =
1 + R*(1 - e^{-(r-1)/R*}). The slope of ln x' in ln x is r w / v, w = e^{-(r-1)/R*}, and

.. math:: \frac{d \ln \text{slope}}{d \ln r} = 1 - r/R^* - r w/v \le 0
          \iff v (1 - r/R^*) \le r w \iff v \le r (1 + R^*)/R^*

using v + R* w = 1 + R*. The last holds since v <= 1 + (r - 1) = r. So ln x' is concave in
ln x (slope 1 below x = u), non-decreasing in ln x and ln u, hence jointly concave, and a
negative power of x' is log-convex; so is a sum of such terms.
"""

from __future__ import annotations

import sympy as sp
from sympy.codegen.cfunctions import expm1

from laws.form import Form
from laws.symbols import D, N, U, capped, constant, excess

E, A, B = constant("E"), constant("A"), constant("B")
alpha, beta = constant("alpha"), constant("beta")
RD, RN = constant("R_D"), constant("R_N")


def saturated(amount: sp.Expr, unique: sp.Expr, half_life: sp.Expr) -> sp.Expr:
    """Worth of `amount` units of which only `unique` are distinct, in distinct units."""
    passes = amount / unique
    # expm1 keeps small repetition exact.
    return unique * (capped(passes) - half_life * expm1(-excess(passes) / half_life))


N_worth, D_worth = constant("N'"), constant("D'")
U_N, U_D = constant("U_N"), constant("U_D")

unique_used = U * capped(D / U)
unique_params = (alpha * A / (beta * B)) ** (1 / alpha) * U_D ** (beta / alpha)

FORM = Form(
    name="data-constrained",
    statement=E + A * N_worth**-alpha + B * D_worth**-beta,
    where=(
        (N_worth, saturated(N, U_N, RN)),
        (D_worth, saturated(D, U, RD)),
        (U_N, unique_params),
        (U_D, unique_used),
    ),
    irreducible=E,
    variables=(N, D, U),
    constants=(E, A, B, alpha, beta, RD, RN),
    units={
        "E": "nat/token",
        "A": "nat/token param^alpha",
        "B": "nat/token token^beta",
    },
    meaning="the additive law in effective parameters and tokens: repeats decay exponentially",
    log_convex=True,
    convexity="effective amounts are log-concave in N and D",
)
