"""Elasticities and shadow prices against plans made again with one input changed.

A plan is exact to about 1e-12, so that what remains is the error of central differences: the
square of step times elasticity. A loss target near the irreducible loss has elasticities of 70,
hence 1e-5.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import replace

import pytest
from oracles.mathematics import LAWS
from oracles.planner import planned, scenario
from strategies import CHIPS, Case, Hardware, Reinforcement, Traffic

import laws
from budget import goals
from budget.goals import answer
from budget.inputs import Input
from budget.numbers import Numbers
from budget.planning import Outcome, solve_scenario
from budget.problem import build
from budget.scenario import Scenario

STEP = 3e-5
RELATIVE, ABSOLUTE = 1e-5, 1e-6

H100 = Hardware()
B200 = Hardware("b200-sxm", "fp8", mfu=0.3, goodput=0.8, usd_per_hour=4.0)
DECODE = Hardware(mfu=0.1, goodput=0.85, usd_per_hour=2.0)
PREFILL = Hardware("a100-80gb-sxm", mfu=0.5, goodput=0.9, usd_per_hour=1.3)
BUSY = Traffic(2e13, 5e13, 0.4, lifetime=2e7, as_rates=True, peak_to_mean=1.5, redundancy=1.2)

PLAIN = Case(
    "min-cost",
    "besiroglu-2024",
    (1e11, 2e12, 0.0),
    loss=float(LAWS["besiroglu-2024"].loss(1e11, 2e12)),
    traffic=BUSY,
    decode=DECODE,
    prefill=PREFILL,
    research=1.3,
    data_cost=3e6,
    staff_cost=1e6,
)
POWER = Reinforcement(
    "power", {"K": 30.0, "gamma": 0.2}, 0.7, 0.8, generation=DECODE, training=B200
)
SIGMOID = Reinforcement(
    "sigmoid",
    {"A": 0.8, "B": 0.9, "C_mid": 3e23, "k": 8.0, "L_half": 2.0},
    0.5,
    0.9,
    generation=DECODE,
    training=H100,
)
PAID = Reinforcement("none", {}, 0.5, 0.9, generation=DECODE, training=H100)
RULE = Reinforcement("equal-cost", {}, 0.5, 0.9, generation=DECODE, training=H100)


def with_loss(case: Case) -> Case:
    return replace(case, loss=float(case.quality_loss(*case.anchor)))


CASES = {
    "loss": PLAIN,
    "match": replace(PLAIN, match=True),
    "no-traffic": replace(PLAIN, traffic=Traffic(0.0, peak_to_mean=1.5, redundancy=1.5)),
    "caps": replace(PLAIN, caps={"max_tokens_per_param": 200.0, "min_active_params": 1e9}),
    "kaplan": with_loss(replace(PLAIN, law="kaplan-2020", match=True)),
    "power": with_loss(replace(PLAIN, anchor=(1e11, 2e12, 1e12), rl=POWER)),
    "power-match": with_loss(replace(PLAIN, anchor=(1e11, 2e12, 1e12), rl=POWER, match=True)),
    "power-cap": with_loss(
        replace(PLAIN, anchor=(1e11, 2e12, 1e12), rl=POWER, caps={"max_rl_tokens": 2e12})
    ),
    "size-held": replace(PLAIN, held="N", anchor=(5e10, 2e12, 0.0), match=False),
    "size-held-power": with_loss(
        replace(PLAIN, held="N", anchor=(5e10, 2e12, 1e12), rl=POWER, match=False)
    ),
    "rl-tokens-held": replace(PLAIN, held="R", anchor=(1e11, 2e12, 3e12), rl=PAID),
    "power-rl-tokens-held": with_loss(
        replace(PLAIN, held="R", anchor=(1e11, 2e12, 3e12), rl=POWER)
    ),
    "max-quality-size-held": replace(
        PLAIN,
        kind="max-quality",
        held="N",
        anchor=(5e10, 2e12, 1e12),
        loss=None,
        budget=8e7,
        rl=POWER,
    ),
    "max-quality": replace(
        PLAIN,
        kind="max-quality",
        loss=None,
        budget=6e7,
        unique_tokens=1e12,
        max_epochs=2.5,
        pretraining=B200,
    ),
    "max-quality-deadline": replace(
        PLAIN,
        kind="max-quality",
        loss=None,
        budget=1.5e8,
        caps={"training_deadline": 5e6, "training_chips": 3000.0},
    ),
    "max-quality-corner": replace(
        PLAIN,
        kind="max-quality",
        loss=None,
        budget=1e9,
        rl=POWER,
        unique_tokens=3e12,
        caps={"training_deadline": 5e6, "training_chips": 3000.0, "max_tokens_per_param": 1e5},
    ),
    "max-quality-power": replace(
        PLAIN, kind="max-quality", loss=None, budget=6e7, rl=POWER, unique_tokens=1e12
    ),
    "equal-cost": replace(PLAIN, kind="equal-cost", loss=None, rl=RULE),
    "fixed": replace(PLAIN, kind="fixed", loss=None, anchor=(8e9, 15e12, 0.0)),
    "fixed-power": replace(PLAIN, kind="fixed", loss=None, anchor=(8e9, 15e12, 1e12), rl=POWER),
    "repeated": with_loss(replace(PLAIN, law="muennighoff-2023", unique_tokens=2.5e11)),
    "repeated-match": with_loss(
        replace(
            PLAIN,
            law="muennighoff-2023",
            anchor=(2e10, 1e12, 0.0),
            unique_tokens=2.5e11,
            match=True,
        )
    ),
    "repeated-max-quality": replace(
        PLAIN,
        kind="max-quality",
        law="muennighoff-2023",
        loss=None,
        budget=6e7,
        unique_tokens=2.5e11,
    ),
    "score": replace(
        PLAIN,
        anchor=(2e10, 4e12, 1e12),
        loss=None,
        score=0.55,
        rl=SIGMOID,
        caps={"min_active_params": 1e10},
    ),
    "max-score": replace(
        PLAIN,
        kind="max-quality",
        loss=None,
        budget=6e7,
        rl=SIGMOID,
        caps={"min_active_params": 1e10},
    ),
}

WITH_UNITS = {"USD", "USD/s", "token/s", "s", "FLOP", "FLOP/s"}
"""Units that a scenario file wants written out; other inputs are bare numbers."""


def stages(stated: Scenario) -> dict[str, tuple[str, str]]:
    """Chip and precision of every stage that takes its peak from the catalogue."""
    found = {}
    for table in (
        "pretraining",
        "rl.generation",
        "rl.training",
        "inference.decode",
        "inference.prefill",
    ):
        entry = stated.raw
        for part in table.split("."):
            entry = entry.get(part, {})
        if entry and "peak" not in entry:
            found[table] = (entry["chip"], entry["precision"])
    return found


def changed(
    stated: Scenario, entry: Input, value: float, monkeypatch: pytest.MonkeyPatch
) -> dict[str, float]:
    """The outputs with one input at another value, whatever kind of input it is."""
    if entry.key.startswith("law."):
        name, constant = stated.file.law.pretraining, entry.key.removeprefix("law.")
        law = laws.get(name)
        other = dataclasses.replace(law.constants[constant], value=value)
        constants = {**law.constants, constant: other}
        catalogue = {**laws.catalogue._laws(), name: dataclasses.replace(law, constants=constants)}
        with monkeypatch.context() as patch:
            patch.setattr(laws.catalogue, "_laws", lambda: catalogue)
            return outputs(stated)
    if entry.key.startswith("catalog."):
        _, chip, precision = entry.key.split(".")
        assert entry.value == CHIPS[chip, precision]
        peak = f"{value!r} FLOP/s"
        mine = [t for t, key in stages(stated).items() if key == (chip, precision)]
        assert mine
        return outputs(stated.with_changes([(f"{t}.peak", peak) for t in mine]))
    text = f"{value!r} {entry.unit}" if entry.unit in WITH_UNITS else value
    return outputs(stated.with_changes([(entry.key, text)]))


def outputs(stated: Scenario) -> dict[str, float]:
    """What elasticities are reported of, from the point alone."""
    problem = build(stated)
    numbers = Numbers(problem)
    point = answer(problem, numbers).point
    unique = stated.file.data.unique_tokens if "U" in map(str, problem.law.form.variables) else None
    optimal = problem.law.optimal_tokens(point.params, unique_tokens=unique)
    found = {
        "model.active_params": point.params,
        "pretraining.tokens": point.tokens,
        "total_cost_usd": numbers.cost(point),
        "quality.loss": numbers.loss(point),
        "overtraining.overtraining_factor": point.tokens / optimal,
    }
    if point.rl_tokens:
        found["rl.tokens"] = point.rl_tokens
    score = numbers.score(point)
    if score is not None:
        found["quality.score"] = score
    return found


def inputs(outcome: Outcome) -> list[Input]:
    return [e for e in outcome.problem.inputs.entries.values() if e.value != 0.0]


@pytest.mark.parametrize("name", CASES)
def test_elasticities_are_those_of_plans_made_again(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All inputs, also those that say they do not matter."""
    stated = scenario(CASES[name])
    outcome = solve_scenario(stated)
    plan = outcome.plan
    assert plan.status == "optimal"
    assert set(plan.elasticities) == set(outputs(stated))
    # A plan made again needs its point, not a proof that it is the global one.
    monkeypatch.setattr(goals, "GAP", 0.1)
    wrong = []
    for entry in inputs(outcome):
        up, down = (
            changed(stated, entry, entry.value * factor, monkeypatch)
            for factor in (math.exp(STEP), math.exp(-STEP))
        )
        for output, row in plan.elasticities.items():
            numeric = math.log(up[output] / down[output]) / (2 * STEP)
            if row[entry.key] != pytest.approx(numeric, rel=RELATIVE, abs=ABSOLUTE):
                wrong.append((output, entry.key, row[entry.key], numeric))
    assert not wrong


