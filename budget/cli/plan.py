"""`budget plan`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from budget.cli import options

if TYPE_CHECKING:
    from budget.planning import Outcome

NOT_CERTIFIED = 4


@click.command("plan")
@click.argument("scenarios", metavar="SCENARIO...", nargs=-1, required=True)
@options.scenario_options
@click.option(
    "-f",
    "--format",
    "format_",
    type=click.Choice(["md", "json", "csv"]),
    default="md",
    show_default=True,
    help="Report, or machine output.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE|DIR|-",
    help="Where the result goes; - is standard output. Default: reports/NAME.md for md, "
    "standard output for json and csv.",
)
@click.option("--no-plots", is_flag=True, help="Write no figures.")
@click.option("-q", "--quiet", is_flag=True, help="One line of summary, no messages.")
@click.option("-v", "--verbose", is_flag=True, help="Also say how the plan was solved.")
def command(
    scenarios: tuple[str, ...],
    assignments: tuple[str, ...],
    law_name: str | None,
    format_: str,
    output: str | None,
    no_plots: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Plan a model for each SCENARIO: a TOML file, or the name of a shipped scenario.

    \b
    Examples:
      budget plan scenarios/gpt5.toml
      budget plan min-cost --law hoffmann-2022 -f json
      budget plan llama3-8b llama3-405b -f csv -o plans.csv
      budget plan max-quality --set goal.budget='120 MUSD' -o -
    """
    from budget.planning import solve_scenario
    from budget.scenario import load

    changes = options.changes(assignments, law_name)
    loaded = [load(s, changes) for s in scenarios]
    outcomes = [solve_scenario(s) for s in loaded]
    feasible = [o for o in outcomes if o.plan.status != "infeasible"]
    if format_ == "md":
        _reports(feasible, output, no_plots, quiet)
    else:
        _machine(outcomes, format_, output)
    to_stderr = output == options.STDOUT or (format_ != "md" and output is None)
    _summaries(feasible, to_stderr, quiet, verbose)
    return _verdict(outcomes)


def _reports(outcomes: list[Outcome], output: str | None, no_plots: bool, quiet: bool) -> None:
    """Write the report of each outcome, figures first, all or nothing."""
    from budget.report import files, markdown

    if output == options.STDOUT:
        for outcome in outcomes:
            click.echo(markdown.render(outcome, {}), nl=False)
        return
    paths = _report_paths([o.scenario.name for o in outcomes], output)
    for outcome, path in zip(outcomes, paths, strict=True):
        drawings: dict[str, str] = {}
        # Nothing is put beside a device or a pipe.
        if not no_plots and not files.is_special(path):
            from budget.report import figures

            drawings = figures.draw(outcome)
        links = {name: f"{path.stem}-{name}.svg" for name in drawings}
        content = {path.parent / links[name]: svg for name, svg in drawings.items()}
        content[path] = markdown.render(outcome, links)
        files.write(content)
        if not quiet:
            click.echo(f"Report: {path}", err=True)


def _report_paths(names: list[str], output: str | None) -> list[Path]:
    """Where each report goes. Refuses one place for two reports."""
    from budget.errors import OutputError
    from budget.report.files import is_folder

    folder = Path("reports") if output is None else Path(output)
    if output is not None and not output.endswith("/") and not is_folder(folder):
        if len(names) > 1 and folder.suffix:
            raise OutputError(f"{output} names one file for {len(names)} scenarios; name a folder")
        if len(names) == 1:
            return [folder]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise OutputError(
            f"two scenarios are called '{twice[0]}': one report would overwrite the other"
        )
    return [folder / f"{name}.md" for name in names]


def _machine(outcomes: list[Outcome], format_: str, output: str | None) -> None:
    if format_ == "json":
        plans = [o.plan.to_dict() for o in outcomes]
        options.emit(options.to_json(plans[0] if len(plans) == 1 else plans), output)
        return
    import pandas as pd

    table = pd.DataFrame([o.plan.flat() for o in outcomes])
    options.emit(table.to_csv(index=False, lineterminator="\n"), output)


def _summaries(outcomes: list[Outcome], to_stderr: bool, quiet: bool, verbose: bool) -> None:
    """Summary to standard output, or to standard error where the result itself goes there."""
    from budget import summary

    if quiet:
        if not to_stderr:
            for outcome in outcomes:
                click.echo(summary.headline(outcome.plan))
        return
    from rich.console import Console

    from budget.report import terminal

    # Colour only on a terminal; rich honours NO_COLOR.
    console = Console(stderr=to_stderr, highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, 120)
    for outcome in outcomes:
        terminal.show(outcome.plan, console)
        if verbose:
            console.print(f"Certificate: {dict(outcome.plan.certificate or {})}")


def _verdict(outcomes: list[Outcome]) -> int:
    """Exit code; says on standard error why a plan is missing or unproven."""
    from budget.infeasible import InfeasibleError

    code = 0
    for outcome in outcomes:
        if outcome.plan.status == "infeasible":
            error = InfeasibleError(outcome.plan.binding)
            click.echo(f"Error: {outcome.scenario.label}: {error}", err=True)
            code = max(code, error.exit_code)
        elif outcome.plan.status == "optimal-not-certified":
            click.echo(
                f"Warning: {outcome.scenario.label}: solved, but optimality is not proven", err=True
            )
            code = max(code, NOT_CERTIFIED)
    return code
