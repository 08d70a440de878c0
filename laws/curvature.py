"""Prove log-convexity and monotonicity from an expression's structure.

A function is log-convex if its logarithm is convex in the logarithms of its variables. Sums and
products of log-convex functions, and positive powers of them, are log-convex; monomials are,
with any exponents (Agrawal, Diamond, Boyd 2019, Disciplined geometric programming). Nothing is
concluded from an expression outside these rules.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp


def log_convex(expression: sp.Expr, variables: Sequence[sp.Symbol]) -> str | None:
    """Why `expression` is log-convex in `variables`, or None if the rules do not show it."""
    expanded = sp.expand(expression)
    if _posynomial(expanded, variables):
        return "reducible part is a posynomial"
    if _by_rules(expression, variables):
        return "reducible part is built from posynomials by sums, products and positive powers"
    return None


def _posynomial(expression: sp.Expr, variables: Sequence[sp.Symbol]) -> bool:
    return all(_monomial(t, variables) for t in sp.Add.make_args(expression))


def _monomial(term: sp.Expr, variables: Sequence[sp.Symbol]) -> bool:
    """A positive coefficient times powers of variables with exponents free of variables."""
    free = set(variables)
    for factor in sp.Mul.make_args(term):
        base, exponent = factor.as_base_exp()
        if exponent.free_symbols & free:
            return False
        if base in free:
            continue
        if base.free_symbols & free or not factor.is_positive:
            return False
    return True


def _by_rules(expression: sp.Expr, variables: Sequence[sp.Symbol]) -> bool:
    free = set(variables)
    if not expression.free_symbols & free:
        return bool(expression.is_positive)
    if isinstance(expression, sp.Add | sp.Mul):
        return all(_by_rules(a, variables) for a in expression.args)
    if isinstance(expression, sp.Pow):
        base, exponent = expression.args
        if exponent.free_symbols & free:
            return False
        if _monomial(base, variables):
            return True
        return bool(exponent.is_positive) and _by_rules(base, variables)
    return expression in free


def decreasing(expression: sp.Expr, variables: Sequence[sp.Symbol]) -> bool:
    """Whether the rules show that `expression` never rises with any of `variables`.

    Sums of such functions, positive multiples, products of such positive functions and positive
    powers of them qualify; so do negative powers of a variable.
    """
    free = set(variables)
    if not expression.free_symbols & free:
        return True
    if isinstance(expression, sp.Add):
        return all(decreasing(a, variables) for a in expression.args)
    if isinstance(expression, sp.Mul):
        return all(bool(a.is_positive) and decreasing(a, variables) for a in expression.args)
    if not isinstance(expression, sp.Pow) or expression.exp.free_symbols & free:
        return False
    base, exponent = expression.args
    if base in free:
        return bool(exponent.is_negative)
    return bool(exponent.is_positive and base.is_positive) and decreasing(base, variables)
