"""Scenario in, `Outcome` out: solve the goal, then derive everything that is reported."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from budget import __version__, baselines, notes
from budget.elasticity import elasticities
from budget.errors import BudgetError
from budget.goals import Answer, answer
from budget.infeasible import InfeasibleError
from budget.numbers import Numbers, Point
from budget.problem import Problem, build
from budget.profile import Profile
from budget.result import (
    InferencePart,
    LawUse,
    ModelSize,
    Overtraining,
    Plan,
    PretrainingPart,
    Provenance,
    Quality,
    Reference,
    RLPart,
    ShadowPrice,
    Status,
)
from budget.scenario import Scenario, load
from budget.scenario.overrides import parse_assignment
from budget.shadow import shadow_prices, unique_tokens_price
from budget.spending import ZERO
from laws.frontier import NoOptimumError
from laws.symbols import D, N, P, S, U, k

HELD_KEY = "model.active_params"


@dataclass(frozen=True)
class Outcome:
    """A plan with the problem it answers, for whoever wants to look further (the report)."""

    scenario: Scenario
    plan: Plan
    problem: Problem
    numbers: Numbers
    answer: Answer | None
    profile: Profile | None

    @property
    def point(self) -> Point:
        """The plan's point; only for feasible outcomes."""
        assert self.answer is not None
        return self.answer.point


def plan(source: str | Path, changes: Iterable[str | tuple[str, Any]] = ()) -> Plan:
    """Plan a scenario file or shipped scenario.

    `changes` are ``"key=value"`` texts or (key, value) pairs. Raises `budget.BudgetError`;
    an infeasible scenario is returned with status "infeasible" and what binds.
    """
    pairs = [parse_assignment(c) if isinstance(c, str) else c for c in changes]
    return solve_scenario(load(source, pairs)).plan


def solve_scenario(scenario: Scenario) -> Outcome:
    """Solve one scenario. Infeasibility is an outcome, not an exception."""
    problem = build(scenario)
    numbers = Numbers(problem)
    try:
        found = answer(problem, numbers)
    except InfeasibleError as error:
        empty = _skeleton(scenario, problem, "infeasible")
        return Outcome(
            scenario, replace(empty, binding=error.binding), problem, numbers, None, None
        )
    profile = Profile(problem, numbers, found.point)
    try:
        plan = _plan(scenario, problem, numbers, found, profile)
    except NoOptimumError as error:
        raise BudgetError(
            f"{error} where this plan lies: tokens are repeated so often that the law says nothing "
            "more; more unique tokens are needed"
        ) from None
    return Outcome(
        scenario,
        plan,
        problem,
        numbers,
        found,
        profile,
    )


def _plan(
    scenario: Scenario, problem: Problem, numbers: Numbers, found: Answer, profile: Profile
) -> Plan:
    point = found.point
    lines = numbers.lines(point)
    total = sum(line.cost_usd for line in lines)
    law, rest = problem.law, baselines.others(problem, point)
    implied = implied_served_tokens(problem, numbers, point)
    tokens_optimal = law.optimal_tokens(point.params, **rest)
    moves = elasticities(problem, point, found.conditions, tokens_optimal)
    compute = sum(line.flop for line in lines if line.name == "pretraining")
    best = law.optimum(compute, **rest)
    assert best.loss is not None
    status: Status = "optimal" if found.certificate.certified else "optimal-not-certified"
    interval = profile.near_optimal()
    ratio = point.tokens / point.params
    plan = replace(
        _skeleton(scenario, problem, status),
        model=_model(problem, point),
        other_costs={li.name: li.cost_usd for li in lines if li.group == "other"},
        total_cost_usd=total,
        total_flop=sum(line.flop for line in lines),
        quality=Quality(
            loss=numbers.loss(point),
            loss_reducible=numbers.loss(point) - numbers.irreducible(),
            score=numbers.score(point),
        ),
        overtraining=Overtraining(
            tokens_per_param=ratio,
            overtraining_factor=point.tokens / tokens_optimal,
            vs_20_tokens_per_param=ratio / 20.0,
            vs_same_compute=ratio / best.tokens_per_param,
        ),
        compute_optimal_reference=Reference(best.params, best.tokens, best.loss),
        baselines=baselines.baselines(problem, numbers, point),
        implied_served_tokens=implied if math.isfinite(implied) else None,
        near_optimal=None if interval is None else {HELD_KEY.split(".")[1]: interval},
        shadow_prices=_shadow(problem, numbers, found, moves),
        elasticities=moves,
        certificate=_certificate(found, profile, total),
        **_parts(problem, numbers, point, total),
    )
    return replace(
        plan,
        laws=notes.law_uses(problem, point),
        warnings=tuple(notes.warnings(problem, numbers, point, plan)),
    )


