"""The planner under test, from a `Case`: the point alone (fast) or the whole plan."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, settings
from strategies import Case

from budget.goals import Answer, answer
from budget.numbers import Numbers, Point
from budget.planning import Outcome, solve_scenario
from budget.problem import Problem, build
from budget.scenario import Scenario, loads


def examples(count: int, *, shrink: bool = True) -> settings:
    """Hypothesis settings of every oracle: `count` examples, the same on every run.

    Without `shrink` a failure is shown as found: where an example takes a second, making it
    small takes minutes.
    """
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
    )


def scenario(case: Case) -> Scenario:
    return loads(case.toml, "case", "case.toml")


def problem(case: Case) -> Problem:
    return build(scenario(case))


def answered(case: Case) -> tuple[Answer, Numbers]:
    """The optimal point with its certificate, and the planner's numbers."""
    stated = problem(case)
    numbers = Numbers(stated)
    return answer(stated, numbers), numbers


def optimum(case: Case) -> tuple[float, float, float]:
    """N, D and R of the plan; R is 0 without RL."""
    return values(answered(case)[0].point)


def values(point: Point) -> tuple[float, float, float]:
    return point.params, point.tokens, point.rl_tokens


def planned(case: Case) -> Outcome:
    """The whole plan: the point and everything that is reported about it."""
    return solve_scenario(scenario(case))
