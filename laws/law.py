"""The `Law`: a form, published constants, where they hold, and where they come from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike, NDArray

from laws import frontier
from laws.compile import Compiled, compile_expression
from laws.form import Form
from laws.frontier import Optimum


@dataclass(frozen=True)
class Source:
    """Where a set of constants comes from and how it was checked."""

    paper: str
    arxiv: str
    where: str
    checked: str

    def __str__(self) -> str:
        return f"{self.paper} (arXiv {self.arxiv}), {self.where}"


@dataclass(frozen=True)
class Constant:
    """A fitted constant; `value` carries `digits` published significant digits.

    `of_logarithm` says that the digits are those of its logarithm, as published.
    """

    value: float
    unit: str
    digits: int
    stderr: float | None = None
    note: str = ""
    of_logarithm: bool = False


@dataclass(frozen=True)
class Range:
    """Where the runs behind a law lie, in the unit of the variable."""

    low: float
    high: float
    unit: str


@dataclass(frozen=True)
class Covariance:
    """Joint uncertainty of a law's constants; ``ln A`` stands for the logarithm of A."""

    parameters: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]
    note: str


@dataclass(frozen=True)
class Law:
    """A formula with constants.

    Symbols are those of `form`; array arguments broadcast. Losses are in nat per token.
    """

    name: str
    summary: str
    form: Form
    constants: Mapping[str, Constant]
    source: Source
    param_count: str
    data: str
    validity: Mapping[str, Range]
    notes: tuple[str, ...] = ()
    correlations: Mapping[str, float] = field(default_factory=dict)
    covariance: Covariance | None = None

    def __post_init__(self) -> None:
        expected = {str(c) for c in self.form.constants}
        if set(self.constants) != expected:
            raise ValueError(
                f"law {self.name}: constants {sorted(self.constants)}, form "
                f"{self.form.name} needs {sorted(expected)}"
            )

    def draw(self, count: int, seed: int) -> dict[str, NDArray[np.float64]]:
        """Constants drawn jointly from the covariance (normal), each an array of `count`.

        Raises `TypeError` for a law without a covariance.
        """
        if self.covariance is None:
            raise TypeError(f"{self.name} has no published covariance to draw from")
        names = self.covariance.parameters
        centre = [
            math.log(self.constants[n[3:]].value)
            if n.startswith("ln ")
            else self.constants[n].value
            for n in names
        ]
        # Cholesky, unlike an SVD, has no signs that could differ between machines.
        draws = np.random.default_rng(seed).multivariate_normal(
            centre, np.array(self.covariance.matrix), count, method="cholesky"
        )
        drawn = {c: np.full(count, k.value) for c, k in self.constants.items()}
        for name, column in zip(names, draws.T, strict=True):
            logarithm = name.startswith("ln ")
            drawn[name[3:] if logarithm else name] = np.exp(column) if logarithm else column
        return drawn

    # -- evaluation ---------------------------------------------------------------

    @cached_property
    def compiled(self) -> Compiled:
        """The form compiled over (variables, constants), derivatives in the variables."""
        f = self.form
        return compile_expression(f.expression, (*f.variables, *f.constants), f.variables)

    @cached_property
    def constant_values(self) -> tuple[float, ...]:
        """Constants in the order of `form.constants`."""
        return tuple(self.constants[str(c)].value for c in self.form.constants)

    @cached_property
    def irreducible(self) -> float:
        """Loss that no spend removes [nat/token]."""
        return float(self.form.irreducible.subs(self.substitutions))

    @property
    def substitutions(self) -> dict[sp.Symbol, float]:
        """Symbol of every constant to its value."""
        return dict(zip(self.form.constants, self.constant_values, strict=True))

    def _arguments(self, variables: Mapping[str, ArrayLike]) -> list[ArrayLike]:
        names = [str(v) for v in self.form.variables]
        if set(variables) != set(names):
            raise TypeError(
                f"{self.name} is a function of {', '.join(names)}; got "
                f"{', '.join(sorted(variables)) or 'nothing'}"
            )
        for name in names:
            if not np.all(np.asarray(variables[name], dtype=float) > 0):
                raise ValueError(f"{name} must be positive")
        return [*(variables[n] for n in names), *self.constant_values]

    def value(self, **variables: ArrayLike) -> NDArray[np.float64]:
        """Evaluate the law, e.g. ``law.value(N=70e9, D=1.4e12)``, shape of the arguments."""
        return self.compiled.value(*self._arguments(variables))

    def gradient(self, **variables: ArrayLike) -> NDArray[np.float64]:
        """First derivatives in the variables, in the order of `form.variables`."""
        return self.compiled.gradient(*self._arguments(variables))

    def hessian(self, **variables: ArrayLike) -> NDArray[np.float64]:
        """Second derivatives in the variables."""
        return self.compiled.hessian(*self._arguments(variables))

    # -- what follows from the formula -----------------------------------------------

    def optimum(
        self, compute: float, unique_tokens: float | None = None, sparsity: float | None = None
    ) -> Optimum:
        """Compute-optimal N and D for `compute` FLOP under C = 6 N D.

        `unique_tokens` and `sparsity` are required by laws in U and S. Raises `TypeError`
        for a law that has neither a loss nor an allocation.

        >>> import laws
        >>> best = laws.get("besiroglu-2024").optimum(compute=5.76e23)
        >>> f"{best.params:.6e} {best.tokens:.6e} {best.loss:.6f}"
        '7.224870e+10 1.328744e+12 1.974441'
        """
        return frontier.optimum(self, compute, {"U": unique_tokens, "S": sparsity})

    def optimal_tokens(
        self, params: float, unique_tokens: float | None = None, sparsity: float | None = None
    ) -> float:
        """Tokens for which `params` is compute-optimal (same-N optimum).

        >>> import laws
        >>> f"{laws.get('besiroglu-2024').optimal_tokens(70e9):.6e}"
        '1.289392e+12'
        """
        return frontier.optimal_tokens(self, params, {"U": unique_tokens, "S": sparsity})

    def implied_served_tokens(
        self,
        params: float,
        tokens: float,
        unique_tokens: float | None = None,
        sparsity: float | None = None,
    ) -> float:
        """Served tokens T that make (params, tokens) the cheapest plan for its loss.

        At equal price per FLOP of training and serving, T = 3 D (e_N/e_D - 1), where
        e_N and e_D are -dL/dlnN and -dL/dlnD (Sardana et al. 2024, arXiv 2401.00448,
        first-order condition). Negative: no traffic rationalises the plan. Infinite where
        further tokens have no measurable worth left (tens of thousands of epochs).

        >>> import laws
        >>> f"{laws.get('besiroglu-2024-full').implied_served_tokens(8e9, 15e12):.3e}"
        '1.901e+14'
        """
        others = {"U": unique_tokens, "S": sparsity}
        return frontier.implied_served_tokens(self, params, tokens, others)

    def compute_overhead(self, size_factor: float, compute: float, **others: float) -> float | None:
        """Extra training compute of a model of `size_factor` times the optimal size, same loss.

        A fraction: 0.21 is 21 % more than `compute` [FLOP] (de Vries 2023, "Go smol or go home").
        None if a model of that size cannot reach the loss at all.

        >>> import laws
        >>> f"{laws.get('hoffmann-2022').compute_overhead(0.5, 5.76e23):.3f}"
        '0.208'
        """
        return frontier.compute_overhead(self, size_factor, compute, others)

    def outside(self, **values: float) -> list[str]:
        """Say for each value given (N, D, `D/N`, C ...) how it leaves the range of the runs."""
        messages = []
        for name, value in values.items():
            if math.isnan(value):
                raise ValueError(f"{name} is not a number")
            span = self.validity.get(name)
            if span is None or span.low <= value <= span.high:
                continue
            edge, word = (span.high, "largest") if value > span.high else (span.low, "smallest")
            messages.append(
                f"{name} = {value:.3g} {span.unit} is {value / edge:.3g} times the {word} of the "
                f"runs ({edge:.3g})"
            )
        return messages

    def to_dict(self) -> dict[str, Any]:
        """The law as plain data (the JSON of `budget laws`)."""
        from laws import render

        return render.to_dict(self)
