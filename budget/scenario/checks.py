"""What a single field cannot know: which keys a goal needs, and which contradict each other."""

from __future__ import annotations

from typing import Any

import laws
from budget import catalog
from budget.errors import ScenarioError
from budget.scenario.schema import RL, Inference, Pretraining, ScenarioFile, Stage
from laws import curvature

QUALITY = ("loss", "score", "match")
STAGE_FIELDS = ("chip", "precision", "mfu", "goodput", "chip_price")
PLANNED = ("N", "D", "U")
RL_CONSTANTS = {"power": ("K", "gamma"), "sigmoid": ("A", "B", "C_mid")}


def check(file: ScenarioFile) -> None:
    """Raise `ScenarioError` (its `where` is a dotted key) for the first contradiction."""
    _law(file)
    _goal(file)
    _model(file)
    _traffic(file)
    _rl(file)
    _data(file)
    _constraints(file)


def rl_law(file: ScenarioFile) -> str:
    """The RL law, from law.rl or its synonym rl.law."""
    return file.rl.law if file.rl.law is not None else file.law.rl


def has_rl(file: ScenarioFile) -> bool:
    """Whether RL tokens are generated and paid for."""
    return rl_law(file) != "none" or file.rl.tokens is not None


def _fail(key: str, message: str) -> None:
    raise ScenarioError(message, key)


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
            _fail(
                where,
                f"{name} is {law.form.meaning}: it has no loss to plan with; "
                f"laws with a loss: {', '.join(laws.names('loss'))}",
            )
        beyond = [str(v) for v in law.form.variables if str(v) not in PLANNED]
        if beyond:
            _fail(where, f"{name} depends on {', '.join(beyond)}, which plans do not choose")
        if name.endswith(".toml"):
            _falls(law, where)
    if file.rl.law is not None and file.law.rl not in ("none", file.rl.law):
        _fail("rl.law", f"is '{file.rl.law}' but law.rl is '{file.law.rl}'")


def _falls(law: laws.Law, where: str) -> None:
    """A user's law must fall with N and D: the solvers and their proofs rest on it."""
    if curvature.decreasing(law.form.expression, law.form.variables):
        return
    from laws.checks import check
    from laws.properties import MONOTONE

    (result,) = check(law, examples=300, only=(MONOTONE,))
    if not result.passed:
        _fail(where, f"{law.name} cannot be planned with: {result.detail}")


def _goal(file: ScenarioFile) -> None:
    goal = file.goal
    stated = [q for q in QUALITY if getattr(goal, q) is not None]
    if len(stated) > 1:
        _fail(f"goal.{stated[1]}", f"excludes goal.{stated[0]}: state one quality target")
    if goal.kind == "min-cost" and not stated:
        _fail("goal", "min-cost needs a quality target: loss, score or match")
    if goal.kind != "min-cost" and stated:
        _fail(f"goal.{stated[0]}", f"goal {goal.kind} takes no quality target")
    if goal.kind == "max-quality" and goal.budget is None:
        _fail("goal.budget", "max-quality needs a budget, e.g. '50 MUSD'")
    if goal.kind != "max-quality" and goal.budget is not None:
        _fail("goal.budget", f"goal {goal.kind} takes no budget")
    if goal.kind == "fixed" and file.pretraining.tokens is None:
        _fail("pretraining.tokens", "goal fixed needs the tokens of the plan, e.g. '15T'")
    if goal.kind != "fixed" and file.pretraining.tokens is not None:
        _fail(
            "pretraining.tokens",
            f"goal {goal.kind} chooses the tokens; bound them with "
            "constraints.min_pretraining_tokens and max_pretraining_tokens",
        )
    sigmoid = rl_law(file) == "sigmoid"
    if goal.score is not None and not sigmoid:
        _fail("goal.score", "a score needs law.rl = 'sigmoid'")
    if sigmoid and goal.kind == "min-cost" and goal.score is None:
        _fail("goal", "law.rl = 'sigmoid' yields a score: state goal.score")


def _model(file: ScenarioFile) -> None:
    model = file.model
    if model.preset is not None:
        catalog.model(model.preset, "model.preset")
    given = model.preset is not None or model.active_params is not None
    if file.goal.kind in ("fixed", "equal-cost") and not given:
        _fail(
            "model.active_params",
            f"goal {file.goal.kind} needs a model size: active_params or preset",
        )
    if model.sparsity is not None and model.total_params is not None:
        _fail("model.sparsity", "excludes model.total_params")
    if (
        model.total_params is not None
        and model.active_params is not None
        and model.total_params < model.active_params
    ):
        _fail("model.total_params", "is smaller than model.active_params")


def _traffic(file: ScenarioFile) -> None:
    traffic = file.traffic
    if traffic is None:
        if file.goal.kind != "fixed":
            _fail(
                "traffic",
                f"goal {file.goal.kind} needs the traffic served; "
                "output_tokens = 0 says that none is",
            )
        return
    for rate in ("output", "input"):
        total = f"{rate}_tokens"
        if getattr(traffic, rate) is not None:
            if getattr(traffic, total) is not None:
                _fail(f"traffic.{total}", f"excludes traffic.{rate}: state the rate or the total")
            if traffic.lifetime is None:
                _fail(
                    "traffic.lifetime",
                    f"traffic.{rate} is a rate and needs a lifetime, e.g. '60 days'",
                )
    if traffic.output is None and traffic.output_tokens is None:
        _fail("traffic.output", "state the traffic: output = '50 Mtok/s' or output_tokens = '200T'")
    has_input = bool(traffic.input or traffic.input_tokens)
    if traffic.cached_input_share is not None and not has_input:
        _fail("traffic.cached_input_share", "needs traffic.input or traffic.input_tokens")
    served = bool(traffic.output or traffic.output_tokens)
    if file.goal.kind == "equal-cost" and not (served or has_input):
        _fail("traffic", "equal-cost with zero traffic is meaningless: spend equal to nothing")
    if (served or has_input) and file.inference is None:
        _fail("inference", "traffic is served: state its hardware in [inference]")
    if served:
        _stage(file.inference, "inference", "decode")
    if has_input:
        _stage(file.inference, "inference", "prefill")


