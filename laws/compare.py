"""Laws side by side: what each calls compute-optimal, and what it predicts there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from laws import frontier
from laws.law import Law
from laws.symbols import U


@dataclass(frozen=True)
class Row:
    """One law at one compute budget. Loss is None for laws without one."""

    law: str
    compute_flop: float
    params: float
    tokens: float
    tokens_per_param: float
    tokens_per_param_p025: float | None
    tokens_per_param_p975: float | None
    loss: float | None
    loss_at_first: float | None
    outside: str

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data."""
        return asdict(self)


DRAWS, SEED = 20_000, 0
"""Draws of a law's constants behind a band, and their seed."""


def compare(
    laws: Sequence[Law], computes: Iterable[float], unique_tokens: float | None = None
) -> list[Row]:
    """Rows for every compute budget and law; the first law is the reference.

    `loss_at_first` is a law's loss at the first law's optimum. Laws with a covariance get the 95 %
    band of D/N. Raises `TypeError` for laws that
    imply no compute-optimal size, `ValueError` for compute that is not positive.
    """
    rows = []
    for compute in computes:
        reference: frontier.Optimum | None = None
        for law in laws:
            best = law.optimum(compute, unique_tokens)
            reference = reference or best
            rows.append(_row(law, compute, best, reference, unique_tokens))
    return rows


def _row(
    law: Law,
    compute: float,
    best: frontier.Optimum,
    reference: frontier.Optimum,
    unique: float | None,
) -> Row:
    there = None
    if law.form.kind == "loss":
        values = {"N": reference.params, "D": reference.tokens}
        if U in law.form.variables and unique is not None:
            values["U"] = unique
        there = float(law.value(**values))
    ratios = frontier.drawn_tokens_per_param(law, compute, DRAWS, SEED)
    low, high = (None, None) if ratios is None else np.percentile(ratios, [2.5, 97.5])
    point = {"N": best.params, "D": best.tokens, "D/N": best.tokens_per_param, "C": compute}
    return Row(
        law=law.name,
        compute_flop=compute,
        params=best.params,
        tokens=best.tokens,
        tokens_per_param=best.tokens_per_param,
        tokens_per_param_p025=None if low is None else float(low),
        tokens_per_param_p975=None if high is None else float(high),
        loss=best.loss,
        loss_at_first=there,
        outside="; ".join(law.outside(**point)),
    )


def markdown(rows: Sequence[Row]) -> str:
    """The comparison as a Markdown table."""
    lines = [
        "| C [FLOP] | law | N* | D* [tokens] | D/N | D/N, 95 % | loss "
        "| loss at the first law's optimum | outside its runs |",
        "| ---: | --- | ---: | ---: | ---: | --- | ---: | ---: | --- |",
    ]
    for r in rows:
        loss = "" if r.loss is None else f"{r.loss:.4f}"
        there = "" if r.loss_at_first is None else f"{r.loss_at_first:.4f}"
        low, high = r.tokens_per_param_p025, r.tokens_per_param_p975
        band = "" if low is None or high is None else f"{low:.3g} to {high:.3g}"
        lines.append(
            f"| {r.compute_flop:.4g} | {r.law} | {r.params:.4g} | {r.tokens:.4g} | "
            f"{r.tokens_per_param:.4g} | {band} | {loss} | {there} | {r.outside} |"
        )
    return "\n".join(lines) + "\n"
