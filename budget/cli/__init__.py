"""The command line: parse, call one library function, render.

Commands are imported when they are called, so that `budget --help` answers at once.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import click

COMMANDS = {
    "plan": "Plan a model for a scenario: size, tokens, RL, cost, report.",
    "laws": "List the scaling laws, show or compare them.",
    "check": "Check properties of formulas, ours and yours.",
    "schema": "Print the JSON Schema of scenario files, for editors.",
}
"""Command to its one-line help; the module of the same name holds it as `command`."""


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"budget.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from budget.errors import did_you_mean

        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"no command '{args[0]}'{did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="budget", message="%(prog)s %(version)s")
def cli() -> None:
    """Plan how large a language model to train, on how many tokens, for given traffic.

    \b
    Examples:
      budget plan scenarios/gpt5.toml
      budget plan gpt5 --set model.active_params=70B -f json
      budget laws show besiroglu-2024

    Exit codes: 0 done; 1 unexpected failure; 2 wrong usage or invalid scenario;
    3 infeasible; 4 solved but not certified.
    """


def main() -> Any:
    """Run the command line; errors become one message and an exit code, never a traceback."""
    from budget.errors import BudgetError

    try:
        sys.exit(cli.main(prog_name="budget", standalone_mode=False))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo("Interrupted.", err=True)
        sys.exit(130)
    except BudgetError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader went away (budget ... | head); keep the interpreter from complaining.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        # A disk that is full, a standard output that is closed: not a bug of ours.
        click.echo(f"Error: {error.strerror or error}", err=True)
        sys.exit(1)
    except Exception as error:
        if os.environ.get("BUDGET_TRACEBACK"):
            raise
        click.echo(
            f"Unexpected failure: {type(error).__name__}: {error}\n"
            "This is a bug; run again with BUDGET_TRACEBACK=1 and report what it prints.",
            err=True,
        )
        sys.exit(1)
