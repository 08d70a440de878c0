"""Options and output rules that commands share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

STDOUT = "-"


def scenario_options(function: F) -> F:
    """`--set` and `--law`: change a scenario from the command line."""
    function = click.option(
        "--law",
        metavar="NAME",
        help="Law of the pretraining loss; the same as --set law.pretraining=NAME.",
    )(function)
    return click.option(
        "--set",
        "assignments",
        multiple=True,
        metavar="KEY=VALUE",
        help="Override one key, e.g. --set traffic.output='80 Mtok/s'. Repeatable.",
    )(function)


def changes(assignments: tuple[str, ...], law: str | None) -> list[tuple[str, Any]]:
    """Key and value pairs of `--set` and `--law`."""
    from budget.scenario.overrides import parse_assignment

    pairs = [parse_assignment(a) for a in assignments]
    return pairs if law is None else [*pairs, ("law.pretraining", law)]


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
