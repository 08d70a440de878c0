"""Options and output rules that commands share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from laws import Law

F = TypeVar("F", bound=Callable[..., Any])

STDOUT = "-"


def scenario_options(function: F) -> F:
    """`--set` and `--law`: change a scenario from the command line."""
    function = click.option(
        "--law",
        "law_name",
        metavar="NAME",
        help="Law of the pretraining loss, by name or file; as --set law.pretraining=NAME.",
    )(function)
    return click.option(
        "--set",
        "assignments",
        multiple=True,
        metavar="KEY=VALUE",
        help="Override one key, e.g. --set traffic.output='80 Mtok/s'. Repeatable.",
    )(function)


def changes(assignments: tuple[str, ...], law_name: str | None) -> list[tuple[str, Any]]:
    """Key and value pairs of `--set` and `--law`."""
    from budget.scenario.overrides import parse_assignment

    pairs = [parse_assignment(a) for a in assignments]
    return pairs if law_name is None else [*pairs, ("law.pretraining", law_name)]


def law(name: str) -> Law:
    """A law by name or file. Raises `ScenarioError` naming the nearest."""
    import laws
    from budget.errors import ScenarioError

    try:
        return laws.get(name)
    except laws.UnknownLawError as error:
        raise ScenarioError(f"{error} (see `budget laws`)") from None
    except laws.LawFileError as error:
        raise ScenarioError(str(error)) from None


def to_json(data: Any) -> str:
    """JSON text; NaN and infinity are not JSON and would be a bug."""
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def emit(content: str, output: str | None) -> None:
    """Write machine output to standard output, or whole to a file."""
    if output in (None, STDOUT):
        click.echo(content, nl=False)
        return
    from budget.report.files import write

    assert output is not None
    write({Path(output): content})
