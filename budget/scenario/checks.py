"""What a single field cannot know: which keys a goal needs, and which contradict each other."""

from __future__ import annotations

import laws
from budget import catalog
from budget.errors import ScenarioError
from budget.scenario import lever_checks
from budget.scenario.facts import has_rl, rl_law
from budget.scenario.schema import Model, ScenarioFile
from budget.scenario.stage_checks import fail, stage
from laws import curvature

QUALITY = ("loss", "score", "match")
PLANNED = ("N", "D", "U", "S")


def check(file: ScenarioFile) -> None:
    """Raise `ScenarioError` (its `where` is a dotted key) for the first contradiction."""
    _law(file)
    _goal(file)
    lever_checks.downstream(file)
    _model(file)
    lever_checks.levers(file)
    _traffic(file)
    lever_checks.reinforcement(file)
    _data(file)
    _constraints(file)


def _law(file: ScenarioFile) -> None:
    key = "law.pretraining"
    for name, where in [(file.law.pretraining, key)] + [
        (n, "report.compare_laws") for n in file.report.compare_laws
    ]:
        try:
            law = laws.get(name)
        except (laws.UnknownLawError, laws.LawFileError) as error:
            raise ScenarioError(str(error), where) from None
        if law.form.kind != "loss":
            fail(
                where,
                f"{name} is {law.form.meaning}: it has no loss to plan with; "
                f"laws with a loss: {', '.join(laws.names('loss'))}",
            )
        beyond = [str(v) for v in law.form.variables if str(v) not in PLANNED]
        if beyond:
            fail(where, f"{name} depends on {', '.join(beyond)}, which plans do not choose")
        if name.endswith(".toml"):
            _falls(law, where)
    if file.rl.law is not None and file.law.rl not in ("none", file.rl.law):
        fail("rl.law", f"is '{file.rl.law}' but law.rl is '{file.law.rl}'")


def _falls(law: laws.Law, where: str) -> None:
    """A user's law must fall with N and D: the solvers and their proofs rest on it."""
    if curvature.decreasing(law.form.expression, law.form.variables):
        return
    from laws.checks import check
    from laws.properties import MONOTONE

    (result,) = check(law, examples=300, only=(MONOTONE,))
    if not result.passed:
        fail(where, f"{law.name} cannot be planned with: {result.detail}")


def _goal(file: ScenarioFile) -> None:
    goal = file.goal
    stated = [q for q in QUALITY if getattr(goal, q) is not None]
    if len(stated) > 1:
        fail(f"goal.{stated[1]}", f"excludes goal.{stated[0]}: state one quality target")
    if goal.kind == "min-cost" and not stated:
        fail("goal", "min-cost needs a quality target: loss, score or match")
    if goal.kind != "min-cost" and stated:
        fail(f"goal.{stated[0]}", f"goal {goal.kind} takes no quality target")
    if goal.kind == "max-quality" and goal.budget is None:
        fail("goal.budget", "max-quality needs a budget, e.g. '50 MUSD'")
    if goal.kind != "max-quality" and goal.budget is not None:
        fail("goal.budget", f"goal {goal.kind} takes no budget")
    if goal.kind == "fixed" and file.pretraining.tokens is None:
        fail("pretraining.tokens", "goal fixed needs the tokens of the plan, e.g. '15T'")
    if goal.kind != "fixed" and file.pretraining.tokens is not None:
        fail(
            "pretraining.tokens",
            f"goal {goal.kind} chooses the tokens; bound them with "
            "constraints.min_pretraining_tokens and max_pretraining_tokens",
        )
    sigmoid = rl_law(file) == "sigmoid"
    if goal.score is not None and not sigmoid and file.law.downstream is None:
        fail("goal.score", "a score needs law.downstream, or law.rl = 'sigmoid'")
    if sigmoid and goal.kind == "min-cost" and goal.score is None:
        fail("goal", "law.rl = 'sigmoid' yields a score: state goal.score")


