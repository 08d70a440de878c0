"""The report as Markdown, from the template and the outcome."""

from __future__ import annotations

import re
from collections.abc import Mapping

import jinja2

from budget.planning import Outcome
from budget.report import view


def render(outcome: Outcome, figure_files: Mapping[str, str]) -> str:
    """Render the report of a feasible outcome. `figure_files` maps figure to link target."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("budget.report"),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,
    )
    figures = {name: figure_files.get(name, "") for name in ("spend", "cost-vs-size", "tornado")}
    text = environment.get_template("plan.md.j2").render(view.context(outcome, figures))
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