def implied_served_tokens(problem: Problem, numbers: Numbers, point: Point) -> float:
    """Served tokens that would make the plan optimal, every FLOP at one price.

    The first-order condition e_N/e_D = (dC/dlnN)/(dC/dlnD) with C in FLOP, solved for the traffic
    T in C = ... + 2 N T; without RL and research this is T = 3 D (e_N/e_D - 1) (Sardana et al.
    2024, arXiv 2401.00448). Infinite where further tokens have no measurable worth left.
    """
    pulls = numbers.slopes(point, -problem.pretraining_loss)
    if not pulls[D]:
        return math.inf
    work = sum((li.flop for li in problem.spending.lines if li.group != "inference"), ZERO)
    slopes = numbers.slopes(point, work)
    per_token = 2.0 * point.params
    served = (pulls[N] / pulls[D] * slopes[D] - slopes[N]) / per_token
    return served if abs(served) > 1e-9 * point.tokens else 0.0


def _certificate(found: Answer, profile: Profile, total: float) -> dict[str, Any]:
    """The certificate; of a plan that is given, the gap is its distance from the optimum."""
    proof = found.certificate
    gap: float | None = proof.gap
    if found.conditions.program is None:
        best = profile.optimum
        gap = None if best is None else max(math.log(total) - best.objective, 0.0)
    return {
        "method": proof.method,
        "convex": proof.convex,
        "primal_infeasibility": proof.primal_infeasibility,
        "kkt_residual": None if found.conditions.program is None else proof.kkt_residual,
        "gap": gap,
    }


def _skeleton(scenario: Scenario, problem: Problem, status: Status) -> Plan:
    goal = scenario.file.goal
    stated = {
        "kind": goal.kind,
        "loss": goal.loss,
        "score": goal.score,
        "match": None if goal.match is None else goal.match.model_dump(),
        "budget_usd": goal.budget,
    }
    law = problem.law
    return Plan(
        scenario=scenario.name,
        goal={k: v for k, v in stated.items() if v is not None},
        status=status,
        laws=(LawUse(law.name, str(law.source), True, law.notes),),
        provenance=Provenance(__version__, scenario.sha256, scenario.file.uncertainty.seed),
    )


def _model(problem: Problem, point: Point) -> ModelSize:
    from budget import catalog

    stated = problem.scenario.file.model
    total = None
    if S in problem.variables:
        total = point.params * point.sparsity
    elif stated.total_params is not None:
        total = stated.total_params
    elif stated.sparsity is not None:
        total = point.params * stated.sparsity
    elif stated.preset is not None and stated.active_params is None:
        total = catalog.model(stated.preset, "model.preset").total_params
    return ModelSize(point.params, total, None if total is None else total / point.params)


def _parts(problem: Problem, numbers: Numbers, point: Point, total: float) -> dict[str, Any]:
    lines = numbers.lines(point)

    def group(name: str) -> tuple[float, float, float, float]:
        mine = [line for line in lines if line.group == name]
        cost = sum(line.cost_usd for line in mine)
        hours = sum(line.chip_hours for line in mine)
        return sum(line.flop for line in mine), hours, cost, cost / total

    unique = problem.scenario.file.data.unique_tokens
    spending = problem.spending
    output, prompt, cached = numbers.at(
        point, [spending.served_output, spending.served_input, spending.cached_input]
    )
    decode = sum(line.cost_usd for line in lines if line.name == "decode")
    return {
        "pretraining": PretrainingPart(
            point.tokens,
            unique,
            None if unique is None else max(point.tokens / unique, 1.0),
            *group("pretraining"),
            point.bits if P in problem.variables else None,
        ),
        "rl": RLPart(point.rl_tokens, *group("rl")),
        "inference": InferencePart(
            output,
            prompt,
            cached,
            *group("inference"),
            decode / output * 1e6 if output else None,
            point.samples if k in problem.variables else None,
        ),
    }


def _shadow(
    problem: Problem, numbers: Numbers, found: Answer, moves: Mapping[str, Mapping[str, float]]
) -> dict[str, ShadowPrice]:
    if found.conditions.program is None or found.conditions.multipliers is None:
        return {}
    prices = shadow_prices(problem, numbers, found)
    if U in problem.law.form.variables:
        prices["data.unique_tokens"] = unique_tokens_price(problem, numbers, found, prices, moves)
    return prices