def _model(file: ScenarioFile) -> None:
    model = file.model
    if model.preset is not None:
        _preset(model)
    given = model.preset is not None or model.active_params is not None
    if file.goal.kind in ("fixed", "equal-cost") and not given:
        fail(
            "model.active_params",
            f"goal {file.goal.kind} needs a model size: active_params or preset",
        )
    if model.sparsity is not None and model.total_params is not None:
        fail("model.sparsity", "excludes model.total_params")
    if (
        model.total_params is not None
        and model.active_params is not None
        and model.total_params < model.active_params
    ):
        fail("model.total_params", "is smaller than model.active_params")


def _preset(model: Model) -> None:
    """A preset may be overridden field by field, but not into a contradiction."""
    assert model.preset is not None
    preset = catalog.model(model.preset, "model.preset")
    active = model.active_params or preset.active_params
    if model.total_params is not None and model.total_params < active:
        fail("model.total_params", f"is smaller than the {active:g} active parameters")
    if model.sparsity is not None and model.active_params is None:
        actual = preset.total_params / preset.active_params
        if abs(model.sparsity / actual - 1.0) > 0.01:
            fail("model.sparsity", f"{preset.id} has {actual:.4g}; leave it out, or state a size")


def _traffic(file: ScenarioFile) -> None:
    traffic = file.traffic
    if traffic is None:
        if file.goal.kind != "fixed":
            fail(
                "traffic",
                f"goal {file.goal.kind} needs the traffic served; "
                "output_tokens = 0 says that none is",
            )
        return
    for rate in ("output", "input"):
        total = f"{rate}_tokens"
        if getattr(traffic, rate) is not None:
            if getattr(traffic, total) is not None:
                fail(f"traffic.{total}", f"excludes traffic.{rate}: state the rate or the total")
            if traffic.lifetime is None:
                fail(
                    "traffic.lifetime",
                    f"traffic.{rate} is a rate and needs a lifetime, e.g. '60 days'",
                )
    if traffic.output is None and traffic.output_tokens is None:
        fail("traffic.output", "state the traffic: output = '50 Mtok/s' or output_tokens = '200T'")
    has_input = bool(traffic.input or traffic.input_tokens)
    if traffic.cached_input_share is not None and not has_input:
        fail("traffic.cached_input_share", "needs traffic.input or traffic.input_tokens")
    served = bool(traffic.output or traffic.output_tokens)
    if file.goal.kind == "equal-cost" and not (served or has_input):
        fail("traffic", "equal-cost with zero traffic is meaningless: spend equal to nothing")
    if (served or has_input) and file.inference is None:
        fail("inference", "traffic is served: state its hardware in [inference]")
    if served:
        stage(file.inference, "inference", "decode")
    if has_input:
        stage(file.inference, "inference", "prefill")


def _data(file: ScenarioFile) -> None:
    law = laws.get(file.law.pretraining)
    needs = any(str(v) == "U" for v in law.form.variables)
    if needs and file.data.unique_tokens is None:
        fail("data.unique_tokens", f"law {law.name} depends on repetition and needs it")
    if file.data.max_epochs is not None and file.data.unique_tokens is None:
        fail("data.max_epochs", "needs data.unique_tokens")


def _constraints(file: ScenarioFile) -> None:
    limits = file.constraints
    for side in ("min", "max"):
        if getattr(limits, f"{side}_rl_tokens") is not None and not has_rl(file):
            fail(f"constraints.{side}_rl_tokens", "bounds RL tokens, but the scenario has no RL")
    for name in (
        "active_params",
        "pretraining_tokens",
        "rl_tokens",
        "tokens_per_param",
        "sparsity",
    ):
        low, high = getattr(limits, f"min_{name}"), getattr(limits, f"max_{name}")
        if low is not None and high is not None and low > high:
            fail(f"constraints.min_{name}", f"{low:g} exceeds max_{name} = {high:g}")
    if (limits.training_deadline is None) != (limits.training_chips is None):
        missing = "training_chips" if limits.training_chips is None else "training_deadline"
        fail(f"constraints.{missing}", "training_deadline and training_chips go together")
    stage(file.pretraining, "pretraining", None)
