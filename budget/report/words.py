"""The sentences of the report."""

from __future__ import annotations

from budget.planning import Outcome
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
        sentences.append(
            "Equal spend on pretraining, RL and inference is optimal only where size pulls three "
            "times as hard as tokens, and tokens as hard as RL; "
            if with_rl
            else "Equal spend on pretraining and inference is optimal only where size pulls twice "
            "as hard as tokens; "
        )
        sentences[-1] += f"here size pulls {in_pull:.3g} times as hard as tokens."
    return sentences


def _verdict(outcome: Outcome, off: float) -> str:
    if abs(off) < 1e-6:
        return ": they agree."
    lever, other = ("size", "tokens") if off > 0 else ("tokens", "size")
    binding = [
        name
        for name, price in outcome.plan.shadow_prices.items()
        if price.elasticity > 1e-9 and not name.startswith("goal.")
    ]
    held = f"; {' and '.join(binding)} stands in the way." if binding else "."
    return f", so a dollar moved from {other} to {lever} would improve quality{held}"


def against_baselines(outcome: Outcome) -> list[str]:
    """What the heuristic, the given plan, or ignoring traffic costs in dollars."""
    plan, sentences = outcome.plan, []
    assert plan.total_cost_usd is not None
    best = plan.baseline("optimal")
    if best is not None:
        extra = -best.extra_cost_usd
        size = f"{count(best.active_params)} parameters on {count(best.tokens)} tokens"
        if outcome.scenario.file.goal.kind == "equal-cost":
            sentences.append(
                f"**The heuristic costs {dollars(extra)} more than the optimum of the same quality "
                f"({percent(extra / best.total_cost_usd)} of it)**: {size} reach the same loss for "
                f"{dollars(best.total_cost_usd)}."
            )
        else:
            served = plan.inference is not None and plan.inference.cost_usd
            sentences.append(
                f"At equal quality{'' if served else ', if nothing is served,'} the cheapest plan "
                f"is {size}; it costs {dollars(extra)} less "
                f"({percent(extra / plan.total_cost_usd)} of this plan)."
            )
    ignoring = plan.baseline("chinchilla")
    if ignoring is not None and ignoring.extra_cost_usd > 0:
        sentences.append(
            "Ignoring traffic (compute-optimal training of the same quality) would cost "
            f"{dollars(ignoring.extra_cost_usd)} more."
        )
    return sentences


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
    return (
        "At equal price per FLOP of training and serving, this plan is exactly optimal under "
        f"{law} for {scientific(served)} served tokens ({multiple:.3f} D)."
    )


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
        f"many. The reported hours imply MFU x goodput = "
        f"{percent(table.mfu * table.goodput * hours / published)} (6ND over hours times dense "
        "peak; attention and recomputation are not counted)."
    )
