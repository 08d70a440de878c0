"""Laws for people and machines: LaTeX, Markdown and plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sympy as sp
from sympy.codegen.cfunctions import expm1

from laws.form import KINDS, Form
from laws.frontier import closed_form
from laws.symbols import logistic

if TYPE_CHECKING:
    from laws.law import Constant, Law

_SYMBOL_LATEX = {
    "R_D": "R_D^*",
    "R_N": "R_N^*",
    "c_train": "c_{\\mathrm{train}}",
    "c_forward": "c_{\\mathrm{forward}}",
    "C_mid": "C_{\\mathrm{mid}}",
    "L_half": "L_{1/2}",
    "T_out": "T_{\\mathrm{out}}",
    "T_in": "T_{\\mathrm{in}}",
    "Nc": "N_c",
    "Dc": "D_c",
    "N0": "N_0",
    "C0": "C_0",
    "R0": "R_0",
    "K2": "K^2",
    **{
        word: rf"\mathrm{{{word}}}"
        for word in ("experts", "pruned", "steps", "floor", "ceiling", "slope")
    },
    "bytes_per_token": r"\mathrm{bytes/token}",
}

_LEFT_SIDE = {
    "allocation": "N^*",
    "hyperparameter": "y",
    "moe-size": r"\bar{N}",
    "rl-score": "S",
    "test-time": "y",
    "downstream": "S",
    "flop": "C",
}
"""What a formula of each kind gives; a loss where nothing is listed."""


def latex(expression: sp.Expr, names: Mapping[sp.Symbol, str] | None = None) -> str:
    """LaTeX of an expression; `names` adds to the library's symbol names."""
    known = {s: _SYMBOL_LATEX[str(s)] for s in expression.free_symbols if str(s) in _SYMBOL_LATEX}
    known |= names or {}

    def opaque(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
        # SymPy's printer would call simplify() on every symbolic exponent: slow, and it changes
        # nothing on the page.
        return base ** sp.Symbol(str(sp.latex(exponent, symbol_names=known)))

    plain = expression.replace(expm1, lambda x: sp.exp(x) - 1)
    plain = plain.replace(logistic, logistic.written_out)
    shown = plain.replace(lambda e: e.is_Pow and e.exp.free_symbols, lambda e: opaque(*e.args))
    return str(sp.latex(shown, symbol_names=known))


def _left(form: Form) -> str:
    return "D^*" if form.yields == "tokens" else _LEFT_SIDE.get(form.kind, "L")


def form_latex(form: Form) -> str:
    """LaTeX of the whole formula, e.g. ``L(N, D) = ...``."""
    arguments = ", ".join(latex(v) for v in form.variables)
    left = f"{_left(form)}({arguments})"
    if not form.where:
        return f"{left} = {latex(form.statement)}"
    rows = [f"{left} &= {latex(form.statement)}"]
    rows += [f"{latex(symbol)} &= {latex(definition)}" for symbol, definition in form.where]
    return "\n".join([r"\begin{aligned}", " \\\\\n".join(rows), r"\end{aligned}"])


def formula(form: Form) -> str:
    """The formula as one line of text."""
    arguments = ", ".join(map(str, form.variables))
    text = f"{_left(form)}({arguments}) = {form.statement}"
    where = ", ".join(f"{symbol} = {definition}" for symbol, definition in form.where)
    return f"{text} where {where}" if where else text


def printed(constant: Constant) -> str:
    """A constant with its significant digits, one fewer if they are those of its logarithm."""
    digits = constant.digits - 1 if constant.of_logarithm else constant.digits
    return f"{constant.value:.{max(digits, 1)}g}"


def to_dict(law: Law) -> dict[str, Any]:
    """The law as plain data."""
    return {
        "name": law.name,
        "kind": law.form.kind,
        "summary": law.summary,
        "formula": formula(law.form),
        "latex": form_latex(law.form),
        "constants": {n: c.value for n, c in law.constants.items()},
        "constant_details": {
            n: {"unit": c.unit, "digits": c.digits, "stderr": c.stderr, "note": c.note}
            for n, c in law.constants.items()
        },
        "correlations": dict(law.correlations),
        "covariance": None
        if law.covariance is None
        else {
            "parameters": list(law.covariance.parameters),
            "matrix": [list(row) for row in law.covariance.matrix],
            "note": law.covariance.note,
        },
        "source": str(law.source),
        "arxiv": law.source.arxiv,
        "checked": law.source.checked,
        "param_count": law.param_count,
        "data": law.data,
        "validity": {
            n: {"low": r.low, "high": r.high, "unit": r.unit} for n, r in law.validity.items()
        },
        "log_convex": law.form.log_convex,
        "notes": list(law.notes),
    }


def catalogue(laws: Sequence[Law], forms: Sequence[Form]) -> str:
    """All laws and the formulas without public constants, as one Markdown page."""
    lines = [
        "# The law library",
        "",
        "Made by `budget laws -f md`; do not edit. Losses are in nat per token unless a law says "
        "otherwise; every formula is one SymPy expression from which values, derivatives and "
        "optima are derived.",
        "",
        "| law | kind | summary | source |",
        "| --- | --- | --- | --- |",
    ]
    for law in laws:
        anchor = law.name.replace(".", "")
        lines.append(
            f"| [{law.name}](#{anchor}) | {KINDS[law.form.kind]} | {law.summary} | "
            f"[{law.source.arxiv}](https://arxiv.org/abs/{law.source.arxiv}) |"
        )
    lines += ["", *_disagreement(laws)]
    pages = [markdown(law, level=2) for law in laws]
    lines += ["", *pages, "## Formulas without public constants", ""]
    lines += ["A scenario or a law file must bring its own numbers for these.", ""]
    for form in forms:
        symbols = ", ".join(f"${latex(c)}$" for c in form.constants)
        lines += [f"### {form.name}", "", f"{form.meaning[0].upper()}{form.meaning[1:]}.", ""]
        lines += ["```math", form_latex(form), "```", "", f"Constants: {symbols}.", ""]
    return "\n".join(lines).rstrip() + "\n"


BIG = 5e26
"""Training compute of a 2026-size run, for the comparison of laws [FLOP]."""


def _disagreement(laws: Sequence[Law]) -> Iterable[str]:
    from laws import compare

    comparable = [
        w for w in laws if w.form.kind in ("loss", "allocation") and closed_form_or_rule(w.form)
    ]
    yield f"## How far the laws disagree at {BIG:.0e} FLOP"
    yield ""
    yield "What each calls compute-optimal (`budget laws compare ... --compute 5e26`):"
    yield ""
    yield compare.markdown(compare.compare(comparable, [BIG]))


def closed_form_or_rule(form: Form) -> bool:
    """Whether a compute-optimal size follows from compute alone."""
    return form.kind == "allocation" or closed_form(form) is not None


SHOWN = (1e21, 5.76e23, 3.8e25)
"""Compute at which a page shows the optimum [FLOP]: small, Gopher's, Llama-3.1 405B's."""


def markdown(law: Law, level: int = 1, computes: Sequence[float] = SHOWN) -> str:
    """One page on a law, as Markdown that GitHub renders."""
    lines = [
        f"{'#' * level} {law.name}",
        "",
        f"{law.summary}: {law.form.meaning}.",
        "",
        "```math",
        form_latex(law.form),
        "```",
        "",
        "| constant | value | standard error | unit | note |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, c in law.constants.items():
        error = "" if c.stderr is None else f"{c.stderr:g}"
        lines.append(f"| {name} | {printed(c)} | {error} | {c.unit} | {c.note} |")
    lines += ["", *_facts(law), *_frontier(law, computes)]
    return "\n".join(lines) + "\n"


def _facts(law: Law) -> Iterable[str]:
    yield f"- Source: {law.source}"
    yield f"- Checked: {law.source.checked}"
    yield f"- Kind: {KINDS[law.form.kind]}"
    yield f"- Parameters counted: {law.param_count}"
    yield f"- Data: {law.data}"
    for name, span in law.validity.items():
        yield f"- Runs cover {name} from {span.low:.3g} to {span.high:.3g} {span.unit}"
    for pair, value in law.correlations.items():
        yield f"- Correlation of {pair}: {value:g}"
    if law.covariance is not None:
        yield f"- Joint uncertainty: {law.covariance.note}"
    convexity = law.form.convexity if law.form.log_convex else "not claimed"
    yield f"- Convex in the logarithms of its variables: {convexity}"
    for note in law.notes:
        yield f"- Note: {note}"


def _overheads(law: Law, compute: float) -> Iterable[str]:
    """What a smaller model of the same loss costs in training compute."""
    for factor in (0.75, 0.5, 0.3):
        extra = law.compute_overhead(factor, compute)
        words = "cannot reach the loss" if extra is None else f"{100 * extra:+.1f} % compute"
        yield f"{factor:g} N*: {words}"


def _frontier(law: Law, computes: Sequence[float]) -> Iterable[str]:
    monomial = closed_form(law.form) if law.form.kind == "loss" else None
    if monomial is None:
        return
    yield ""
    yield "On the compute-optimal frontier of C = 6 N D:"
    yield ""
    yield "```math"
    p, q = latex(monomial.p), latex(monomial.q)
    yield f"{latex(monomial.coefficient)} \\; N^{{-{p}}} D^{{{q}}} = 1"
    yield "```"
    yield ""
    yield "| C [FLOP] | N* | D* [tokens] | D/N | loss [nat/token] |"
    yield "| --- | --- | --- | --- | --- |"
    for compute in computes:
        best = law.optimum(compute)
        yield (
            f"| {compute:.3g} | {best.params:.4g} | {best.tokens:.4g} | "
            f"{best.tokens_per_param:.4g} | {best.loss:.5g} |"
        )
    yield ""
    at = computes[len(computes) // 2]
    overheads = "; ".join(_overheads(law, at))
    yield f"A smaller model of the same loss at {at:.4g} FLOP: {overheads}."
