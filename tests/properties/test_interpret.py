"""Walking an expression gives what compiling it gives, gradient included."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.codegen.cfunctions import expm1

import laws
from laws.compile import lambdify
from laws.interpret import evaluate, value_and_gradient
from laws.symbols import capped, excess

x, y, z = sp.symbols("x y z", positive=True)
POSITIVE = st.floats(0.05, 20.0)

leaves = st.sampled_from([x, y, z, sp.Integer(2), sp.Rational(1, 3), sp.Float(0.7)])


def grow(children):
    return st.one_of(
        st.tuples(children, children).map(lambda t: t[0] + t[1]),
        st.tuples(children, children).map(lambda t: t[0] * t[1]),
        st.tuples(children, st.sampled_from([x, y, -z, sp.Integer(-1), sp.Rational(1, 2)])).map(
            lambda t: (1 + t[0] ** 2) ** t[1]
        ),
        children.map(lambda e: sp.exp(-(e**2))),
        children.map(lambda e: sp.log(2 + e**2)),
        children.map(lambda e: expm1(-(e**2))),
        children.map(excess),
        children.map(capped),
    )


EXPRESSIONS = st.recursive(leaves, grow, max_leaves=8)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(EXPRESSIONS, POSITIVE, POSITIVE, POSITIVE)
def test_walk_equals_compiled(expression, a, b, c):
    values = {x: a, y: b, z: c}
    compiled = lambdify((x, y, z), [expression, *(sp.diff(expression, s) for s in (x, y, z))])
    expected = np.array([float(v) for v in compiled(a, b, c)])
    if not np.isfinite(expected).all() or np.abs(expected).max() > 1e100:
        return
    value, gradient = value_and_gradient(expression, (x, y, z), values)
    assert value == pytest.approx(expected[0], rel=1e-9, abs=1e-12)
    assert evaluate([expression], values)[0] == value
    scale = max(1.0, float(np.abs(expected).max()))
    assert gradient == pytest.approx(expected[1:].tolist(), rel=1e-8, abs=1e-9 * scale)


def test_gradient_against_high_precision_differences():
    law = laws.get("muennighoff-2023")
    form = law.form
    symbols = (*form.variables, *form.constants)
    point = dict(zip(symbols, (2e9, 3e11, 2e10, *law.constant_values), strict=True))
    _, gradient = value_and_gradient(form.expression, symbols, point)

    def f(**values):
        n, d, u = values["N"], values["D"], values["U"]
        used = min(d, u)
        alpha, beta = values["alpha"], values["beta"]
        size = (alpha * values["A"] / (beta * values["B"])) ** (1 / alpha) * used ** (beta / alpha)
        worth_n = size * (1 + values["R_N"] * (1 - mpmath.exp(-(n / size - 1) / values["R_N"])))
        worth_d = used * (1 + values["R_D"] * (1 - mpmath.exp(-(d / used - 1) / values["R_D"])))
        worth_n = worth_n if n > size else n
        return values["E"] + values["A"] * worth_n**-alpha + values["B"] * worth_d**-beta

    with mpmath.workdps(50):
        for index, symbol in enumerate(symbols):
            base = {str(s): mpmath.mpf(v) for s, v in point.items()}
            step = base[str(symbol)] * mpmath.mpf(10) ** -15
            up = f(**{**base, str(symbol): base[str(symbol)] + step})
            down = f(**{**base, str(symbol): base[str(symbol)] - step})
            exact = float((up - down) / (2 * step))
            assert gradient[index] == pytest.approx(exact, rel=1e-9), symbol


def test_symbols_that_do_not_occur_have_no_slope():
    assert value_and_gradient(x**2, (x, y), {x: 3.0}) == (9.0, [6.0, 0.0])


def test_a_factor_of_zero_keeps_the_slope_of_the_others():
    value, gradient = value_and_gradient(x * y * z, (x, y, z), {x: 0.0, y: 2.0, z: 5.0})
    assert value == 0.0
    assert gradient == [10.0, 0.0, 0.0]


def test_overflow_is_infinity():
    assert evaluate([sp.exp(x), x**y], {x: 1e4, y: 1e4}) == [math.inf, math.inf]
