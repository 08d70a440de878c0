"""Plans against exhaustive grids, where the problem is not convex or the law is not a posynomial.

A grid's best point is feasible, so that the optimum costs no more than it, and no proven bound
may lie above it.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from oracles.mathematics import LAWS, Additive, Muennighoff, refine
from oracles.planner import answered, examples, values
from strategies import Case, Hardware, Reinforcement, Traffic, cases, repeated, saturating

GRID = 1e-6


def caps(case: Case, name: str) -> tuple[float, float]:
    """ln of both bounds of a variable."""
    return math.log(case.caps[f"min_{name}"]), math.log(case.caps[f"max_{name}"])


def tokens_for_score(case: Case, N, R, floor: float):
    """Fewest tokens that reach the score at (N, R), from its inverse; infinite where none do."""
    law, rl = LAWS[case.law], case.rl
    assert isinstance(law, Additive)
    assert rl is not None
    c = rl.constants
    share = 1 / (1 + (c["C_mid"] / (N * R * rl.flop_per_param_token)) ** c["B"])
    base = (case.score - c["A"] * share) / (1 - share)
    with np.errstate(all="ignore"):
        loss = c["L_half"] + np.log(c["A"] / base - 1) / c["k"]
        left = loss - law.E - law.A * N**-law.alpha
        tokens = (law.B / left) ** (1 / law.beta)
    tokens = np.where(left > 0, tokens, np.inf)
    return np.maximum(np.where(base <= 0, floor, tokens), floor)


def test_the_inverse_of_the_score_is_one() -> None:
    """The oracle's own algebra: the tokens it finds give back the score."""
    N, D, R = 2e10, 3e12, 5e12
    constants = {"A": 0.8, "B": 1.3, "C_mid": 1e24, "k": 6.0, "L_half": 2.0}
    rl = Reinforcement("sigmoid", constants)
    case = Case("min-cost", "besiroglu-2024", (N, D, R), rl=rl)
    case = replace(case, score=float(case.quality_score(N, D, R)))
    assert tokens_for_score(case, N, R, 1.0) == pytest.approx(D, rel=1e-9)


def no_worse_than_the_grid(case: Case) -> None:
    """Feasible, and neither dearer (or of lower score) than the grid's best nor over-promised."""
    low_tokens, high_tokens = (math.exp(b) for b in caps(case, "pretraining_tokens"))
    d = case.dollars

    def log_cost(n, r):
        N, R = np.exp(n), np.exp(r)
        D = tokens_for_score(case, N, R, low_tokens)
        return np.where(high_tokens >= D, np.log(d.total(N, D, R)), np.inf)

    def log_score_lost(n, r):
        N, R = np.exp(n), np.exp(r)
        D = np.minimum((case.budget - d.fixed - N * (d.n + d.nr * R)) / (d.nd * N), high_tokens)
        score = case.quality_score(N, np.maximum(D, low_tokens), R)
        return np.where(low_tokens <= D, -np.log(score), np.inf)

    box = np.array([caps(case, "active_params"), caps(case, "rl_tokens")]).T
    objective = log_cost if case.kind == "min-cost" else log_score_lost
    best, _ = refine(objective, *box, (301, 41, 41, 41, 41))
    answer, _ = answered(case)
    N, D, R = values(answer.point)
    assert min(case.slacks(N, D, R).values()) >= -1e-9
    if case.kind == "min-cost":
        assert case.quality_score(N, D, R) >= case.score * (1 - 1e-9)
        found = math.log(d.total(N, D, R))
    else:
        assert d.total(N, D, R) <= case.budget * (1 + 1e-9)
        found = -math.log(case.quality_score(N, D, R))
    assert answer.certificate.certified
    assert not answer.certificate.convex
    assert answer.certificate.gap <= 1.1e-3
    assert found - answer.certificate.gap <= best
    assert found <= best + GRID


