"""The first lines of the report."""

from __future__ import annotations

from budget import catalog, text
from budget.planning import Outcome


def summary(outcome: Outcome) -> str | None:
    """The scenario's own sentence; once keys are changed it may no longer be true."""
    changes = outcome.scenario.changes
    if not changes:
        return outcome.scenario.file.report.summary
    listed = ", ".join(f"`{key} = {value}`" for key, value in changes)
    return f"The scenario {outcome.scenario.label} with {listed}."


def reference(outcome: Outcome) -> str:
    """The compute-optimal plan of the same pretraining compute."""
    best = outcome.plan.compute_optimal_reference
    assert best is not None
    return (
        f"{text.count(best.active_params)} parameters on {text.count(best.tokens)} tokens, "
        f"loss {best.loss:.4f}"
    )


def status(outcome: Outcome) -> str:
    """Whether the plan was optimised or given."""
    goal = outcome.scenario.file.goal.kind
    if goal in ("min-cost", "max-quality"):
        return f"{outcome.plan.status}, goal {goal}"
    return f"evaluated, not optimised: goal {goal}"


def counts(outcome: Outcome) -> str | None:
    """What the parameter count of a released model includes, and which count the law uses."""
    name = outcome.scenario.file.model.preset
    if name is None or outcome.scenario.file.model.active_params is not None:
        return None
    model = catalog.model(name, "model.preset")
    figures = {
        "total": model.total_params,
        "active": model.active_params,
        "non-embedding": model.non_embedding_params,
        "active in matrix products (without the input table)": model.matmul_params,
    }
    listed = ", ".join(f"{value:,.0f} {what}" for what, value in figures.items())
    law = outcome.problem.law
    part = (
        " (of a sparse model, the active ones)" if model.total_params > model.active_params else ""
    )
    return (
        f"Parameters of {model.name}: {listed}. {law.name} counts {law.param_count} parameters"
        f"{part}, so N = {outcome.point.params:,.0f} here and in 6ND."
    )


def capacity(outcome: Outcome) -> list[tuple[str, str]]:
    """Chips and days, where the scenario gives what they follow from."""
    plan, file, rows = outcome.plan, outcome.scenario.file, []
    chips = file.constraints.training_chips
    if chips is not None and plan.pretraining is not None:
        days = plan.pretraining.chip_hours / chips / 24
        rows.append(("Pretraining wall clock", f"{days:.3g} days on {chips:,.0f} chips"))
    lifetime = None if file.traffic is None else file.traffic.lifetime
    if lifetime is not None and plan.inference is not None and plan.inference.chip_hours:
        held = plan.inference.chip_hours * 3600 / lifetime
        rows.append(("Chips held for serving", f"{held:,.0f} on average over the lifetime"))
    return rows


def near(outcome: Outcome) -> str | None:
    """Sizes within 1 % of the least cost, and whether the plan is among them."""
    interval = outcome.plan.near_optimal
    if interval is None:
        return None
    low, high = interval["active_params"]
    inside = low * (1 - 1e-9) <= outcome.point.params <= high * (1 + 1e-9)
    note = "" if inside else " (this plan is not among them)"
    return f"{text.count(low)} to {text.count(high)} active parameters{note}"
