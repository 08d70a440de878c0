"""What holds for every law at every size, against high precision and brute force."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar
from strategies import decades

import laws
from laws.form import Form
from laws.interpret import value_and_gradient
from laws.law import Constant, Law
from laws.loss import data_constrained

LOSSES = laws.names("loss")


def variables(name: str) -> set[str]:
    return {str(v) for v in laws.get(name).form.variables}


# Laws in more than N, D and U have no compute optimum until the rest is chosen.
DENSE = [n for n in LOSSES if variables(n) <= {"N", "D", "U"}]
FRESH = [n for n in LOSSES if variables(n) == {"N", "D"}]
ADDITIVE = [n for n in LOSSES if laws.get(n).form.name == "chinchilla"]
CONVEX = [n for n in laws.names() if laws.get(n).form.log_convex]
CONVEX_FORMS = [f.name for f in laws.forms() if f.log_convex]

each_loss = pytest.mark.parametrize("name", LOSSES)
each_dense = pytest.mark.parametrize("name", DENSE)
each_fresh = pytest.mark.parametrize("name", FRESH)
each_additive = pytest.mark.parametrize("name", ADDITIVE)

params, tokens, unique = decades(6, 13), decades(7, 16), decades(7, 14)
compute = decades(18, 27)
growth = decades(0.01, 2)
ROUNDING = 4e-16


def examples(count: int) -> settings:
    return settings(max_examples=count, deadline=None, derandomize=True)


# -- points and laws -----------------------------------------------------------------

exponent, share = st.floats(0.2, 0.8), decades(-1, 1)
below_one = st.floats(0.05, 0.95)
EXPONENTS = {"alpha", "beta", "gamma", "delta", "lambda", "eta", "kappa"}
UNITS_OF_AMOUNTS = {"param", "token", "FLOP", "step", "char"}
VARIABLES: dict[str, st.SearchStrategy[float]] = {
    **dict.fromkeys(("L", "L_T", "Ltilde", "bytes_per_token"), st.floats(0.5, 8.0)),
    **dict.fromkeys(("S", "G", "k"), st.floats(1.0, 30.0)),
    **dict.fromkeys(("P_w", "P_a", "P_kv", "P_post"), st.floats(2.0, 16.0)),
    **dict.fromkeys(("p_gold", "pruned"), below_one),
    "experts": decades(0.5, 2.7),
}
CONSTANTS: dict[str, st.SearchStrategy[float]] = {
    **dict.fromkeys(("A", "B", "K"), decades(0, 4)),
    **dict.fromkeys(("R_D", "R_N"), decades(-1, 3)),
    **dict.fromkeys(("a", "k"), exponent),
    "E_start": st.floats(1.5, 5.0),
    "E_max": decades(2, 3),
}
SCORE = {"A": share, "B": st.floats(0.4, 4.0)}


def constant_of(form: Form, symbol: sp.Symbol) -> st.SearchStrategy[float]:
    name = str(symbol)
    known = CONSTANTS | (SCORE if form.kind == "rl-score" else {})
    if not symbol.is_positive:
        return st.floats(-0.2, 0.2)
    if name in known:
        return known[name]
    if name.split("_", maxsplit=1)[0] in EXPONENTS:
        return exponent
    return decades(8, 12) if form.units.get(name) in UNITS_OF_AMOUNTS else share


@st.composite
def any_law(draw: st.DrawFn, form: str) -> Law:
    found = laws.FORMS[form]
    constants = {str(c): Constant(draw(constant_of(found, c)), "1", 17) for c in found.constants}
    return replace(laws.get("besiroglu-2024"), form=found, constants=constants)


def positions(form: Form) -> st.SearchStrategy[dict[str, float]]:
    return st.fixed_dictionaries(
        {str(v): VARIABLES.get(str(v), decades(6, 15)) for v in form.variables}
    )


def loss_point(law: Law, N: float, D: float, U: float) -> dict[str, float]:
    known = {"N": N, "D": D, "U": U, "S": 4.0}
    return {str(v): known[str(v)] for v in law.form.variables}


def with_constants(law: Law, **values: float) -> Law:
    changed = {n: replace(law.constants[n], value=v) for n, v in values.items()}
    return replace(law, constants={**law.constants, **changed})


def reducible(law: Law) -> Law:
    """The law without its irreducible loss, which would drown the rest in rounding."""
    form = law.form
    rest = replace(form, statement=form.reducible, where=(), irreducible=sp.S.Zero)
    return replace(law, form=rest)


def unique_for(law: Law, C: float, scarcity: float) -> float | None:
    """Unique tokens as a multiple of what the compute would want without repetition."""
    if "U" not in variables(law.name):
        return None
    return scarcity * laws.get("muennighoff-2023-base").optimum(C).tokens


def loss(law: Law, N: float, D: float, U: float | None) -> float:
    return float(law.value(N=N, D=D) if U is None else law.value(N=N, D=D, U=U))


def pulls(law: Law, N: float, D: float, U: float | None) -> tuple[float, float]:
    slope = law.gradient(N=N, D=D) if U is None else law.gradient(N=N, D=D, U=U)
    return float(slope[0]) * N, float(slope[1]) * D


def supported_params(law: Law, D: float, U: float) -> float:
    values = {**law.substitutions, data_constrained.U_D: min(D, U)}
    return float(data_constrained.unique_params.subs(values))


# -- the formula in 60 digits --------------------------------------------------------


@lru_cache
def precise(form: Form) -> Callable[..., mp.mpf]:
    one = mp.mpf(1)
    atoms = {"excess": lambda r: max(r - one, mp.mpf(0)), "capped": lambda r: min(r, one)}
    return sp.lambdify([*form.variables, *form.constants], form.expression, [atoms, "mpmath"])


def precise_function(law: Law) -> Callable[[list[mp.mpf]], mp.mpf]:
    constants = [mp.mpf(c) for c in law.constant_values]
    return lambda x: precise(law.form)(*x, *constants)


def moved(x: list[mp.mpf], *steps: tuple[int, mp.mpf]) -> list[mp.mpf]:
    found = list(x)
    for i, step in steps:
        found[i] *= 1 + step
    return found


def differences(law: Law, x: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """x_i f_i and x_i x_j f_ij by central differences."""
    f, at, k = precise_function(law), [mp.mpf(v) for v in x], len(x)
    h = mp.mpf(10) ** -12
    first, second = np.empty(k), np.empty((k, k))
    for i in range(k):
        up, down = f(moved(at, (i, h))), f(moved(at, (i, -h)))
        first[i] = (up - down) / (2 * h)
        second[i, i] = (up - 2 * f(at) + down) / h**2
        for j in range(i):
            corners = (
                a * b * f(moved(at, (i, a * h), (j, b * h))) for a in (-1, 1) for b in (-1, 1)
            )
            second[i, j] = second[j, i] = sum(corners) / (4 * h**2)
    return first, second


def away_from_kinks(law: Law, values: dict[str, float]) -> bool:
    if "U" not in values:
        return True
    N, D, U = values["N"], values["D"], values["U"]
    ratios = D / U, N / supported_params(law, D, U)
    return all(abs(math.log(r)) > 1e-6 for r in ratios)


@each_loss
@examples(25)
@given(N=params, D=tokens, U=unique)
def test_value_agrees_with_high_precision(name, N, D, U):
    law = laws.get(name)
    values = loss_point(law, N, D, U)
    with mp.workdps(60):
        expected = float(precise_function(law)([mp.mpf(v) for v in values.values()]))
    assert float(law.value(**values)) == pytest.approx(expected, rel=2e-14)


@each_loss
@examples(25)
@given(N=params, D=tokens, U=unique)
def test_gradient_and_hessian_are_finite_differences_of_the_value(name, N, D, U):
    law = laws.get(name)
    values = loss_point(law, N, D, U)
    assume(away_from_kinks(law, values))
    x = np.array(list(values.values()))
    with mp.workdps(60):
        first, second = differences(law, list(values.values()))
    np.testing.assert_allclose(law.gradient(**values) * x, first, rtol=1e-9, atol=1e-13)
    scaled = law.hessian(**values) * np.outer(x, x)
    np.testing.assert_allclose(scaled, second, rtol=1e-8, atol=1e-12)


@each_loss
@examples(25)
@given(N=params, D=tokens, U=unique)
def test_hessian_is_symmetric(name, N, D, U):
    law = laws.get(name)
    hessian = law.hessian(**loss_point(law, N, D, U))
    np.testing.assert_array_equal(hessian, hessian.T)


@pytest.mark.parametrize("form", laws.FORMS)
@examples(25)
@given(data=st.data())
def test_interpreted_numbers_are_the_compiled_ones(form, data):
    law = data.draw(any_law(form))
    values = data.draw(positions(law.form))
    at = {v: values[str(v)] for v in law.form.variables}
    x = np.array(list(at.values()))
    compiled, slopes = float(law.value(**values)), law.gradient(**values) * x
    assume(np.isfinite([compiled, *slopes]).all())
    value, gradient = value_and_gradient(
        law.form.expression, law.form.variables, {**law.substitutions, **at}
    )
    assert value == pytest.approx(compiled, rel=1e-11)
    np.testing.assert_allclose(gradient * x, slopes, rtol=1e-9, atol=1e-13 * abs(value))


# -- shape ---------------------------------------------------------------------------


@each_fresh
@examples(40)
@given(N=params, D=tokens, factor=growth)
def test_loss_falls_with_params_and_with_tokens(name, N, D, factor):
    law = laws.get(name)
    here = law.value(N=N, D=D)
    assert law.value(N=N * factor, D=D) < here
    assert law.value(N=N, D=D * factor) < here


@pytest.mark.parametrize("more", ["N", "D", "U"])
@examples(60)
@given(N=params, D=tokens, U=unique, factor=growth)
def test_saturating_loss_never_rises(more, N, D, U, factor):
    law = laws.get("muennighoff-2023")
    values = {"N": N, "D": D, "U": U}
    here = law.value(**values)
    assert law.value(**{**values, more: values[more] * factor}) <= here * (1 + ROUNDING)


@each_loss
def test_more_params_and_tokens_never_hurt(name):
    law = laws.get(name)
    grid = np.logspace(6, 15, 19)
    axes = dict(zip("NDU", np.meshgrid(grid, grid, grid, indexing="ij"), strict=True))
    slope = law.gradient(**loss_point(law, **axes))
    for i, variable in enumerate(map(str, law.form.variables)):
        if variable in axes:
            pull = slope[..., i] * axes[variable]
            assert np.isfinite(pull).all()
            assert pull.max() <= 1e-14


@each_dense
def test_loss_tends_to_the_irreducible_part(name):
    law = laws.get(name)
    huge = law.value(**loss_point(law, 1e250, 1e250, 1e250))
    assert huge == pytest.approx(law.irreducible, rel=1e-15, abs=1e-15)
    assert law.irreducible == (law.constants["E"].value if "E" in law.constants else 0.0)


@each_loss
@examples(25)
@given(N=params, D=tokens, U=unique)
def test_irreducible_part_is_added(name, N, D, U):
    law = laws.get(name)
    values = loss_point(law, N, D, U)
    rest = reducible(law).value(**values)
    assert rest > 0
    assert law.value(**values) == pytest.approx(law.irreducible + rest, rel=1e-14)


def log_hessian(law: Law, values: dict[str, float]) -> np.ndarray:
    """Hessian of ln f in the logarithms of the variables."""
    x = np.array([values[str(v)] for v in law.form.variables])
    f = law.value(**values)
    g = law.gradient(**values) * x / f
    second = law.hessian(**values) * np.outer(x, x) / f
    return second + np.diag(g) - np.outer(g, g)


def least_eigenvalue(law: Law, values: dict[str, float]) -> float:
    hessian = log_hessian(law, values)
    return float(np.linalg.eigvalsh(hessian)[0]) / max(1.0, float(np.abs(hessian).max()))


@pytest.mark.parametrize("name", CONVEX)
@examples(40)
@given(data=st.data())
def test_published_laws_that_claim_log_convexity_have_it(name, data):
    law = reducible(laws.get(name))
    assert least_eigenvalue(law, data.draw(positions(law.form))) > -1e-9


@pytest.mark.parametrize("form", CONVEX_FORMS)
@examples(40)
@given(data=st.data())
def test_claims_of_log_convexity_hold_for_any_constants(form, data):
    law = reducible(data.draw(any_law(form)))
    assert least_eigenvalue(law, data.draw(positions(law.form))) > -1e-9


@pytest.mark.parametrize("form", CONVEX_FORMS)
@examples(40)
@given(data=st.data())
def test_log_convexity_holds_across_kinks(form, data):
    law = reducible(data.draw(any_law(form)))
    a, b = data.draw(positions(law.form)), data.draw(positions(law.form))
    middle = {n: math.sqrt(a[n] * b[n]) for n in a}
    chord = (math.log(law.value(**a)) + math.log(law.value(**b))) / 2
    assert math.log(law.value(**middle)) <= chord + 1e-12 * max(1.0, abs(chord))


@each_additive
@examples(25)
@given(N=params, D=tokens, s=decades(-9, 9), t=decades(-9, 9))
def test_units_of_params_and_tokens_do_not_matter(name, N, D, s, t):
    law = laws.get(name)
    c = {n: k.value for n, k in law.constants.items()}
    other = with_constants(law, A=c["A"] * s ** c["alpha"], B=c["B"] * t ** c["beta"])
    expected = pytest.approx(float(law.value(N=N, D=D)), rel=1e-13)
    assert float(other.value(N=s * N, D=t * D)) == expected


# -- the compute optimum -------------------------------------------------------------


@each_dense
@examples(25)
@given(C=compute, scarcity=decades(-1, 2))
def test_optimum_is_the_brute_force_minimum(name, C, scarcity):
    law = laws.get(name)
    U = unique_for(law, C, scarcity)
    rest = reducible(law)

    def along(log_params: float) -> float:
        N = math.exp(log_params)
        return loss(rest, N, C / 6 / N, U)

    bounds = (math.log(1e3), math.log(C / 6e3))
    found = minimize_scalar(along, bounds=bounds, method="bounded", options={"xatol": 1e-9})
    assert math.log(law.optimum(C, U).params) == pytest.approx(found.x, abs=1e-6)


@each_dense
@examples(25)
@given(C=compute, scarcity=decades(-1.5, 2))
def test_pulls_balance_at_the_optimum(name, C, scarcity):
    law = laws.get(name)
    U = unique_for(law, C, scarcity)
    best = law.optimum(C, U)
    assert 6 * best.params * best.tokens == pytest.approx(C, rel=1e-12)
    assert best.loss == loss(law, best.params, best.tokens, U)
    pull_params, pull_tokens = pulls(law, best.params, best.tokens, U)
    assert pull_params == pytest.approx(pull_tokens, rel=1e-9)


@each_additive
@examples(25)
@given(C=compute)
def test_share_of_the_reducible_loss_at_the_optimum_is_the_exponent(name, C):
    law = laws.get(name)
    best = law.optimum(C)
    alpha, beta = law.constants["alpha"].value, law.constants["beta"].value
    from_params = law.value(N=best.params, D=1e300) - law.irreducible
    assert from_params / (best.loss - law.irreducible) == pytest.approx(
        beta / (alpha + beta), rel=1e-9
    )


@each_additive
@examples(25)
@given(C=compute, factor=decades(0.1, 3))
def test_reducible_loss_at_the_optimum_is_a_power_of_compute(name, C, factor):
    law = laws.get(name)
    alpha, beta = law.constants["alpha"].value, law.constants["beta"].value
    here, there = law.optimum(C).loss, law.optimum(C * factor).loss
    fall = math.log((here - law.irreducible) / (there - law.irreducible))
    assert fall == pytest.approx(alpha * beta / (alpha + beta) * math.log(factor), abs=1e-9)


@each_dense
@examples(25)
@given(C=compute, scarcity=decades(-1, 2))
def test_optimal_tokens_invert_the_optimum(name, C, scarcity):
    law = laws.get(name)
    U = unique_for(law, C, scarcity)
    best = law.optimum(C, U)
    assert law.optimal_tokens(best.params, U) == pytest.approx(best.tokens, rel=1e-7)


@each_dense
@examples(25)
@given(C=compute, scarcity=decades(-1, 2))
def test_no_traffic_is_implied_at_the_optimum(name, C, scarcity):
    law = laws.get(name)
    U = unique_for(law, C, scarcity)
    best = law.optimum(C, U)
    served = law.implied_served_tokens(best.params, best.tokens, U)
    assert abs(served) < 1e-8 * best.tokens


@each_fresh
@examples(25)
@given(C=compute, excess=decades(0.1, 2), change=st.sampled_from([0.98, 1.02]))
def test_implied_traffic_makes_the_plan_the_cheapest_for_its_loss(name, C, excess, change):
    law = laws.get(name)
    best = law.optimum(C)
    N, D = best.params, best.tokens * excess
    served = law.implied_served_tokens(N, D)
    assert served > 0
    target = loss(law, N, D, None)

    def gap(log_tokens: float) -> float:
        return loss(law, change * N, math.exp(log_tokens), None) - target

    assume(gap(80.0) < 0)  # some losses are out of reach of a smaller model
    other = math.exp(brentq(gap, math.log(D) - 5, 80.0, xtol=1e-13))
    assert 6 * N * D + 2 * N * served < change * N * (6 * other + 2 * served)


# -- arrays --------------------------------------------------------------------------


@each_loss
def test_arguments_broadcast(name):
    law = laws.get(name)
    k = len(law.form.variables)
    values = loss_point(law, np.logspace(8, 11, 3)[:, None], np.logspace(9, 12, 4), 1e11)
    assert law.value(**values).shape == (3, 4)
    assert law.gradient(**values).shape == (3, 4, k)
    assert law.hessian(**values).shape == (3, 4, k, k)


@each_loss
def test_scalars_give_scalars(name):
    law = laws.get(name)
    k = len(law.form.variables)
    values = loss_point(law, 1e9, 2e10, 1e11)
    assert law.value(**values).shape == ()
    assert law.gradient(**values).shape == (k,)
    assert law.hessian(**values).shape == (k, k)


@each_loss
def test_arrays_hold_what_scalars_give(name):
    law = laws.get(name)
    N, D = np.logspace(8, 11, 3)[:, None], np.logspace(9, 12, 4)
    for method in (law.value, law.gradient, law.hessian):
        table = method(**loss_point(law, N, D, 1e11))
        for i, j in np.ndindex(3, 4):
            single = method(**loss_point(law, N[i, 0], D[j], 1e11))
            np.testing.assert_allclose(table[i, j], single, rtol=1e-13, atol=1e-30)


@each_loss
def test_empty_arrays_stay_empty(name):
    law = laws.get(name)
    assert law.value(**loss_point(law, np.array([]), np.array([]), 1e11)).shape == (0,)


@pytest.mark.parametrize("name", [*LOSSES, "pretraining-flop"])
def test_integers_do_not_overflow(name):
    law = laws.get(name)
    N, D = np.array([10**12, 7 * 10**11]), np.array([10**13, 15 * 10**12])
    U = np.array([10**13, 10**13])
    for method in (law.value, law.gradient, law.hessian):
        np.testing.assert_array_equal(
            method(**loss_point(law, N, D, U)),
            method(**loss_point(law, N.astype(float), D.astype(float), U.astype(float))),
        )


def test_six_n_d_of_integers_is_exact_enough():
    flops = laws.get("pretraining-flop").value(N=np.array([10**12]), D=np.array([10**13]))
    assert flops[0] == pytest.approx(6e25, rel=1e-15)


@each_loss
def test_wrong_variables_are_refused(name):
    law = laws.get(name)
    with pytest.raises(TypeError, match="is a function of N, D"):
        law.value(N=1e9)
    with pytest.raises(TypeError, match="is a function of N, D"):
        law.value(**loss_point(law, 1e9, 1e10, 1e10), X=1.0)


# -- repetition ----------------------------------------------------------------------


@examples(60)
@given(U=unique, repeats=decades(-15, 0), excess_params=decades(-15, 0))
def test_little_repetition_keeps_full_precision(U, repeats, excess_params):
    law = laws.get("muennighoff-2023")
    D = U * (1 + repeats)
    N = supported_params(law, D, U) * (1 + excess_params)
    with mp.workdps(60):
        expected = precise_function(law)([mp.mpf(N), mp.mpf(D), mp.mpf(U)])
        error = abs(mp.mpf(float(law.value(N=N, D=D, U=U))) / expected - 1)
    assert error < 2e-15


@examples(40)
@given(U=decades(9, 12), epochs=st.floats(1.0, 100.0), half_life=decades(6, 18))
def test_repeats_that_hardly_decay_are_as_good_as_fresh(U, epochs, half_life):
    law = with_constants(laws.get("muennighoff-2023"), R_D=half_life, R_N=half_life)
    N, D = 30 * supported_params(law, U, U), epochs * U
    fresh = laws.get("muennighoff-2023-base").value(N=N, D=D)
    worst = 100 / half_life
    assert law.value(N=N, D=D, U=U) == pytest.approx(fresh, rel=worst + 1e-13)


@examples(40)
@given(D=decades(8, 14), below=decades(-4, 0))
def test_unlimited_unique_tokens_give_the_base_law(D, below):
    law = laws.get("muennighoff-2023")
    N = below * supported_params(law, D, 1e30) * (1 - 1e-12)
    fresh = laws.get("muennighoff-2023-base").value(N=N, D=D)
    assert law.value(N=N, D=D, U=1e30) == pytest.approx(fresh, rel=1e-15)


@examples(40)
@given(N=params, D=tokens, unread=decades(0, 6))
def test_unique_tokens_that_are_not_read_are_worth_nothing(N, D, unread):
    law = laws.get("muennighoff-2023")
    once = law.value(N=N, D=D, U=D)
    assert law.value(N=N, D=D, U=D * unread) == pytest.approx(once, rel=1e-14)


@examples(40)
@given(U=unique, support=decades(-2, 0))
def test_gradient_is_continuous_where_repetition_starts(U, support):
    law = laws.get("muennighoff-2023")
    N = supported_params(law, U, U) * support
    x = np.array([N, U, U])
    below, above = (law.gradient(N=N, D=U * (1 + s), U=U) * x for s in (-1e-9, 1e-9))
    np.testing.assert_allclose(below, above, rtol=1e-7, atol=1e-9)


@examples(40)
@given(D=tokens, U=unique)
def test_gradient_is_continuous_where_excess_parameters_start(D, U):
    law = laws.get("muennighoff-2023")
    N = supported_params(law, D, U)
    x = np.array([N, D, U])
    below, above = (law.gradient(N=N * (1 + s), D=D, U=U) * x for s in (-1e-9, 1e-9))
    np.testing.assert_allclose(below, above, rtol=1e-7, atol=1e-9)


@examples(40)
@given(N=params, D=tokens, U=unique)
def test_repetition_costs_loss(N, D, U):
    repeated = laws.get("muennighoff-2023").value(N=N, D=D, U=U)
    fresh = laws.get("muennighoff-2023-base").value(N=N, D=D)
    assert repeated >= fresh * (1 - ROUNDING)


def test_repetition_law_asks_for_its_unique_tokens():
    with pytest.raises(TypeError, match="needs unique_tokens"):
        laws.get("muennighoff-2023").optimum(1e21)


@pytest.mark.parametrize("wrong", [0.0, -1e21, math.nan])
def test_compute_must_be_positive(wrong):
    with pytest.raises(ValueError, match="compute must be positive"):
        laws.get("besiroglu-2024").optimum(wrong)


@pytest.mark.parametrize("name", laws.names("flop"))
def test_flop_counts_have_no_optimum(name):
    with pytest.raises(TypeError, match="it has no loss"):
        laws.get(name).optimum(1e21)