@examples(15, shrink=False)
@given(case=saturating("min-cost"))
def test_saturating_score_costs_no_more_than_the_best_of_a_grid(case: Case) -> None:
    no_worse_than_the_grid(case)


@examples(15, shrink=False)
@given(case=saturating("max-quality"))
def test_saturating_score_is_no_worse_than_the_best_of_a_grid(case: Case) -> None:
    no_worse_than_the_grid(case)


def near_the_ceiling(
    B: float, k: float, L_half: float, prompts: float, budget: float, tokens: float, room: float
) -> Case:
    """A budget that buys almost all of the score there is, within a factor `room` of 1B, 10B."""
    stage = Hardware("a100-80gb-sxm", mfu=0.5, goodput=1.0, usd_per_hour=1.0)
    constants = {"A": 1.0, "B": B, "C_mid": 2e19, "k": k, "L_half": L_half}
    amounts = {"active_params": 1e9, "pretraining_tokens": tokens, "rl_tokens": 1e10}
    return Case(
        "max-quality",
        "hoffmann-2022",
        (1e9, tokens, 1e10),
        budget=budget,
        rl=Reinforcement("sigmoid", constants, trained_share=0.0, generation=stage, training=stage),
        traffic=Traffic(0.0, prompts),
        pretraining=stage,
        decode=stage,
        prefill=stage,
        caps={f"min_{name}": amount / room for name, amount in amounts.items()}
        | {f"max_{name}": amount * room for name, amount in amounts.items()},
    )


CEILING = {
    # All of these were found by Hypothesis.
    "flat": near_the_ceiling(0.5, 24.0, 2.8242831, 1e15, 11261962.0, 5.233e9, 10.0),
    "stuck": near_the_ceiling(3.0, 17.0, 2.8087188, 1e14, 1126469.9, 5.6234e9, 17.783),
    "two-valleys": replace(
        near_the_ceiling(2.0, 11.0, 2.6948752, 0.0, 1464.0174, 1e10, 10.0),
        pretraining=Hardware("a100-80gb-sxm", mfu=0.125, goodput=1.0, usd_per_hour=1.0),
    ),
}


@pytest.mark.parametrize("name", CEILING)
def test_saturating_score_near_its_ceiling_is_solved_too(name: str) -> None:
    no_worse_than_the_grid(CEILING[name])


@examples(40)
@given(case=repeated())
def test_repeated_data_costs_the_least_over_all_sizes(case: Case) -> None:
    law = LAWS[case.law]
    assert isinstance(law, Muennighoff)

    def log_cost(n):
        N = np.exp(n)
        D = law.tokens_for(N, case.unique_tokens, case.loss)
        with np.errstate(invalid="ignore"):
            return np.log(case.dollars.total(N, D))

    best, _ = refine(log_cost, [math.log(1e4)], [math.log(1e17)], (2001, 201, 201, 201))
    answer, _ = answered(case)
    N, D, _ = values(answer.point)
    assert case.quality_loss(N, D) <= case.loss * (1 + 1e-10)
    assert answer.certificate.certified
    assert math.log(case.dollars.total(N, D)) == pytest.approx(best, abs=GRID)


@examples(40)
@given(case=cases("min-cost", rl=False))
def test_additive_law_costs_the_least_over_all_sizes(case: Case) -> None:
    law = LAWS[case.law]
    assert isinstance(law, Additive)

    def log_cost(n):
        left = case.loss - law.E - law.A * np.exp(n) ** -law.alpha
        with np.errstate(all="ignore"):
            D = np.where(left > 0, (law.B / left) ** (1 / law.beta), np.inf)
            return np.log(case.dollars.total(np.exp(n), D))

    best, _ = refine(log_cost, [math.log(1e4)], [math.log(1e17)], (2001, 201, 201, 201))
    answer, _ = answered(case)
    N, D, _ = values(answer.point)
    assert math.log(case.dollars.total(N, D)) == pytest.approx(best, abs=GRID)
