"""The published objective values of real runs, from our losses and nothing else of ours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import laws

RUNS = (Path(__file__).parents[2] / "../shared/data/runs").resolve()
HUBER_DELTA = 1e-3

pytestmark = pytest.mark.skipif(not RUNS.is_dir(), reason="no training runs beside the repository")


def runs(name: str) -> np.ndarray:
    return np.genfromtxt(
        RUNS / f"{name}.csv", delimiter=",", names=True, dtype=None, encoding="utf-8"
    )


def objective(predicted: np.ndarray, observed: np.ndarray) -> float:
    error = np.abs(np.log(predicted) - np.log(observed))
    near, far = error**2 / 2, HUBER_DELTA * (error - HUBER_DELTA / 2)
    return float(np.where(error <= HUBER_DELTA, near, far).sum())


@pytest.fixture(scope="module")
def chinchilla() -> np.ndarray:
    table = runs("chinchilla_svg")
    return table[table["outlier"] == 0]


@pytest.fixture(scope="module")
def repeated() -> np.ndarray:
    table = runs("datablations_repeat")
    return table[table["in_published_fit"] == 1]


def repeated_losses(table: np.ndarray) -> np.ndarray:
    return laws.get("muennighoff-2023").value(
        N=table["params"], D=table["tokens"], U=table["unique_tokens"]
    )


def explained(predicted: np.ndarray, observed: np.ndarray) -> float:
    residual, total = predicted - observed, observed - observed.mean()
    return float(1 - (residual @ residual) / (total @ total))


def test_fits_use_the_published_rows(chinchilla, repeated):
    assert (chinchilla.size, repeated.size) == (240, 182)


@pytest.mark.parametrize(
    ("name", "digits", "printed"),
    [
        ("besiroglu-2024-full", 8, 0.00101864),
        ("besiroglu-2024", 8, 0.00102284),
        ("besiroglu-2024-refit", 10, 0.0010182740),
    ],
)
def test_objective_of_the_replication(chinchilla, name, digits, printed):
    losses = laws.get(name).value(N=chinchilla["params"], D=chinchilla["tokens"])
    assert round(objective(losses, chinchilla["loss"]), digits) == printed


def test_no_other_chinchilla_law_beats_the_refit(chinchilla):
    def found(law):
        losses = law.value(N=chinchilla["params"], D=chinchilla["tokens"])
        return objective(losses, chinchilla["loss"])

    additive = [laws.get(n) for n in laws.names("loss")]
    additive = [law for law in additive if law.form.name == "chinchilla"]
    assert min(additive, key=found).name == "besiroglu-2024-refit"


def test_objective_of_repeated_data(repeated):
    # alpha is printed to 7 digits; half of its last digit moves the objective by 3e-8.
    found = objective(repeated_losses(repeated), repeated["loss"])
    assert found == pytest.approx(0.015825937, abs=3e-8)


def test_repeated_data_law_explains_the_runs(repeated):
    assert round(explained(repeated_losses(repeated), repeated["loss"]), 4) == 0.7722


def test_law_without_decay_explains_fewer_of_the_repeated_runs(repeated):
    base = laws.get("muennighoff-2023-base").value(N=repeated["params"], D=repeated["tokens"])
    assert round(explained(base, repeated["loss"]), 4) == 0.4452


def test_integer_columns_give_the_same_objective(repeated):
    assert repeated["params"].dtype.kind == "i"
    columns = {
        s: repeated[c].astype(float)
        for s, c in (("N", "params"), ("D", "tokens"), ("U", "unique_tokens"))
    }
    floats = laws.get("muennighoff-2023").value(**columns)
    np.testing.assert_array_equal(repeated_losses(repeated), floats)
