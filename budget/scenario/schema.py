"""The scenario file as typed, validated data. Nothing here has a default that costs money."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from budget.quantity import Count, Quantity, utilisation

Amount = Annotated[float, Count()]
AmountOrZero = Annotated[float, Count(zero=True)]
Rate = Annotated[float, Quantity("token/s", "50 Mtok/s", zero=True)]
Duration = Annotated[float, Quantity("s", "60 days")]
Money = Annotated[float, Quantity("USD", "50 MUSD")]
MoneyOrZero = Annotated[float, Quantity("USD", "2 MUSD", zero=True)]
ChipPrice = Annotated[float, Quantity("USD/s", "2.10 USD/hour")]
FlopRate = Annotated[float, Quantity("FLOP/s", "989 TFLOP/s")]
Flop = Annotated[float, Quantity("FLOP", "1e23 FLOP")]
Share = Annotated[float, Field(ge=0, le=1)]
Utilisation = Annotated[float, AfterValidator(utilisation)]
AtLeastOne = Annotated[float, Field(ge=1, le=1e9, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Table(BaseModel):
    """Base of every table: unknown keys are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Match(Table):
    """Quality "as good as" a plan of this size."""

    params: Amount = Field(description="parameters, in the count the law uses")
    tokens: Amount = Field(description="pretraining tokens, all fresh")
    rl_tokens: Amount | None = Field(None, description="RL tokens, with an RL power law")
    sparsity: AtLeastOne | None = Field(None, description="total / active, with a sparsity law")
    samples: AtLeastOne | None = Field(None, description="samples per query, with a samples law")
    bits: Positive | None = Field(None, description="training bits, with a precision law")


class Goal(Table):
    """What is asked."""

    kind: Literal["min-cost", "max-quality", "equal-cost", "fixed"]
    loss: Positive | None = Field(None, description="quality target: loss [nat/token]")
    score: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        None, description="quality target: score, with a downstream or an RL sigmoid law"
    )
    match: Match | None = None
    budget: Money | None = Field(None, description="lifetime dollars, for max-quality")


class Model(Table):
    """The model. A size given here is held; otherwise the solver chooses it."""

    preset: str | None = Field(None, description="released model from the catalogue")
    active_params: Amount | None = Field(None, description="parameters multiplied per token")
    total_params: Amount | None = Field(None, description="parameters held in memory")
    sparsity: AtLeastOne | None = Field(None, description="total / active; 1 for dense")


class Downstream(Table):
    """From loss to score; constants are the user's. `sigmoid`, or Gadre's average `error`."""

    kind: Literal["sigmoid", "error"]
    floor: Share | None = Field(None, description="sigmoid: score of chance")
    ceiling: Share | None = Field(None, description="sigmoid: highest score")
    slope: Positive | None = Field(None, description="sigmoid: steepness [token/nat]")
    L_half: Positive | None = Field(None, description="sigmoid: loss half way [nat/token]")
    epsilon: Positive | None = Field(None, description="error: error at high loss")
    k_e: Positive | None = Field(None, description="error: size of the exponential")
    gamma: Positive | None = Field(None, description="error: its rate [token/nat]")


class LawChoice(Table):
    """Which laws the plan believes."""

    pretraining: str = Field(description="law of the pretraining loss; see `budget laws`")
    rl: Literal["none", "power", "sigmoid", "equal-cost"] = "none"
    downstream: Downstream | None = None


class Traffic(Table):
    """Demand: mean rates over a lifetime, or lifetime totals."""

    output: Rate | None = Field(None, description="mean decoded tokens per second")
    input: Rate | None = Field(None, description="mean prompt tokens per second, cached included")
    lifetime: Duration | None = None
    output_tokens: AmountOrZero | None = Field(None, description="lifetime total instead of a rate")
    input_tokens: AmountOrZero | None = Field(None, description="lifetime total instead of a rate")
    cached_input_share: Share | None = Field(None, description="share of input read from cache")
    peak_to_mean: AtLeastOne = Field(1.0, description="reserved capacity over the mean load")


class Data(Table):
    """Pretraining data."""

    unique_tokens: Amount | None = Field(None, description="distinct tokens available")
    max_epochs: Positive | None = Field(None, description="passes allowed over the unique tokens")
    cost: MoneyOrZero | None = Field(None, description="price of the data, once")


class Stage(Table):
    """Hardware of one stage. Every field must be stated somewhere on the way to the stage."""

    chip: str | None = None
    precision: str | None = Field(None, description="bf16, fp8 or fp4: names the peak used")
    peak: FlopRate | None = Field(None, description="dense peak, to override the catalogue")
    mfu: Utilisation | None = Field(None, description="model FLOP / peak while productive")
    goodput: Utilisation | None = Field(None, description="productive time / paid time")
    chip_price: ChipPrice | None = Field(None, description="one chip for one hour")


