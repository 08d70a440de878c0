"""Plan how large a model to train, on how many tokens, with how much RL, for given traffic.

>>> import budget
>>> plan = budget.plan("min-cost")
>>> f"{plan.model.active_params:.6e} {plan.pretraining.tokens:.6e}"
'2.768279e+10 2.705134e+13'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from budget.errors import BudgetError, OutputError, ScenarioError
    from budget.planning import plan
    from budget.result import Plan
    from budget.scenario import Scenario, load

__all__ = ["BudgetError", "OutputError", "Plan", "Scenario", "ScenarioError", "load", "plan"]

_HOMES = {
    "BudgetError": "budget.errors",
    "OutputError": "budget.errors",
    "ScenarioError": "budget.errors",
    "plan": "budget.planning",
    "Plan": "budget.result",
    "Scenario": "budget.scenario",
    "load": "budget.scenario",
}


def __getattr__(name: str) -> Any:
    # Imported on first use, so that `budget --help` does not wait for SymPy.
    if name not in _HOMES:
        raise AttributeError(f"module 'budget' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
