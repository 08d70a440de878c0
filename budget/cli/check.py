"""`budget check`."""

from __future__ import annotations

import click

from budget.cli import options


@click.command("check")
@click.argument("names", metavar="[LAW|FILE.toml]...", nargs=-1)
@click.option(
    "--examples",
    type=click.IntRange(1, 100_000),
    default=100,
    show_default=True,
    help="Points tried per check.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the points.")
@click.option(
    "-f",
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Table, or machine output.",
)
@click.option("-q", "--quiet", is_flag=True, help="Failures only.")
def command(names: tuple[str, ...], examples: int, seed: int, format_: str, quiet: bool) -> int:
    """Check properties of laws: ours by name, yours by file; all of ours if none is named.

    Units, signs, limits, derivatives, optimum, convexity and printing are tried at many points;
    a failure is shown with its smallest counterexample. Exit code 1 if a check fails.

    \b
    Examples:
      budget check besiroglu-2024
      budget check mylaw.toml --examples 1000
      budget check --quiet
    """
    import laws
    from laws import checks

    chosen = [options.law(n) for n in names] or [laws.get(n) for n in laws.names()]
    results = [r for law in chosen for r in checks.check(law, examples, seed)]
    if format_ == "json":
        rows = [vars(r) for r in results]
        options.emit(options.to_json({"seed": seed, "examples": examples, "results": rows}), None)
    else:
        for result in results:
            if result.passed is False or not quiet:
                word = {True: "pass", False: "FAIL", None: "n/a "}[result.passed]
                detail = f": {result.detail}" if result.detail else ""
                click.echo(f"{word}  {result.law}: {result.check}{detail}")
        failed = sum(r.passed is False for r in results)
        passed = sum(r.passed is True for r in results)
        click.echo(
            f"{passed} passed, {failed} failed, {len(results) - passed - failed} not applicable "
            f"(seed {seed}, {examples} points each)"
        )
    return int(any(r.passed is False for r in results))
