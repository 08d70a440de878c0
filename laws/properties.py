"""What must hold of a law, one sentence each: the bodies behind `laws.checks`.

A property takes a law and returns a test of one point, or None if it was decided at once. A test
raises `BrokenError` with the counterexample in words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import mpmath
import sympy as sp

from laws import units
from laws.differences import DIGITS, difference, precise
from laws.form import VARIABLE_UNITS
from laws.frontier import NoOptimumError
from laws.interpret import evaluate
from laws.law import Law
from laws.symbols import D, N, S, U

DEFAULT_RANGE = {
    "N": (1e6, 1e13),
    "D": (1e8, 1e15),
    "U": (1e8, 1e15),
    "C": (1e15, 1e28),
    "R": (1e6, 1e15),
    "L": (0.5, 5.0),
    "L_T": (0.5, 5.0),
    "p_gold": (0.01, 0.99),
    "S": (1.0, 30.0),
    "G": (1.0, 32.0),
    "experts": (2.0, 512.0),
}
"""Where a variable is tried if the law does not say where its runs lie."""

Point = Mapping[sp.Symbol, float]

Test = Callable[[dict[sp.Symbol, float]], None] | None


class BrokenError(AssertionError):
    """A property does not hold; the message is the counterexample."""


class NotApplicableError(Exception):
    """A property says nothing about laws of this kind."""


def span(law: Law, variable: sp.Symbol) -> tuple[float, float]:
    """Where a variable is tried."""
    stated = law.validity.get(str(variable))
    if stated is not None:
        return stated.low, stated.high
    return DEFAULT_RANGE.get(str(variable), (1.0, 100.0))


def _value(law: Law, point: Point) -> float:
    return evaluate([law.form.expression], {**point, **law.substitutions})[0]


def _say(point: Point) -> str:
    return ", ".join(f"{symbol} = {value:.6g}" for symbol, value in point.items())


def _homogeneous(law: Law) -> Test:
    try:
        units.of_form(law.form)
    except units.UnitError as error:
        raise BrokenError(str(error)) from None
    return None


def _finite(law: Law) -> Test:
    signed = law.form.kind == "vocabulary"  # relative to a unigram model: may be negative

    def test(point: dict[sp.Symbol, float]) -> None:
        value = _value(law, point)
        if not math.isfinite(value) or (value < 0 and not signed):
            raise BrokenError(f"value {value:.6g} at {_say(point)}")

    return test


def _is_loss(law: Law) -> None:
    if law.form.kind not in ("loss", "learning-curve", "rl-loss"):
        raise NotApplicableError(f"a {law.form.kind} law has no direction of its own")


def _monotone(law: Law) -> Test:
    _is_loss(law)
    spending = [v for v in law.form.variables if str(v) in ("N", "D", "C", "R", "steps")]

    def test(point: dict[sp.Symbol, float]) -> None:
        before = _value(law, point)
        for variable in spending:
            more = {**point, variable: 1.5 * point[variable]}
            after = _value(law, more)
            if after > before * (1 + 1e-12):
                raise BrokenError(
                    f"loss rises from {before:.9g} to {after:.9g} as {variable} grows by half "
                    f"at {_say(point)}"
                )

    return test


def _above_irreducible(law: Law) -> Test:
    _is_loss(law)
    floor = law.irreducible

    def test(point: dict[sp.Symbol, float]) -> None:
        value = _value(law, point)
        if value < floor:
            raise BrokenError(
                f"loss {value:.9g} below the irreducible {floor:.9g} at {_say(point)}"
            )
        far = _value(law, {v: x * 1e60 for v, x in point.items()})
        if not floor <= far * (1 + 1e-12) or far - floor > 0.5 * (value - floor) + 1e-9:
            raise BrokenError(
                f"with everything 1e60 times larger than {_say(point)} the loss is {far:.6g}, "
                f"not near the irreducible {floor:.6g}"
            )

    return test


def _derivatives(law: Law) -> Test:
    compiled, variables = law.compiled, law.form.variables
    exact = precise(law)

    def test(point: dict[sp.Symbol, float]) -> None:
        if _at_kink(law, point):
            return
        arguments = [point[v] for v in variables]
        gradient = compiled.gradient(*arguments, *law.constant_values)
        hessian = compiled.hessian(*arguments, *law.constant_values)
        # Relative to the derivative, with rounding of the value itself forgiven.
        rounding = 1e-12 * abs(_value(law, point))
        with mpmath.workdps(DIGITS):
            centre = [mpmath.mpf(a) for a in arguments]
            for i, variable in enumerate(variables):
                slope = difference(exact, centre, [i])
                _agree(f"d/d{variable}", gradient[i], slope, rounding / arguments[i], point)
                for j in range(i, len(variables)):
                    name = f"d2/d{variable}d{variables[j]}"
                    bend = difference(exact, centre, [i, j])
                    noise = rounding / (arguments[i] * arguments[j])
                    _agree(name, hessian[i, j], bend, noise, point)
                    _agree(name, hessian[j, i], bend, noise, point)

    return test


def _agree(name: str, found: float, expected: mpmath.mpf, noise: float, point: Point) -> None:
    wanted, got = float(expected), float(found)
    if abs(got - wanted) > 1e-7 * max(abs(wanted), abs(got)) + noise:
        raise BrokenError(f"{name} is {got:.9g}, differences give {wanted:.9g} at {_say(point)}")


def _at_kink(law: Law, point: Point) -> bool:
    return U in law.form.variables and abs(point[D] / point[U] - 1.0) < 1e-9


def _rescaling(law: Law) -> Test:
    constants = {str(c): c for c in law.form.constants}
    try:
        of_constants = {
            c: units.parse(law.form.units.get(str(c), "1"), constants) for c in law.form.constants
        }
        of_variables = {
            v: units.parse(VARIABLE_UNITS.get(str(v), "1"), constants) for v in law.form.variables
        }
        of_value = units.of_form(law.form)
    except units.UnitError as error:
        raise BrokenError(str(error)) from None

    def test(point: dict[sp.Symbol, float]) -> None:
        before = _value(law, point)
        values = {**point, **law.substitutions}
        for unit in ("param", "token", "FLOP"):

            def scale(dimension: units.Dimension, unit: str = unit) -> float:
                exponent = dimension.get(unit, sp.S.Zero)
                return float(1e3 ** float(exponent.subs(law.substitutions)))

            scaled = {s: x * scale({**of_constants, **of_variables}[s]) for s, x in values.items()}
            after = evaluate([law.form.expression], scaled)[0] / scale(of_value)
            if abs(after - before) > 1e-9 * abs(before):
                raise BrokenError(
                    f"counting in a {unit} a thousand times smaller changes the value from "
                    f"{before:.12g} to {after:.12g} at {_say(point)}"
                )

    return test


def _optimum(law: Law) -> Test:
    if law.form.kind != "loss" or set(law.form.variables) - {N, D, U, S}:
        raise NotApplicableError("no compute-optimal size to check")

    def test(point: dict[sp.Symbol, float]) -> None:
        compute = 6.0 * point[N] * point[D]
        try:
            best = law.optimum(compute, point.get(U), point.get(S))
        except NoOptimumError as error:
            raise BrokenError(f"{error} at C = {compute:.6g}") from None
        assert best.loss is not None
        for shift in (0.5, 0.8, 0.95, 1.05, 1.25, 2.0):
            params = best.params * shift
            other = _value(law, {**point, N: params, D: compute / 6.0 / params})
            if other < best.loss * (1 - 1e-12):
                raise BrokenError(
                    f"{shift:g} times the optimal size has loss {other:.12g} below "
                    f"{best.loss:.12g} at C = {compute:.6g}"
                )

    return test


def _convex(law: Law) -> Test:
    if not law.form.log_convex:
        raise NotApplicableError("convexity is not claimed")

    def test(point: dict[sp.Symbol, float]) -> None:
        # Midpoints between this point and its mirror in the range.
        mirror = {}
        for variable, x in point.items():
            low, high = span(law, variable)
            mirror[variable] = low * high / x
        middle = {v: math.sqrt(point[v] * mirror[v]) for v in point}
        floor = law.irreducible
        ends = [math.log(_value(law, p) - floor) for p in (point, mirror)]
        centre = math.log(_value(law, middle) - floor)
        if centre > sum(ends) / 2 + 1e-9:
            raise BrokenError(
                f"ln(reducible) at the midpoint is {centre:.9g}, above the mean "
                f"{sum(ends) / 2:.9g} of its ends; one end is {_say(point)}"
            )

    return test


def _round_trip(law: Law) -> Test:
    for name, constant in law.constants.items():
        if not constant.of_logarithm:
            printed = float(f"{constant.value:.{constant.digits}g}")
            if printed != constant.value:
                raise BrokenError(
                    f"constant {name} = {constant.value!r} is not its {constant.digits} digits"
                )
    return None


MONOTONE = "loss falls with every input"
"""The check that planning rests on."""

CHECKS: dict[str, Callable[[Law], Test]] = {
    "units are homogeneous": _homogeneous,
    "value is finite and positive": _finite,
    MONOTONE: _monotone,
    "loss approaches its irreducible part": _above_irreducible,
    "gradient and Hessian equal 50-digit differences": _derivatives,
    "change of units changes constants only": _rescaling,
    "optimum beats its neighbours": _optimum,
    "claimed convexity holds": _convex,
    "constants survive printing": _round_trip,
}
"""Every check by its sentence."""