def test_inputs_at_zero_have_no_elasticity() -> None:
    plan = planned(CASES["no-traffic"]).plan
    for row in plan.elasticities.values():
        assert row["traffic.output_tokens"] == 0.0


SLACK = {"caps": 1, "max-quality-corner": 1, "max-quality-deadline": 0, "power-cap": 0}
"""Caps that do not bind, to be sure that the others of these cases do."""


def moved(case: Case, key: str, bound: float) -> Case:
    """The case with one bound elsewhere."""
    name = key.partition(".")[2]
    if key in ("goal.loss", "goal.match"):
        return replace(case, loss=bound, match=False)
    if key == "goal.score":
        return replace(case, score=bound)
    if key == "goal.budget":
        return replace(case, budget=bound)
    if key == "data.unique_tokens":
        return replace(case, unique_tokens=bound)
    return replace(case, caps={**case.caps, name: bound})


def relaxing(key: str) -> int:
    """+1 where a higher bound is looser."""
    return -1 if key == "goal.score" or ".min_" in key else 1


def gain(case: Case, key: str, bound: float, what: str) -> float:
    """What one unit of relaxation gains: dollars, loss or score, by central differences."""

    def measured(factor: float) -> float:
        found = outputs(scenario(moved(case, key, bound * factor)))
        if what == "usd":
            return -found["total_cost_usd"]
        return found["quality.score"] if what == "score" else -found["quality.loss"]

    rise = measured(1 + STEP) - measured(1 - STEP)
    return relaxing(key) * rise / (2 * STEP * bound)


