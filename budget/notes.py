"""What a reader must be told: ranges left, conventions crossed, numbers that look wrong."""

from __future__ import annotations

from collections.abc import Iterator

from budget.numbers import Numbers, Point
from budget.problem import Problem
from budget.result import LawUse, Plan
from laws import curvature
from laws.symbols import S

FAR = 3.0
"""Factor off the compute-optimal tokens per parameter at which a fixed plan is remarked on."""


def law_uses(problem: Problem, point: Point) -> tuple[LawUse, ...]:
    """The laws behind a plan, each with what lies outside its runs."""
    law, outside = problem.law, _outside(problem, point)
    uses = [LawUse(law.name, str(law.source), not outside, (*outside, *law.notes))]
    if problem.rl_law in ("power", "sigmoid"):
        uses.append(
            LawUse(
                f"rl-{problem.rl_law}",
                "the scenario: no consensus constants exist for RL laws",
                False,
                ("constants are the user's own; no published range applies",),
            )
        )
    return tuple(uses)


def warnings(problem: Problem, numbers: Numbers, point: Point, plan: Plan) -> Iterator[str]:
    """Warnings of a plan, most important first."""
    law, file = problem.law, problem.scenario.file
    outside = _outside(problem, point)
    if outside:
        yield f"extrapolation beyond the runs {law.name} was fitted on: " + "; ".join(outside)
    yield from _sparse(problem, plan)
    if not (law.form.log_convex or curvature.decreasing(law.form.expression, law.form.variables)):
        yield (
            f"that the loss of {law.name} falls with N and D was tried at 300 points inside its "
            "range, not proven; the optimality bound rests on it"
        )
    if law.param_count not in ("total", "active"):
        yield f"{law.name} counts {law.param_count} parameters: N is read in that count"
    yield from _quantised(problem, plan)
    yield from _balance(problem, numbers, point, plan)
    if file.goal.kind == "fixed" and (plan.implied_served_tokens or 0.0) < 0:
        yield (
            f"no served traffic rationalises this plan under {law.name}: a smaller model on more "
            "tokens reaches its loss for less even if nothing is served"
        )
    for name in numbers.violated(point):
        yield f"the plan breaks {name}, which goal {file.goal.kind} does not enforce"
    unstated = file.traffic is not None and "peak_to_mean" not in file.traffic.model_fields_set
    if unstated and plan.inference is not None and plan.inference.cost_usd:
        yield "traffic.peak_to_mean is not stated: serving capacity is sized for the mean load"
    if problem.rl_law in ("power", "sigmoid"):
        yield f"the constants of the RL law ({problem.rl_law}) are the scenario's: none are agreed"
    if problem.rl_law == "equal-cost":
        yield "RL tokens follow from the equal-cost rule: no law says what they buy in quality"


def _outside(problem: Problem, point: Point) -> list[str]:
    values = {"N": point.params, "D": point.tokens, "D/N": point.tokens / point.params}
    unique = problem.scenario.file.data.unique_tokens
    if unique is not None:
        values["U"] = unique
    return problem.law.outside(**values)


def _sparse(problem: Problem, plan: Plan) -> Iterator[str]:
    assert plan.model is not None
    knows = S in problem.law.form.variables
    if not knows and plan.model.sparsity is not None and plan.model.sparsity > 1.0 + 1e-9:
        yield (
            f"{problem.law.name} was fitted on dense models; this model is sparse "
            f"(total / active = {plan.model.sparsity:.3g}) and is likely better than the loss says"
        )


def _quantised(problem: Problem, plan: Plan) -> Iterator[str]:
    """Over-trained models lose more when they are served in few bits (Kumar et al. 2024)."""
    assert plan.overtraining is not None
    coarse = [
        line.hardware.name
        for line in problem.spending.lines
        if line.group == "inference" and line.hardware and line.hardware.precision == "fp4"
    ]
    if coarse and plan.overtraining.overtraining_factor > FAR:
        yield (
            f"{' and '.join(coarse)} runs in fp4: quantising a model trained "
            f"{plan.overtraining.overtraining_factor:.3g} times past its compute-optimal tokens "
            "costs loss that grows with over-training (arXiv 2411.04330) and is not in this plan"
        )


def _balance(problem: Problem, numbers: Numbers, point: Point, plan: Plan) -> Iterator[str]:
    """Under- or over-training of a given plan that no traffic explains."""
    if problem.scenario.file.goal.kind != "fixed":
        return
    assert plan.overtraining is not None and plan.compute_optimal_reference is not None
    assert plan.inference is not None
    ratio = plan.overtraining.vs_same_compute
    served = plan.inference.output_tokens + plan.inference.input_tokens
    if 1 / FAR < ratio < FAR or (ratio > 1 and served):
        return
    word = "over-trained" if ratio > 1 else "under-trained"
    penalty = numbers.pretraining_loss(point) - plan.compute_optimal_reference.loss
    yield (
        f"{word}: {plan.overtraining.tokens_per_param:.3g} tokens per parameter is {ratio:.3g} "
        f"times the compute-optimal ratio for this compute; the loss is {penalty:.4g} nat/token "
        "above it"
    )
