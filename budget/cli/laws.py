"""`budget laws`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from budget.cli import options

if TYPE_CHECKING:
    from laws import Law


@click.group("laws", invoke_without_command=True)
@click.option(
    "-f",
    "--format",
    "format_",
    type=click.Choice(["text", "md", "json"]),
    default="text",
    show_default=True,
    help="Table, the whole catalogue as a page, or all facts as data.",
)
@click.option("--kind", metavar="KIND", help="Only one kind, e.g. loss or allocation.")
@click.option("--search", metavar="TEXT", help="Only laws with TEXT in name, summary or source.")
@click.pass_context
def command(ctx: click.Context, format_: str, kind: str | None, search: str | None) -> None:
    """List the scaling laws with constants; show one, or compare several.

    \b
    Examples:
      budget laws
      budget laws --kind loss -f json
      budget laws show hoffmann-2022
      budget laws compare besiroglu-2024 hoffmann-2022 --compute 5.76e23
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
    if search is not None:
        found = [law for law in found if search.casefold() in _described(law)]
    if format_ == "json":
        options.emit(options.to_json([law.to_dict() for law in found]), None)
        return
    held = {law.form.name for law in map(laws.get, laws.names())}
    without = [f for f in laws.forms(kind) if f.name not in held]
    if search is not None:
        without = [f for f in without if search.casefold() in f"{f.name} {f.meaning}".casefold()]
    if format_ == "md":
        from laws import render

        click.echo(render.catalogue(found, without), nl=False)
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
    if without:
        console.print("\nFormulas without public constants (a scenario must state its own):")
        for form in without:
            console.print(f"  {form.name}: {form.meaning}")


def _described(law: Law) -> str:
    return f"{law.name} {law.summary} {law.source}".casefold()


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
@click.option(
    "--compute",
    "computes",
    multiple=True,
    metavar="FLOP",
    help="Training compute to show the optimum at, e.g. 5e26. Repeatable.",
)
def show(name: str, format_: str, computes: tuple[str, ...]) -> None:
    """Show the law NAME: formula, constants, validity, optimum, source.

    \b
    Examples:
      budget laws show besiroglu-2024 --compute 5e26
      budget laws show muennighoff-2023 -f latex
    """
    from laws import render

    law = options.law(name)
    if format_ == "json":
        options.emit(options.to_json(law.to_dict()), None)
    elif format_ == "latex":
        click.echo(render.form_latex(law.form))
    else:
        budgets = _computes(computes) or render.SHOWN
        click.echo(render.markdown(law, computes=budgets), nl=False)


def _computes(texts: tuple[str, ...]) -> list[float]:
    from budget.quantity import parse_count

    try:
        budgets = [parse_count(text) for text in texts]
    except ValueError as error:
        raise click.UsageError(f"--compute: {error}") from None
    for compute in budgets:
        if not compute > 0:
            raise click.UsageError(f"--compute: must be positive, got {compute:g}")
    return budgets


@command.command("compare")
@click.argument("names", metavar="LAW LAW...", nargs=-1, required=True)
@click.option(
    "--compute",
    "computes",
    multiple=True,
    required=True,
    metavar="FLOP",
    help="Training compute, e.g. 5.76e23. Repeatable.",
)
@click.option(
    "--unique-tokens",
    metavar="TOKENS",
    help="Unique tokens, for laws that depend on repetition, e.g. 10T.",
)
@click.option(
    "-f",
    "--format",
    "format_",
    type=click.Choice(["md", "json", "csv"]),
    default="md",
    show_default=True,
    help="Table, or machine output.",
)
def compare(
    names: tuple[str, ...], computes: tuple[str, ...], unique_tokens: str | None, format_: str
) -> None:
    """Compare what laws call compute-optimal, and the loss they predict.

    Every law is also asked for its loss at the first law's optimum. Values outside the range of a
    law's runs are flagged.

    \b
    Examples:
      budget laws compare besiroglu-2024 hoffmann-2022 --compute 5.76e23
      budget laws compare kaplan-2020 chinchilla llama3-2024-tokens --compute 1e21 --compute 1e26
    """
    from budget.quantity import parse_count
    from laws import compare as comparison

    chosen = [options.law(n) for n in names]
    budgets = _computes(computes)
    try:
        unique = None if unique_tokens is None else parse_count(unique_tokens)
        table = comparison.compare(chosen, budgets, unique)
    except (ValueError, TypeError) as error:
        raise click.UsageError(str(error)) from None
    rows = [row.to_dict() for row in table]
    if format_ == "json":
        options.emit(options.to_json(rows), None)
    elif format_ == "csv":
        import pandas as pd

        click.echo(pd.DataFrame(rows).to_csv(index=False, lineterminator="\n"), nl=False)
    else:
        click.echo(comparison.markdown(table), nl=False)