@pytest.mark.parametrize(
    "name", [n for n, case in CASES.items() if case.kind in ("min-cost", "max-quality")]
)
def test_shadow_prices_are_slopes_of_the_optimum(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[name]
    plan = planned(case).plan
    monkeypatch.setattr(goals, "GAP", 0.1)
    prices = plan.shadow_prices
    caps = [k for k in prices if not k.startswith("goal.")]
    stated = [k for k in case.slacks(1, 1) if k != "training_chips"]
    # Under a law of repetition unique tokens have a price of their own, cap or no cap.
    repeats = "data.unique_tokens" in caps and not any("unique" in k for k in stated)
    assert len(caps) == len(stated) + repeats
    if name in SLACK:
        assert sum(prices[k].elasticity == 0.0 for k in caps) == SLACK[name]
    for key, price in prices.items():
        best = case
        if case.kind == "max-quality":
            what = "loss" if plan.quality.score is None else "score"
            expected = gain(case, key, price.bound, what)
            assert price.loss_per_unit == pytest.approx(expected, rel=RELATIVE, abs=1e-30)
            target = plan.quality.loss if what == "loss" else plan.quality.score
            best = replace(case, kind="min-cost", budget=None, **{what: target})
        if key == "goal.budget":
            assert price.usd_per_unit == pytest.approx(1.0, rel=1e-9)
        else:
            expected = gain(best, key, price.bound, "usd")
            assert price.usd_per_unit == pytest.approx(
                expected, rel=RELATIVE, abs=ABSOLUTE * plan.total_cost_usd / price.bound
            )


@pytest.mark.parametrize("epochs", [None, 40.0, 7.0])
def test_shadow_price_of_unique_tokens_counts_what_repetition_is_worth(
    epochs: float | None,
) -> None:
    """Under the data-constrained law more unique tokens pay off even where no cap binds."""
    case = replace(CASES["repeated"], unique_tokens=2.5e11, max_epochs=epochs)
    plan = planned(case).plan
    price = plan.shadow_prices["data.unique_tokens"]
    expected = gain(case, "data.unique_tokens", 2.5e11, "usd")
    assert expected > 0
    assert price.usd_per_unit == pytest.approx(expected, rel=RELATIVE)
