"""The summary on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from budget import text
from budget.result import Plan
from budget.summary import headline, rows, split


def show(plan: Plan, console: Console) -> None:
    """Print the summary of a plan."""
    table = Table(title=headline(plan), title_justify="left", show_header=False, box=None)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for label, value in rows(plan):
        table.add_row(label, value)
    parts = ", ".join(f"{n} {text.dollars(c)} ({text.percent(s)})" for n, c, s, _ in split(plan))
    table.add_row("Split", parts)
    for baseline in plan.baselines:
        extra = baseline.extra_cost_usd
        word = f"{text.dollars(abs(extra))} {'more' if extra > 0 else 'less'}"
        table.add_row(
            f"Against {baseline.name}",
            f"{text.count(baseline.active_params)} on {text.count(baseline.tokens)} tokens: {word}",
        )
    for warning in plan.warnings:
        table.add_row("Warning", warning, style="yellow")
    console.print(table)
