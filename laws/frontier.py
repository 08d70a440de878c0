r"""What a loss law implies: compute-optimal sizes, same-N optimum, implied traffic.

Everything follows from one quantity, the ratio of pulls

.. math:: \rho(N, D) = \frac{\partial L/\partial \ln N}{\partial L/\partial \ln D}

which is 1 on the compute-optimal frontier of C = 6 N D. Where SymPy shows that the
ratio is a monomial :math:`c N^{-p} D^{q}` (the additive form, Kaplan's), the optimum is in
closed form; elsewhere it is bracketed and solved numerically.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from laws.form import Form
from laws.symbols import C, D, N

if TYPE_CHECKING:
    from laws.law import Law

FLOP_PER_PARAM_TOKEN = 6.0
"""Training FLOP per parameter and token, forward and backward (Kaplan 2020, section 2.1)."""

_LN_PARAMS = (0.0, 60.0)

Others = Mapping[str, float | None]
"""Values of the variables of a law other than N and D, by symbol."""

NOTHING: Others = MappingProxyType({})

NAMES = {"U": "unique_tokens", "S": "sparsity"}


class NoOptimumError(ValueError):
    """A loss that does not trade parameters against tokens: no size is compute-optimal."""

    def __init__(self, law: Law) -> None:
        super().__init__(f"{law.name} has no compute-optimal size: its pulls never balance")


@dataclass(frozen=True)
class Optimum:
    """A compute-optimal plan: parameters, tokens, loss [nat/token] (None without a loss)."""

    params: float
    tokens: float
    loss: float | None

    @property
    def tokens_per_param(self) -> float:
        """D/N."""
        return self.tokens / self.params


@dataclass(frozen=True)
class Monomial:
    """ratio of pulls = coefficient * N^-p * D^q, each an expression of the constants."""

    coefficient: sp.Expr
    p: sp.Expr
    q: sp.Expr


@lru_cache(maxsize=64)
def pull_ratio(form: Form) -> sp.Expr:
    """Symbolic (dL/dlnN) / (dL/dlnD)."""
    e = form.expression
    return sp.expand(N * sp.diff(e, N)) / sp.expand(D * sp.diff(e, D))


@lru_cache(maxsize=64)
def closed_form(form: Form) -> Monomial | None:
    """The pull ratio as a monomial, or None where it is not one."""
    if set(form.variables) != {N, D}:
        return None
    n, d = sp.Symbol("n", real=True), sp.Symbol("d", real=True)
    log = sp.expand_log(sp.log(pull_ratio(form)), force=True)
    log = sp.expand(log.subs({N: sp.exp(n), D: sp.exp(d)}))
    slope_n, slope_d = sp.cancel(sp.diff(log, n)), sp.cancel(sp.diff(log, d))
    if {n, d} & (slope_n.free_symbols | slope_d.free_symbols):
        return None
    coefficient = sp.exp(log.subs({n: 0, d: 0}))
    return Monomial(coefficient, -slope_n, slope_d)


def _monomial_values(law: Law) -> tuple[float, float, float] | None:
    monomial = closed_form(law.form)
    if monomial is None:
        return None
    parts = (monomial.coefficient, monomial.p, monomial.q)
    c, p, q = (float(e.subs(law.substitutions)) for e in parts)
    return c, p, q


def _variables(law: Law, params: float, tokens: float, others: Others) -> dict[str, float]:
    _require_loss(law)
    values = {"N": params, "D": tokens}
    for variable in law.form.variables:
        name = str(variable)
        if name in values:
            continue
        if others.get(name) is None:
            raise TypeError(f"{law.name} needs {NAMES.get(name, name)}: its loss depends on it")
        values[name] = float(others[name])  # type: ignore[arg-type]
        _positive(**{NAMES.get(name, name): values[name]})
    return values


def _positive(**amounts: float) -> None:
    for name, amount in amounts.items():
        if not 0 < amount < math.inf:
            raise ValueError(f"{name} must be positive and finite, got {amount:g}")


def _require_loss(law: Law) -> None:
    if law.form.kind != "loss":
        raise TypeError(f"{law.name} is {law.form.meaning}: it has no loss")


def ratio(law: Law, params: float, tokens: float, others: Others = NOTHING) -> float:
    """Numeric ratio of pulls at (params, tokens)."""
    gradient = law.gradient(**_variables(law, params, tokens, others))
    pull_params, pull_tokens = float(gradient[0]) * params, float(gradient[1]) * tokens
    # Far beyond saturation a pull underflows to zero; the ratio keeps its sense.
    return pull_params / pull_tokens if pull_tokens else math.inf


def optimum(law: Law, compute: float, others: Others = NOTHING) -> Optimum:
    """See `Law.optimum`."""
    _positive(compute=compute)
    budget = compute / FLOP_PER_PARAM_TOKEN
    if law.form.kind == "allocation":
        amount = float(law.value(**{str(C): compute}))
        # An allocation rule gives the size, or the tokens; C = 6 N D gives the other.
        of_tokens = law.form.yields == "tokens"
        return (
            Optimum(budget / amount, amount, None)
            if of_tokens
            else Optimum(amount, budget / amount, None)
        )
    _require_loss(law)
    monomial = _monomial_values(law)
    if monomial is not None:
        c, p, q = monomial
        if not (c > 0 and p + q > 0):
            raise NoOptimumError(law)
        # c N^-p (budget/N)^q = 1
        params = math.exp((math.log(c) + q * math.log(budget)) / (p + q))
    else:
        params = _root(law, lambda size: ratio(law, size, budget / size, others))
    loss = float(law.value(**_variables(law, params, budget / params, others)))
    return Optimum(params, budget / params, loss)


def optimal_tokens(law: Law, params: float, others: Others = NOTHING) -> float:
    """See `Law.optimal_tokens`."""
    _positive(params=params)
    monomial = _monomial_values(law) if law.form.kind == "loss" else None
    if monomial is not None:
        c, p, q = monomial
        if not (c > 0 and q != 0):
            raise NoOptimumError(law)
        return math.exp((p * math.log(params) - math.log(c)) / q)
    _require_loss(law)
    return _root(law, lambda tokens: 1.0 / max(ratio(law, params, tokens, others), 1e-300))


def implied_served_tokens(
    law: Law, params: float, tokens: float, others: Others = NOTHING
) -> float:
    """See `Law.implied_served_tokens`."""
    _positive(params=params, tokens=tokens)
    return 3.0 * tokens * (ratio(law, params, tokens, others) - 1.0)


def drawn_tokens_per_param(
    law: Law, compute: float, count: int, seed: int
) -> NDArray[np.float64] | None:
    """Optimal D/N at `compute` for every draw of the constants; None without a closed form."""
    from laws.compile import lambdify

    monomial = closed_form(law.form)
    if monomial is None or law.covariance is None:
        return None
    drawn = law.draw(count, seed)
    parts = lambdify(law.form.constants, [monomial.coefficient, monomial.p, monomial.q])
    c, p, q = parts(*(drawn[str(s)] for s in law.form.constants))
    log_budget = math.log(compute / FLOP_PER_PARAM_TOKEN)
    log_params = (np.log(c) + q * log_budget) / (p + q)
    ratios: NDArray[np.float64] = np.exp(log_budget - 2.0 * log_params)
    return ratios


def compute_overhead(
    law: Law, size_factor: float, compute: float, others: Others = NOTHING
) -> float | None:
    """See `Law.compute_overhead`."""
    from scipy.optimize import brentq

    _positive(size_factor=size_factor, compute=compute)
    best = optimum(law, compute, others)
    assert best.loss is not None
    params = size_factor * best.params

    def excess(log_tokens: float) -> float:
        values = _variables(law, params, math.exp(log_tokens), others)
        return float(law.value(**values)) - float(best.loss or 0.0)

    low, high = math.log(best.tokens) - 20.0, math.log(best.tokens) + 40.0
    if not excess(low) > 0 > excess(high):
        return None
    tokens = math.exp(float(brentq(excess, low, high, xtol=1e-14, rtol=1e-15)))
    return params * tokens * FLOP_PER_PARAM_TOKEN / compute - 1.0


def _root(law: Law, decreasing_ratio: Callable[[float], float]) -> float:
    """Amount at which a ratio that falls with it crosses 1, by bracketing in ln(amount)."""
    from scipy.optimize import brentq

    def objective(log_amount: float) -> float:
        return math.log(min(max(decreasing_ratio(math.exp(log_amount)), 1e-300), 1e300))

    ends = [objective(end) for end in _LN_PARAMS]
    if not ends[0] > 0 > ends[1]:
        raise NoOptimumError(law)
    amount = math.exp(float(brentq(objective, *_LN_PARAMS, xtol=1e-13, rtol=1e-14)))
    # Beyond some 1e4 passes over the data both pulls underflow: a jump there is no balance.
    if not abs(math.log(decreasing_ratio(amount) or math.inf)) < 1e-3:
        raise NoOptimumError(law)
    return amount
