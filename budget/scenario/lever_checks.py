"""Checks of what acts on quality besides N and D: RL, samples, sparsity, downstream scores."""

from __future__ import annotations

from budget.scenario.facts import has_precision, has_rl, has_samples, has_sparsity, rl_law
from budget.scenario.schema import ScenarioFile
from budget.scenario.stage_checks import fail, stage

DOWNSTREAM = {
    "sigmoid": ("floor", "ceiling", "slope", "L_half"),
    "error": ("epsilon", "k_e", "gamma"),
}
RL_CONSTANTS = {"power": ("K", "gamma"), "sigmoid": ("A", "B", "C_mid")}


def downstream(file: ScenarioFile) -> None:
    """A downstream law: the constants of its kind, no others."""
    table = file.law.downstream
    if table is None:
        return
    if rl_law(file) == "sigmoid":
        fail("law.downstream", "excludes law.rl = 'sigmoid', which yields a score of its own")
    for kind, names in DOWNSTREAM.items():
        for name in names:
            value = getattr(table, name)
            if table.kind == kind and value is None:
                fail(f"law.downstream.{name}", f"kind '{kind}' needs it: state your own fit")
            if table.kind != kind and value is not None:
                fail(f"law.downstream.{name}", f"is a constant of kind '{kind}'")
    if table.kind == "sigmoid" and not (table.floor or 0.0) < (table.ceiling or 0.0):
        fail("law.downstream.floor", "must lie below ceiling")


def levers(file: ScenarioFile) -> None:
    """Sparsity and samples: stated, bounded or both, and part of a quality to match."""
    match, limits = file.goal.match, file.constraints
    sparse, sampled, coarse = has_sparsity(file), has_samples(file), has_precision(file)
    for name, used, law in (
        ("sparsity", sparse, "a law in sparsity, such as abnar-2025"),
        ("samples", sampled, "inference.samples"),
        ("bits", coarse, "pretraining.low_precision"),
    ):
        value = None if match is None else getattr(match, name)
        if match is not None and used and value is None:
            fail(f"goal.match.{name}", "quality depends on it: state it")
        if value is not None and not used:
            fail(f"goal.match.{name}", f"needs {law}")
    for name in ("min_sparsity", "max_sparsity", "max_total_params"):
        if getattr(limits, name) is not None and not sparse:
            fail(f"constraints.{name}", "needs a law in sparsity, such as abnar-2025")
    for name in ("min_training_bits", "max_training_bits"):
        if getattr(limits, name) is not None and not coarse:
            fail(f"constraints.{name}", "needs pretraining.low_precision")
    low = file.pretraining.low_precision
    if low is not None and low.bits is None and file.goal.kind not in ("min-cost", "max-quality"):
        fail("pretraining.low_precision.bits", f"goal {file.goal.kind} needs the training bits")
    if low is not None and file.pretraining.precision not in (None, "bf16", "fp16"):
        fail("pretraining.precision", "state the 16-bit peak: low_precision scales down from it")
    if limits.max_samples_per_query is not None and not sampled:
        fail("constraints.max_samples_per_query", "needs inference.samples")
    given = file.model.sparsity is not None
    bounded = limits.max_sparsity is not None or limits.max_total_params is not None
    chosen = file.goal.kind in ("min-cost", "max-quality")
    if sparse and not given and not (bounded and chosen):
        fail(
            "model.sparsity",
            "the law depends on it and memory is not priced: state it"
            + (", or bound it with constraints.max_sparsity" if chosen else ""),
        )
    samples = None if file.inference is None else file.inference.samples
    if samples is not None and samples.count is None and not chosen:
        fail("inference.samples.count", f"goal {file.goal.kind} needs the samples per query")


def reinforcement(file: ScenarioFile) -> None:
    """RL laws: constants, tokens, hardware."""
    law, rl = rl_law(file), file.rl
    if law == "equal-cost" and file.goal.kind != "equal-cost":
        fail("law.rl", "'equal-cost' sets RL spend by the heuristic and goes with goal equal-cost")
    for owner, constants in RL_CONSTANTS.items():
        for name in constants:
            value = getattr(rl, name)
            if law == owner and value is None:
                fail(
                    f"rl.{name}",
                    f"law.rl = '{law}' needs it: no consensus value exists, state yours",
                )
            if law != owner and value is not None:
                fail(f"rl.{name}", f"is a constant of law.rl = '{owner}', which is not chosen")
    _sigmoid(file, law)
    if law in ("power", "sigmoid") and file.goal.kind == "fixed" and rl.tokens is None:
        fail("rl.tokens", "goal fixed with an RL law needs the RL tokens of the plan")
    if law == "power" and file.goal.match is not None and file.goal.match.rl_tokens is None:
        fail(
            "goal.match.rl_tokens", "with law.rl = 'power' quality depends on RL tokens: state them"
        )
    if law == "equal-cost" and rl.tokens is not None:
        fail("rl.tokens", "are chosen by law.rl = 'equal-cost'")
    if has_rl(file):
        for name in ("forward_passes", "trained_share"):
            if getattr(rl, name) is None:
                fail(f"rl.{name}", "RL is paid for: state it (0 if there is none)")
        stage(rl, "rl", "generation")
        stage(rl, "rl", "training")


def _sigmoid(file: ScenarioFile, law: str) -> None:
    rl = file.rl
    depends = rl.k is not None or rl.L_half is not None
    if law != "sigmoid":
        if depends or rl.R0 is not None:
            fail("rl", "R0, k and L_half are constants of law.rl = 'sigmoid', which is not chosen")
        return
    if depends and rl.R0 is not None:
        fail("rl.R0", "excludes k and L_half, which make the base score depend on the loss")
    if depends and (rl.k is None or rl.L_half is None):
        fail("rl.k" if rl.k is None else "rl.L_half", "k and L_half go together")
    if not depends and rl.R0 is None:
        fail("rl.R0", "law.rl = 'sigmoid' needs a base score: R0, or k and L_half")
    if not depends and file.goal.kind != "fixed":
        fail(
            "rl.R0",
            "with a fixed base score pretraining has no effect on the goal; "
            "state k and L_half instead, so that the base score falls with the loss",
        )
