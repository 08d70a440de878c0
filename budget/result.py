"""The `Plan`: the answer to one scenario, as frozen data. Base units; see the field names.

Shares are fractions of the total cost. `None` stands for what does not apply or cannot be
known yet, never for zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

Status = Literal["optimal", "optimal-not-certified", "infeasible"]
SCHEMA_VERSION = 1


@dataclass(frozen=True)
class ModelSize:
    """Parameters; total is None when the scenario does not say whether the model is sparse."""

    active_params: float
    total_params: float | None
    sparsity: float | None


@dataclass(frozen=True)
class PretrainingPart:
    """Pretraining of the final run. `training_bits` is None unless a precision law is used."""

    tokens: float
    unique_tokens: float | None
    epochs: float | None
    flop: float
    chip_hours: float
    cost_usd: float
    share: float
    training_bits: float | None


@dataclass(frozen=True)
class RLPart:
    """Reinforcement learning: generation, extra forward passes, updates."""

    tokens: float
    flop: float
    chip_hours: float
    cost_usd: float
    share: float


@dataclass(frozen=True)
class InferencePart:
    """Serving over the lifetime. `input_tokens` includes the cached ones.

    `samples_per_query` is None unless the scenario has a law of samples; `output_tokens` counts all
    samples.
    """

    output_tokens: float
    input_tokens: float
    cached_input_tokens: float
    flop: float
    chip_hours: float
    cost_usd: float
    share: float
    usd_per_million_output_tokens: float | None
    samples_per_query: float | None


@dataclass(frozen=True)
class Quality:
    """Loss [nat/token], its part above the irreducible loss, and a score where a law gives one."""

    loss: float
    loss_reducible: float
    score: float | None


@dataclass(frozen=True)
class Overtraining:
    """D/N; D/D_opt(N); D/(20 N); D/N over the D/N that is optimal for the same compute."""

    tokens_per_param: float
    overtraining_factor: float
    vs_20_tokens_per_param: float
    vs_same_compute: float


@dataclass(frozen=True)
class Reference:
    """Compute-optimal plan of the same pretraining compute, ignoring traffic."""

    active_params: float
    tokens: float
    loss: float


@dataclass(frozen=True)
class Baseline:
    """Another plan of the same quality. `extra_cost_usd` is its cost less the plan's."""

    name: str
    active_params: float
    tokens: float
    rl_tokens: float
    total_cost_usd: float
    loss: float
    extra_cost_usd: float
    violates: tuple[str, ...] = ()


@dataclass(frozen=True)
class ShadowPrice:
    """What one unit more of a bound is worth. Positive: relaxing helps.

    `usd_per_unit` is the fall of the least cost at equal quality, `loss_per_unit` (goal
    max-quality) the fall of the loss at equal budget; `elasticity` is relative.
    """

    bound: float
    unit: str
    usd_per_unit: float | None
    loss_per_unit: float | None
    elasticity: float


@dataclass(frozen=True)
class LawUse:
    """A law the plan rests on, and whether the plan lies within the runs behind it."""

    name: str
    source: str
    valid: bool
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Binding:
    """A constraint of an infeasible scenario and the bound that alone would suffice."""

    name: str
    bound: float
    unit: str
    relaxed_to: float | None
    message: str


@dataclass(frozen=True)
class Provenance:
    """What produced the plan."""

    version: str
    scenario_sha256: str
    seed: int


@dataclass(frozen=True)
class Plan:
    """The answer to one scenario. Parts are None only if `status` is "infeasible"."""

    scenario: str
    goal: Mapping[str, Any]
    status: Status
    provenance: Provenance
    laws: tuple[LawUse, ...] = ()
    model: ModelSize | None = None
    pretraining: PretrainingPart | None = None
    rl: RLPart | None = None
    inference: InferencePart | None = None
    other_costs: Mapping[str, float] = field(default_factory=dict)
    total_cost_usd: float | None = None
    total_flop: float | None = None
    quality: Quality | None = None
    overtraining: Overtraining | None = None
    compute_optimal_reference: Reference | None = None
    baselines: tuple[Baseline, ...] = ()
    implied_served_tokens: float | None = None
    near_optimal: Mapping[str, tuple[float, float]] | None = None
    shadow_prices: Mapping[str, ShadowPrice] = field(default_factory=dict)
    elasticities: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    intervals: Mapping[str, Mapping[str, float]] | None = None
    certificate: Mapping[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    binding: tuple[Binding, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON-ready data, keys in the order of the contract."""
        data = _plain(asdict(self))
        ordered = {"schema": SCHEMA_VERSION, **{key: data[key] for key in _ORDER}}
        if self.status == "infeasible":
            ordered["binding"] = data["binding"]
        return ordered

    def flat(self) -> dict[str, Any]:
        """One row: nested keys joined by dots, without lists and elasticities."""
        row: dict[str, Any] = {}
        _flatten(row, "", self.to_dict())
        return row

    def to_frame(self) -> pd.DataFrame:
        """One-row data frame of `flat`."""
        import pandas as pd

        return pd.DataFrame([self.flat()])

    def baseline(self, name: str) -> Baseline | None:
        """The baseline of that name."""
        return next((b for b in self.baselines if b.name == name), None)

    def _repr_markdown_(self) -> str:
        from budget.summary import markdown

        return markdown(self)


_ORDER = (
    "scenario",
    "goal",
    "status",
    "model",
    "pretraining",
    "rl",
    "inference",
    "other_costs",
    "total_cost_usd",
    "total_flop",
    "quality",
    "overtraining",
    "compute_optimal_reference",
    "baselines",
    "implied_served_tokens",
    "near_optimal",
    "shadow_prices",
    "elasticities",
    "intervals",
    "certificate",
    "laws",
    "warnings",
    "provenance",
)


def _plain(value: Any) -> Any:
    """Tuples to lists, recursively; mappings to dicts."""
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    return value


def _flatten(row: dict[str, Any], prefix: str, value: Mapping[str, Any]) -> None:
    for key, item in value.items():
        name = f"{prefix}{key}"
        if name in ("elasticities", "shadow_prices", "laws", "baselines", "binding", "warnings"):
            continue
        if isinstance(item, Mapping):
            _flatten(row, f"{name}.", item)
        elif isinstance(item, list):
            row.update({f"{name}.{i}": v for i, v in enumerate(item)})
        else:
            row[name] = item
