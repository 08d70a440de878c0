"""What a scenario has, as yes or no: RL, samples, sparsity."""

from __future__ import annotations

import laws
from budget.scenario.schema import ScenarioFile


def rl_law(file: ScenarioFile) -> str:
    """The RL law, from law.rl or its synonym rl.law."""
    return file.rl.law if file.rl.law is not None else file.law.rl


def has_rl(file: ScenarioFile) -> bool:
    """Whether RL tokens are generated and paid for."""
    return rl_law(file) != "none" or file.rl.tokens is not None


def has_samples(file: ScenarioFile) -> bool:
    """Whether several samples are drawn per query."""
    return file.inference is not None and file.inference.samples is not None


def has_precision(file: ScenarioFile) -> bool:
    """Whether training precision acts on quality and cost."""
    return file.pretraining.low_precision is not None


def has_sparsity(file: ScenarioFile) -> bool:
    """Whether the law's loss depends on sparsity."""
    return any(str(v) == "S" for v in laws.get(file.law.pretraining).form.variables)