class LowPrecision(Table):
    """Effective size of a model trained in few bits (Kumar et al. 2024). Constants the user's.

    Training dollars scale as bits/16 from the stated 16-bit precision.
    """

    gamma_w: Positive = Field(description="weights [bit]")
    gamma_a: Positive = Field(description="activations [bit]")
    gamma_kv: Positive = Field(description="KV cache [bit]")
    bits: Positive | None = Field(None, description="training bits, when given and not chosen")


class Pretraining(Stage):
    """Pretraining."""

    tokens: Amount | None = Field(None, description="D, for goal fixed")
    research_multiplier: AtLeastOne | None = Field(
        None, description="all runs, failed and experimental included, over the final run"
    )
    reported_chip_hours: Positive | None = Field(None, description="published, for comparison")
    staff_cost: MoneyOrZero | None = None
    low_precision: LowPrecision | None = None


class RL(Stage):
    """Reinforcement learning. Constants of RL laws are always the user's: none are agreed."""

    law: Literal["none", "power", "sigmoid", "equal-cost"] | None = Field(
        None, description="the same as law.rl"
    )
    tokens: Amount | None = Field(None, description="R, when it is given and not chosen")
    forward_passes: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        None, description="extra forward passes per rollout token (reference, reward)"
    )
    trained_share: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        None, description="share of rollout tokens trained on, times epochs"
    )
    generation: Stage | None = None
    training: Stage | None = None
    K: Positive | None = Field(None, description="power law [nat/token token^gamma]")
    gamma: Positive | None = Field(None, description="power law exponent")
    A: Share | None = Field(None, description="sigmoid: ceiling of the score")
    B: Positive | None = Field(None, description="sigmoid: steepness")
    C_mid: Flop | None = Field(None, description="sigmoid: RL compute half way up")
    R0: Share | None = Field(None, description="sigmoid: base score, if independent of the loss")
    k: Positive | None = Field(None, description="sigmoid: slope of the base score [1/nat]")
    L_half: Positive | None = Field(None, description="sigmoid: loss of half the ceiling")


class Samples(Table):
    """Repeated samples: k per query remove G k^-gamma of the task's loss. Constants the user's."""

    G: Positive
    gamma: Positive
    count: AtLeastOne | None = Field(None, description="k, when it is given and not chosen")


class Inference(Stage):
    """Serving. Fields here hold for decode and prefill unless those say otherwise."""

    decode: Stage | None = None
    prefill: Stage | None = None
    redundancy: AtLeastOne = Field(1.0, description="spare capacity over the peak load")
    samples: Samples | None = None


class Constraints(Table):
    """Limits, each reported with its shadow price."""

    min_active_params: Amount | None = None
    max_active_params: Amount | None = None
    min_pretraining_tokens: Amount | None = None
    max_pretraining_tokens: Amount | None = None
    min_rl_tokens: Amount | None = None
    max_rl_tokens: Amount | None = None
    min_tokens_per_param: Positive | None = None
    max_tokens_per_param: Positive | None = None
    min_sparsity: AtLeastOne | None = Field(None, description="with a law in sparsity")
    max_sparsity: AtLeastOne | None = Field(None, description="with a law in sparsity")
    max_total_params: Amount | None = Field(None, description="with a law in sparsity")
    min_training_bits: Positive | None = Field(None, description="with a precision law")
    max_training_bits: Positive | None = Field(None, description="with a precision law")
    max_samples_per_query: AtLeastOne | None = Field(None, description="with a samples law")
    training_deadline: Duration | None = Field(None, description="wall clock for pretraining")
    training_chips: Positive | None = Field(None, description="chips for pretraining")


class Uncertainty(Table):
    """Seed of whatever is drawn."""

    seed: int = 0


class Variant(Table):
    """The scenario with some keys changed, shown beside it in the report."""

    label: str
    set: dict[str, Any]


class Report(Table):
    """How the report is labelled."""

    title: str | None = None
    summary: str | None = Field(None, description="one sentence on what is asked")
    compare_laws: list[str] = []
    variants: list[Variant] = []


class ScenarioFile(Table):
    """One scenario file."""

    goal: Goal
    model: Model = Model()
    law: LawChoice
    traffic: Traffic | None = None
    data: Data = Data()
    pretraining: Pretraining
    rl: RL = RL()
    inference: Inference | None = None
    constraints: Constraints = Constraints()
    uncertainty: Uncertainty = Uncertainty()
    report: Report = Report()
