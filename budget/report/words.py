"""The sentences of the report."""

from __future__ import annotations

from math import isclose

from budget.planning import Outcome
from budget.result import Baseline
from budget.text import count, dollars, percent, scientific
from laws.symbols import D, N, R


def why(outcome: Outcome) -> list[str]:
    """The first-order condition in words and numbers."""
    plan = outcome.plan
    pulls, spends = outcome.numbers.pulls(outcome.point)
    in_pull, in_dollars = pulls[N] / pulls[D], spends[N] / spends[D]
    measure = "the score" if outcome.problem.by_score else "the loss"
    sentences = [
        f"At an optimum that no constraint holds, each lever's share of the pull on {measure} "
        "equals its share of the dollars it moves: one per cent more of any lever then buys "
        "quality at the same price.",
        f"Here size against tokens is {in_pull:.4g} in pull and {in_dollars:.4g} in dollars"
        + _verdict(outcome, in_pull / in_dollars - 1.0),
    ]
    with_rl = plan.rl is not None and bool(plan.rl.tokens)
    if with_rl and pulls[R] == 0:
        sentences.append("No law says what RL tokens buy: they are left out of the shares.")
    if plan.inference is not None and plan.inference.cost_usd:
        parts = ["pretraining", *(["RL"] if with_rl else []), "inference"]
        sentences.append(
            f"Equal spend on {', '.join(parts[:-1])} and inference is optimal only where size "
            f"pulls {_equal_cost_ratio(outcome, with_rl):.3g} times as hard as tokens"
            + (" and tokens as hard as RL" if with_rl else "")
            + f"; here size pulls {in_pull:.3g} times as hard as tokens."
        )
    return sentences


def _equal_cost_ratio(outcome: Outcome, with_rl: bool) -> float:
    """(dC/dlnN)/(dC/dlnD) when pretraining, RL and inference cost the same."""
    # Research and failed runs are a multiple of pretraining and move with N and D alike.
    multiple = outcome.scenario.file.pretraining.research_multiplier or 1.0
    return (multiple + 1.0 + with_rl) / multiple


def _verdict(outcome: Outcome, off: float) -> str:
    if abs(off) < 1e-6:
        return ": they agree."
    lever, other = ("size", "tokens") if off > 0 else ("tokens", "size")
    binding = [
        name
        for name, price in outcome.plan.shadow_prices.items()
        if price.elasticity > 1e-9 and not name.startswith("goal.")
    ]
    held = f"; {' and '.join(binding)} stands in the way" if binding else ""
    fixed = " (N is held by the scenario)" if N in outcome.problem.held else ""
    return f", so a dollar moved from {other} to {lever} would improve quality{held}{fixed}."


def against_baselines(outcome: Outcome) -> list[str]:
    """What the heuristic, the given plan, or ignoring traffic costs in dollars."""
    plan, sentences = outcome.plan, []
    assert plan.total_cost_usd is not None
    best = plan.baseline("optimal")
    if best is not None:
        sentences.append(_against_optimum(outcome, best))
    ignoring = plan.baseline("chinchilla")
    if ignoring is not None and ignoring.extra_cost_usd > 0:
        sentences.append(
            "Ignoring traffic (compute-optimal training of the same quality) would cost "
            f"{dollars(ignoring.extra_cost_usd)} more."
        )
    return sentences


def _against_optimum(outcome: Outcome, best: Baseline) -> str:
    plan = outcome.plan
    assert plan.total_cost_usd is not None
    extra = -best.extra_cost_usd
    size = f"{count(best.active_params)} parameters on {count(best.tokens)} tokens"
    broken = outcome.numbers.violated(outcome.point)
    held = ""
    if plan.rl is not None and plan.rl.tokens and isclose(best.rl_tokens, plan.rl.tokens):
        held = f" (RL tokens held at {count(best.rl_tokens)}: no law says what they buy)"
    if broken:
        return (
            f"This plan breaks {' and '.join(broken)}. The cheapest plan of its quality that keeps "
            f"the limits is {size}{held} and costs {dollars(best.total_cost_usd)}."
        )
    if outcome.scenario.file.goal.kind == "equal-cost":
        return (
            f"**The heuristic costs {dollars(extra)} more than the optimum of the same quality "
            f"({percent(extra / best.total_cost_usd)} of it)**: {size} reach the same loss for "
            f"{dollars(best.total_cost_usd)}{held}."
        )
    served = plan.inference is not None and plan.inference.cost_usd
    return (
        f"At equal quality{'' if served else ', if nothing is served,'} the cheapest plan is "
        f"{size}{held}; it costs {dollars(extra)} less "
        f"({percent(extra / plan.total_cost_usd)} of this plan)."
    )


def implied(outcome: Outcome) -> str:
    """The reverse question, answered in one sentence."""
    served = outcome.plan.implied_served_tokens
    if served is None:
        return "Further tokens have no measurable worth left: no finite traffic explains this plan."
    law, multiple = outcome.problem.law.name, served / outcome.point.tokens
    if served < 0:
        return (
            f"No served traffic makes this plan optimal under {law} (T = {multiple:.3f} D at equal "
            "price per FLOP): it is under-trained for its size."
        )
    sentence = (
        "With every FLOP at one price, this plan is exactly optimal under "
        f"{law} for {scientific(served)} served tokens ({multiple:.3f} D)"
    )
    factor = _traffic_factor(outcome)
    if factor is None:
        return f"{sentence}."
    if factor < 0:
        return f"{sentence}; at this scenario's prices no traffic makes it optimal."
    return f"{sentence}; at this scenario's prices, for {factor:.3g} times the stated traffic."


def _traffic_factor(outcome: Outcome) -> float | None:
    """By what the stated traffic must be multiplied to make the plan optimal at its prices."""
    inference = outcome.plan.inference
    if inference is None or not inference.cost_usd:
        return None
    pulls, spends = outcome.numbers.pulls(outcome.point)
    wanted = pulls[N] / pulls[D] * spends[D] - (spends[N] - inference.cost_usd)
    return wanted / inference.cost_usd


def reported(outcome: Outcome) -> str | None:
    """Chip-hours against the published ones, with MFU and goodput named."""
    table = outcome.scenario.file.pretraining
    published = table.reported_chip_hours
    if published is None or outcome.plan.pretraining is None:
        return None
    assert table.mfu is not None and table.goodput is not None
    hours = outcome.plan.pretraining.chip_hours
    return (
        f"6ND at MFU {percent(table.mfu)} and goodput {percent(table.goodput)} takes "
        f"{hours:,.0f} chip-hours; {published:,.0f} are reported, {published / hours:.3g} times as "
        f"many ({dollars(published / hours * outcome.plan.pretraining.cost_usd)} at the same "
        "price). The reported hours imply MFU x goodput = "
        f"{percent(table.mfu * table.goodput * hours / published)} (6ND over hours times dense "
        "peak; attention and recomputation are not counted)."
    )
