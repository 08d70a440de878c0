"""The committed reports are what the scenarios give."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from budget.planning import solve_scenario
from budget.report import figures, markdown
from budget.scenario import load, shipped

ROOT = Path(__file__).parents[2]
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")


@pytest.fixture(scope="module", params=sorted(shipped()))
def outcome(request):
    return solve_scenario(load(shipped()[request.param].relative_to(ROOT)))


@pytest.fixture(autouse=True)
def in_root(monkeypatch):
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="module")
def drawings(outcome):
    return figures.draw(outcome)


def test_report_is_the_committed_one(outcome, drawings, monkeypatch):
    name = outcome.scenario.name
    links = {figure: f"{name}-{figure}.svg" for figure in drawings}
    committed = (ROOT / "reports" / f"{name}.md").read_text(encoding="utf-8")
    assert markdown.render(outcome, links) == committed


def test_figures_are_the_committed_ones_to_a_hundredth_of_a_point(outcome, drawings):
    for figure, svg in drawings.items():
        committed = (ROOT / "reports" / f"{outcome.scenario.name}-{figure}.svg").read_text()
        # Path data may differ in the last digit between machines; everything else may not.
        assert NUMBER.sub("#", svg) == NUMBER.sub("#", committed)
        pairs = zip(NUMBER.findall(svg), NUMBER.findall(committed), strict=True)
        for new, old in pairs:
            assert float(new) == pytest.approx(float(old), abs=0.01, rel=1e-4)


def test_no_report_without_a_scenario():
    names = {p.stem for p in (ROOT / "reports").glob("*.md")}
    assert names == set(shipped())


def test_tables_are_rectangular(outcome):
    text = markdown.render(outcome, {})
    for block in re.findall(r"(?:^\|.*\|$\n?)+", text, flags=re.MULTILINE):
        widths = {len(re.split(r"(?<!\\)\|", line)) for line in block.strip().splitlines()}
        assert len(widths) == 1, block


def test_no_template_residue(outcome):
    text = markdown.render(outcome, {})
    for residue in ("None", "nan", "{{", "{%", "inf ", "Traceback"):
        assert residue not in text