def _rl(file: ScenarioFile) -> None:
    law, rl = rl_law(file), file.rl
    if law == "equal-cost" and file.goal.kind != "equal-cost":
        _fail("law.rl", "'equal-cost' sets RL spend by the heuristic and goes with goal equal-cost")
    for owner, constants in RL_CONSTANTS.items():
        for name in constants:
            value = getattr(rl, name)
            if law == owner and value is None:
                _fail(
                    f"rl.{name}",
                    f"law.rl = '{law}' needs it: no consensus value exists, state yours",
                )
            if law != owner and value is not None:
                _fail(f"rl.{name}", f"is a constant of law.rl = '{owner}', which is not chosen")
    _sigmoid(file, law)
    if law in ("power", "sigmoid") and file.goal.kind == "fixed" and rl.tokens is None:
        _fail("rl.tokens", "goal fixed with an RL law needs the RL tokens of the plan")
    if law == "power" and file.goal.match is not None and file.goal.match.rl_tokens is None:
        _fail(
            "goal.match.rl_tokens", "with law.rl = 'power' quality depends on RL tokens: state them"
        )
    if law == "equal-cost" and rl.tokens is not None:
        _fail("rl.tokens", "are chosen by law.rl = 'equal-cost'")
    if has_rl(file):
        for name in ("forward_passes", "trained_share"):
            if getattr(rl, name) is None:
                _fail(f"rl.{name}", "RL is paid for: state it (0 if there is none)")
        _stage(rl, "rl", "generation")
        _stage(rl, "rl", "training")


def _sigmoid(file: ScenarioFile, law: str) -> None:
    rl = file.rl
    depends = rl.k is not None or rl.L_half is not None
    if law != "sigmoid":
        if depends or rl.R0 is not None:
            _fail("rl", "R0, k and L_half are constants of law.rl = 'sigmoid', which is not chosen")
        return
    if depends and rl.R0 is not None:
        _fail("rl.R0", "excludes k and L_half, which make the base score depend on the loss")
    if depends and (rl.k is None or rl.L_half is None):
        _fail("rl.k" if rl.k is None else "rl.L_half", "k and L_half go together")
    if not depends and rl.R0 is None:
        _fail("rl.R0", "law.rl = 'sigmoid' needs a base score: R0, or k and L_half")
    if not depends and file.goal.kind != "fixed":
        _fail(
            "rl.R0",
            "with a fixed base score pretraining has no effect on the goal; "
            "state k and L_half instead, so that the base score falls with the loss",
        )


def _data(file: ScenarioFile) -> None:
    law = laws.get(file.law.pretraining)
    needs = any(str(v) == "U" for v in law.form.variables)
    if needs and file.data.unique_tokens is None:
        _fail("data.unique_tokens", f"law {law.name} depends on repetition and needs it")
    if file.data.max_epochs is not None and file.data.unique_tokens is None:
        _fail("data.max_epochs", "needs data.unique_tokens")


def _constraints(file: ScenarioFile) -> None:
    limits = file.constraints
    for side in ("min", "max"):
        if getattr(limits, f"{side}_rl_tokens") is not None and not has_rl(file):
            _fail(f"constraints.{side}_rl_tokens", "bounds RL tokens, but the scenario has no RL")
    for name in ("active_params", "pretraining_tokens", "rl_tokens", "tokens_per_param"):
        low, high = getattr(limits, f"min_{name}"), getattr(limits, f"max_{name}")
        if low is not None and high is not None and low > high:
            _fail(f"constraints.min_{name}", f"{low:g} exceeds max_{name} = {high:g}")
    if (limits.training_deadline is None) != (limits.training_chips is None):
        missing = "training_chips" if limits.training_chips is None else "training_deadline"
        _fail(f"constraints.{missing}", "training_deadline and training_chips go together")
    pretraining: Stage = file.pretraining
    assert isinstance(pretraining, Pretraining)
    _stage(pretraining, "pretraining", None)


def _stage(table: Stage | None, name: str, part: str | None) -> None:
    """Every hardware field of a stage must be stated in its table or in its parent, and exist."""
    assert isinstance(table, Pretraining | RL | Inference)
    inner = getattr(table, part) if part else None
    label = f"{name}.{part}" if part else name
    for field in STAGE_FIELDS:
        if getattr(table, field) is None and (inner is None or getattr(inner, field) is None):
            _fail(f"{label}.{field}", f"required: there is no default (here or in [{name}])")
    stated: dict[str, tuple[Any, str]] = {}
    for field in ("chip", "precision", "peak"):
        own = getattr(inner, field) if inner is not None else None
        where = f"{label}.{field}" if own is not None else f"{name}.{field}"
        stated[field] = (own if own is not None else getattr(table, field), where)
    chip = catalog.chip(*stated["chip"])
    precision, where = stated["precision"]
    if stated["peak"][0] is None:
        chip.peak_at(precision, where)
    else:
        chip.refuse_sparse(stated["peak"][0], precision, stated["peak"][1])
