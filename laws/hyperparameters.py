r"""Learning rate, batch size and other settings as powers of size, data or compute.

.. math:: y = k \, N^{p} D^{q} \quad \text{or} \quad y = k \, C^{p}, \quad B = B_* L^{-1/\alpha_B}
"""

from __future__ import annotations

from laws.form import Form
from laws.symbols import C, D, L, N, constant, plain

scale = constant("k_0")
p, q = plain("p"), plain("q")
N1, D1, C1 = constant("N_1"), constant("D_1"), constant("C_1")
B_star, alpha_B = constant("B_star"), constant("alpha_B")


def _of_compute(name: str, unit: str, meaning: str) -> Form:
    return Form(
        name=name,
        kind="hyperparameter",
        statement=scale * (C / C1) ** p,
        variables=(C,),
        constants=(scale, p, C1),
        units={"k_0": unit, "C_1": "FLOP"},
        meaning=meaning,
    )


def _of_size_and_data(name: str, unit: str, meaning: str) -> Form:
    return Form(
        name=name,
        kind="hyperparameter",
        statement=scale * (N / N1) ** p * (D / D1) ** q,
        variables=(N, D),
        constants=(scale, p, q, N1, D1),
        units={"k_0": unit, "N_1": "param", "D_1": "token"},
        meaning=meaning,
    )


RATE_OF_COMPUTE = _of_compute("learning-rate-of-compute", "1", "best learning rate for compute")
BATCH_OF_COMPUTE = _of_compute("batch-of-compute", "token", "best batch in tokens for compute")
MODEL_SCALE = _of_compute(
    "model-scale-of-compute", "FLOP/token", "best non-embedding FLOP per token for compute"
)
RATE = _of_size_and_data("learning-rate", "1", "best learning rate for size and data")
BATCH = _of_size_and_data("batch", "token", "best batch in tokens for size and data")

CRITICAL_BATCH = Form(
    name="critical-batch",
    kind="hyperparameter",
    statement=B_star * L ** (-1 / alpha_B),
    variables=(L,),
    constants=(B_star, alpha_B),
    units={"B_star": "token"},
    meaning="batch beyond which larger batches stop saving steps, at a loss",
    log_convex=True,
    convexity="a monomial",
)

tokens_per_param_scale, eta = constant("K2"), plain("eta")

SIZE_OVER_DATA = Form(
    name="size-over-data",
    kind="hyperparameter",
    statement=tokens_per_param_scale * (C / C1) ** eta,
    variables=(C,),
    constants=(tokens_per_param_scale, eta, C1),
    units={"K2": "param/token", "C_1": "FLOP"},
    meaning="compute-optimal parameters per token for compute",
)
