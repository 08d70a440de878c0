"""`budget schema`."""

from __future__ import annotations

import click

from budget.cli import options


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of scenario files, for editors that check TOML.

    \b
    Example:
      budget schema > scenario.schema.json
    """
    from budget.scenario.schema import ScenarioFile

    schema = ScenarioFile.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "budget scenario"
    options.emit(options.to_json(schema), None)
