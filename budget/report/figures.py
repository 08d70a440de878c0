"""Figures of the report, as SVG text: small, deterministic, readable in grey."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from budget import text
from budget.planning import Outcome
from budget.profile import CurvePoint
from budget.summary import split

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("#3b6ea5", "#e08e45", "#5a9e6f", "#8c8c8c", "#b0a3c7", "#c9b27c")
_STYLE: Any = {
    "svg.hashsalt": "budget",  # ids would otherwise differ from run to run
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    # Figures stand on white also where the page is dark.
    "figure.facecolor": "white",
}


def draw(outcome: Outcome) -> dict[str, str]:
    """SVG text of every figure that makes sense for the outcome, by name."""
    import matplotlib as mpl

    with mpl.rc_context(_STYLE):
        figures = {"spend": _spend(outcome)}
        assert outcome.profile is not None
        curve = outcome.profile.curve(around=outcome.point.params)
        if curve:
            figures["cost-vs-size"] = _cost_vs_size(outcome, curve)
        figures["tornado"] = _tornado(outcome)
        return {name: _svg(figure) for name, figure in figures.items()}


def _figure(width: float, height: float, margin: float) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    # Fixed margins in inches: automatic layout would draw every figure twice.
    left, bottom, top = margin, 0.55, 0.35
    axes = figure.add_axes(
        (left / width, bottom / height, 1 - (left + 0.2) / width, 1 - (bottom + top) / height)
    )
    return figure, axes


def _svg(figure: Figure) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def _spend(outcome: Outcome) -> Figure:
    parts = split(outcome.plan)
    figure, axes = _figure(7.0, 0.9 + 0.42 * len(parts), 2.1)
    names = [p[0] for p in parts][::-1]
    values = [p[1] / 1e6 for p in parts][::-1]
    bars = axes.barh(
        names, values, color=[_COLOURS[i % len(_COLOURS)] for i in range(len(parts))][::-1]
    )
    axes.bar_label(
        bars, [f" {text.dollars(p[1])}, {text.percent(p[2])}" for p in parts][::-1], padding=2
    )
    axes.set_xlim(0, max(values) * 1.35)
    axes.set_xlabel("lifetime cost [million USD]")
    axes.set_title("Where the money goes", loc="left")
    return figure


def _cost_vs_size(outcome: Outcome, curve: Sequence[CurvePoint]) -> Figure:
    plan = outcome.plan
    assert plan.model and plan.total_cost_usd is not None
    figure, axes = _figure(7.0, 4.0, 0.9)
    axes.plot(
        [p.active_params for p in curve],
        [p.cost_usd / 1e6 for p in curve],
        color=_COLOURS[0],
        label="least cost at the plan's quality",
    )
    if plan.near_optimal is not None:
        low, high = plan.near_optimal["active_params"]
        axes.axvspan(low, high, color=_COLOURS[2], alpha=0.3, label="within 1 % of the least cost")
    axes.plot(
        plan.model.active_params, plan.total_cost_usd / 1e6, "o", color="black", label="this plan"
    )
    least, most = min(p.cost_usd for p in curve), max(p.cost_usd for p in curve)
    inside = [b for b in plan.baselines if b.total_cost_usd <= 12 * least]
    for marker, baseline in zip("s^Dv", inside, strict=False):
        axes.plot(
            baseline.active_params,
            baseline.total_cost_usd / 1e6,
            marker,
            color=_COLOURS[1],
            label=f"{baseline.name} ({text.count(baseline.active_params)})"
            + (f", breaks {baseline.violates[0]}" if baseline.violates else ""),
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    top = max([min(most, 12 * least), plan.total_cost_usd, *(b.total_cost_usd for b in inside)])
    axes.set_ylim(least / 1e6 * 0.9, top / 1e6 * 1.15)
    axes.xaxis.set_major_formatter(lambda value, _: text.count(value))
    axes.yaxis.set_major_formatter(lambda value, _: _plain(value))
    axes.yaxis.set_minor_formatter(lambda value, _: _minor(value, least / 1e6, top / 1e6))
    axes.xaxis.set_minor_formatter(
        lambda value, _: text.count(value) if _leading(value) in (2, 5) else ""
    )
    axes.set_xlabel("active parameters N")
    axes.set_ylabel("lifetime cost [million USD]")
    axes.set_title("Lifetime cost against model size, at equal quality", loc="left")
    axes.legend(frameon=False, fontsize=9)
    return figure


def _leading(value: float) -> int:
    return round(float(value / 10 ** math.floor(math.log10(value))))


def _minor(value: float, low: float, high: float) -> str:
    """Label 2 and 5 of each decade, and every step where the axis spans less than a decade."""
    return _plain(value) if high / low < 10 or _leading(value) in (2, 5) else ""


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.3g}"


def _tornado(outcome: Outcome) -> Figure:
    """Elasticities of cost and size (or loss, where the cost is given) in the leading inputs."""
    plan = outcome.plan
    outputs = tornado_outputs(outcome)
    keys = leading_inputs(outcome)
    figure, axes = _figure(7.0, 1.1 + 0.34 * len(keys), 2.3)
    height = 0.8 / len(outputs)
    for row, (label, output) in enumerate(outputs):
        values = [plan.elasticities[output][key] for key in keys]
        positions = [-(i + (row - (len(outputs) - 1) / 2) * height) for i in range(len(keys))]
        axes.barh(positions, values, height=height, color=_COLOURS[row], label=label)
    axes.set_yticks([-i for i in range(len(keys))], keys)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlabel("elasticity: % change for 1 % more of the input")
    axes.set_title("What the answer is sensitive to", loc="left")
    axes.legend(frameon=False, fontsize=9)
    return figure


def tornado_outputs(outcome: Outcome) -> list[tuple[str, str]]:
    """Label and key of the outputs whose elasticities are shown."""
    kind = outcome.scenario.file.goal.kind
    if kind == "max-quality":
        return [("loss", "quality.loss"), ("model size N", "model.active_params")]
    if kind in ("fixed", "equal-cost"):
        return [
            ("lifetime cost", "total_cost_usd"),
            ("over-training factor", "overtraining.overtraining_factor"),
        ]
    return [("lifetime cost", "total_cost_usd"), ("model size N", "model.active_params")]


def own_inputs(outcome: Outcome) -> list[str]:
    """Inputs that move the shown outputs, the largest first, constants of the law apart."""
    return [key for key in _moving(outcome) if not key.startswith("law.")]


def law_inputs(outcome: Outcome) -> list[str]:
    """Constants of the law that move the shown outputs, the largest first."""
    return [key for key in _moving(outcome) if key.startswith("law.")]


def leading_inputs(outcome: Outcome, most: int = 14) -> list[str]:
    """The first of `own_inputs`."""
    return own_inputs(outcome)[:most]


def _moving(outcome: Outcome) -> list[str]:
    elasticities = outcome.plan.elasticities
    outputs = [key for _, key in tornado_outputs(outcome)]
    # Rounding makes the order of equal bars the same on every machine; ties go to what the
    # scenario states about demand and size before hardware.
    size = {
        key: round(max(abs(elasticities[o][key]) for o in outputs), 6)
        for key in elasticities[outputs[0]]
    }
    first = ("goal.", "traffic.", "model.", "data.", "pretraining.tokens")

    def rank(key: str) -> tuple[float, bool, str]:
        return (-size[key], not key.startswith(first), key)

    return sorted((k for k, v in size.items() if v >= 1e-6), key=rank)
