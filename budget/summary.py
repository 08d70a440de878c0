"""The short answer: labels and values of the headline numbers, a table for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from budget import text

if TYPE_CHECKING:
    from budget.result import Plan


def headline(plan: Plan) -> str:
    """One sentence with the answer."""
    if plan.status == "infeasible":
        return f"{plan.scenario}: infeasible"
    assert plan.model and plan.pretraining and plan.rl and plan.overtraining and plan.total_cost_usd
    span = " over the lifetime" if plan.inference and plan.inference.cost_usd else " of training"
    rl = f", {text.count(plan.rl.tokens)} RL tokens" if plan.rl.tokens else ""
    return (
        f"{plan.scenario}: {text.count(plan.model.active_params)} active parameters on "
        f"{text.count(plan.pretraining.tokens)} tokens{rl} for "
        f"{text.dollars(plan.total_cost_usd)}{span}, "
        f"{text.factor(plan.overtraining.overtraining_factor)} past compute-optimal tokens"
    )


def rows(plan: Plan) -> list[tuple[str, str]]:
    """Label and value of every headline number."""
    assert plan.model and plan.pretraining and plan.rl and plan.inference and plan.quality
    assert plan.overtraining and plan.total_cost_usd is not None
    over = plan.overtraining
    total = plan.model.total_params
    found = [
        (
            "Model (active parameters)",
            text.exact(plan.model.active_params)
            + ("" if total is None else f", {text.count(total)} total"),
        ),
        ("Pretraining tokens D", text.exact(plan.pretraining.tokens)),
    ]
    if plan.pretraining.unique_tokens is not None and plan.pretraining.epochs is not None:
        unique = text.count(plan.pretraining.unique_tokens)
        epochs = text.significant(plan.pretraining.epochs, 3)
        found.append(("Unique tokens", f"{unique}, {epochs} epochs"))
    if plan.pretraining.training_bits is not None:
        found.append(("Training bits P", text.significant(plan.pretraining.training_bits)))
    if plan.rl.tokens:
        found.append(("RL tokens R", text.exact(plan.rl.tokens)))
    if plan.inference.output_tokens or plan.inference.input_tokens:
        found.append(("Served output tokens", text.exact(plan.inference.output_tokens)))
    if plan.inference.samples_per_query is not None:
        found.append(("Samples per query k", text.significant(plan.inference.samples_per_query)))
    if plan.inference.input_tokens:
        cached = plan.inference.cached_input_tokens
        found.append(
            (
                "Served input tokens",
                f"{text.exact(plan.inference.input_tokens)}, {text.count(cached)} of them cached",
            )
        )
    found += [
        (
            "Lifetime cost",
            f"{text.dollars(plan.total_cost_usd)} "
            f"({text.scientific(plan.total_flop or 0.0, 7)} FLOP)",
        ),
        ("Tokens per parameter D/N", text.significant(over.tokens_per_param)),
        (
            "Over-training factor, D over the compute-optimal tokens for this N",
            text.factor(over.overtraining_factor),
        ),
        ("D / (20 N)", text.significant(over.vs_20_tokens_per_param)),
        (
            "D/N over the D/N that is optimal for the same compute",
            text.factor(over.vs_same_compute),
        ),
        (
            "Loss",
            f"{plan.quality.loss:.6f} nat/token "
            f"({plan.quality.loss_reducible:.6f} above irreducible)",
        ),
    ]
    if plan.quality.score is not None:
        found.append(("Score", f"{plan.quality.score:.4f}"))
    return found


def split(plan: Plan) -> list[tuple[str, float, float, float]]:
    """Part, dollars, share and FLOP; dollars and shares add up to the whole."""
    assert plan.pretraining and plan.rl and plan.inference and plan.total_cost_usd
    parts = [
        ("pretraining", plan.pretraining.cost_usd, plan.pretraining.share, plan.pretraining.flop),
        ("RL", plan.rl.cost_usd, plan.rl.share, plan.rl.flop),
        ("inference", plan.inference.cost_usd, plan.inference.share, plan.inference.flop),
    ]
    parts += [(k, v, v / plan.total_cost_usd, 0.0) for k, v in plan.other_costs.items()]
    return [p for p in parts if p[1]]


def markdown(plan: Plan) -> str:
    """A plan as a small Markdown table (notebooks)."""
    lines = [f"**{headline(plan)}**", ""]
    if plan.status == "infeasible":
        return "\n".join([*lines, *(f"- {b.message}" for b in plan.binding)])
    lines += ["| | |", "| --- | --- |", *(f"| {label} | {value} |" for label, value in rows(plan))]
    return "\n".join(lines)
