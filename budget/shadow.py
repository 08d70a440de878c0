"""Shadow prices: what one unit more of each bound is worth, from the multipliers.

In log space a multiplier is an elasticity: d ln(objective)/d ln(bound slack).
"""

from __future__ import annotations

from collections.abc import Mapping

from budget import programs
from budget.goals import Answer
from budget.numbers import Numbers
from budget.problem import Problem
from budget.result import ShadowPrice


def unique_tokens_price(
    problem: Problem,
    numbers: Numbers,
    found: Answer,
    prices: Mapping[str, ShadowPrice],
    moves: Mapping[str, Mapping[str, float]],
) -> ShadowPrice:
    """Worth of unique tokens under a law of repetition, whether or not a cap binds.

    They act through the law itself, so the price is the total derivative of the optimum, from
    its exact elasticities `moves`.
    """
    key = "data.unique_tokens"
    bound = numbers.evaluate(problem.inputs.symbols[key])
    if problem.budget is None:
        saved = -moves["total_cost_usd"][key]
        return ShadowPrice(bound, "token", saved * numbers.cost(found.point) / bound, None, saved)
    gained = -moves["quality.loss"][key]
    per_token = gained * numbers.loss(found.point) / bound
    per_dollar = prices["goal.budget"].loss_per_unit
    usd = per_token / per_dollar if per_dollar else None
    return ShadowPrice(bound, "token", usd, per_token, gained)


def shadow_prices(problem: Problem, numbers: Numbers, found: Answer) -> dict[str, ShadowPrice]:
    """Shadow price of every constraint, by the key that states it; zero where slack."""
    total = numbers.cost(found.point)
    program, multipliers = found.conditions.program, found.conditions.multipliers
    assert program is not None and multipliers is not None
    by_name = {c.name: float(m) for c, m in zip(program.constraints, multipliers, strict=True)}
    maximising = problem.budget is not None
    reducible = numbers.loss(found.point) - numbers.irreducible()
    # d(quality)/d ln(objective): the objective is ln(cost), ln(reducible loss) or -ln(score).
    measure = numbers.measure(found.point) if problem.by_score else reducible
    per_dollar = 0.0
    if maximising:
        per_dollar = by_name[programs.BUDGET] * measure / numbers.evaluate(problem.budget)
    prices: dict[str, ShadowPrice] = {}
    for name, multiplier in by_name.items():
        key, bound, unit, span = _bound(problem, numbers, found, name, reducible)
        if maximising:
            gain = multiplier * measure / span
            usd = gain / per_dollar if per_dollar else None
            prices[key] = ShadowPrice(bound, unit, usd, gain, multiplier)
        else:
            prices[key] = ShadowPrice(bound, unit, multiplier * total / span, None, multiplier)
    return prices


def _bound(
    problem: Problem, numbers: Numbers, found: Answer, name: str, reducible: float
) -> tuple[str, float, str, float]:
    """Key, bound, unit, and the bound's distance from its zero (what ln moves by)."""
    if name == programs.BUDGET:
        budget = numbers.evaluate(problem.budget)
        return found.quality_name, budget, "USD", budget
    if name == programs.QUALITY:
        target = numbers.evaluate(problem.target)
        if problem.by_score:
            return found.quality_name, target, "score", target
        return found.quality_name, target, "nat/token", reducible
    limit = next(li for li in problem.limits if li.name == name)
    bound = numbers.evaluate(limit.bound)
    return limit.name, bound, limit.unit, bound
