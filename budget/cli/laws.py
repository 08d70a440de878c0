"""`budget laws`."""

from __future__ import annotations

import click

from budget.cli import options


@click.group("laws", invoke_without_command=True)
@click.option(
    "-f",
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Table, or all facts of every law.",
)
@click.option("--kind", metavar="KIND", help="Only one kind, e.g. loss or allocation.")
@click.pass_context
def command(ctx: click.Context, format_: str, kind: str | None) -> None:
    """List the scaling laws with constants, or show one.

    \b
    Examples:
      budget laws
      budget laws --kind loss -f json
      budget laws show hoffmann-2022
    """
    if ctx.invoked_subcommand is not None:
        return
    import laws
    from budget.errors import did_you_mean
    from laws.form import KINDS

    if kind is not None and kind not in KINDS:
        hint = did_you_mean(kind, KINDS) or f"; kinds: {', '.join(KINDS)}"
        raise click.UsageError(f"no kind '{kind}'{hint}")
    found = [laws.get(n) for n in laws.names(kind)]
    if format_ == "json":
        options.emit(options.to_json([law.to_dict() for law in found]), None)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("law", "kind", "summary", "source"):
        table.add_column(column, no_wrap=column == "law")
    for law in found:
        table.add_row(law.name, KINDS[law.form.kind], law.summary, f"arXiv {law.source.arxiv}")
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, 160)
    console.print(table)
    without = [f for f in laws.forms(kind) if not any(law.form is f for law in found)]
    if without:
        console.print("\nFormulas without public constants (a scenario must state its own):")
        for form in without:
            console.print(f"  {form.name}: {form.meaning}")


@command.command("show")
@click.argument("name")
@click.option(
    "-f",
    "--format",
    "format_",
    type=click.Choice(["md", "latex", "json"]),
    default="md",
    show_default=True,
    help="Page, formula only, or all facts.",
)
def show(name: str, format_: str) -> None:
    """Show the law NAME: formula, constants, validity, optimum, source.

    \b
    Examples:
      budget laws show besiroglu-2024
      budget laws show muennighoff-2023 -f latex
    """
    import laws
    from budget.errors import ScenarioError
    from laws import render

    try:
        law = laws.get(name)
    except laws.UnknownLawError as error:
        raise ScenarioError(f"{error} (see `budget laws`)") from None
    if format_ == "json":
        options.emit(options.to_json(law.to_dict()), None)
    elif format_ == "latex":
        click.echo(render.form_latex(law.form))
    else:
        click.echo(render.markdown(law), nl=False)
