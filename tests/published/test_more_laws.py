"""Published numbers of the laws beyond Chinchilla's."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

import laws
from laws import frontier

SHARED = Path(__file__).parents[3] / "shared" / "data" / "runs"
needs_runs = pytest.mark.skipif(not SHARED.exists(), reason="needs ../shared/data/runs")


@pytest.mark.parametrize(
    ("law", "params", "experts", "effective"),
    [
        ("clark-2022-s-base-size", 370e6, 64, 1.369e9),  # the lecture: 1.3B
        ("clark-2022-s-base-size", 5e6, 128, 5.18e7),  # the paper: about 55M
    ],
)
def test_clark_effective_parameters(law, params, experts, effective):
    found = float(laws.get(law).value(N=params, experts=experts))
    assert found == pytest.approx(effective, rel=1e-3)


@pytest.mark.parametrize("router", ["s-base", "rl-r", "hash"])
def test_one_expert_is_a_dense_model(router):
    size = laws.get(f"clark-2022-{router}-size")
    for params in (5e6, 370e6, 1e9):
        assert float(size.value(N=params, experts=1)) == pytest.approx(params, rel=1e-12)


@pytest.mark.parametrize(
    ("router", "cut_off"), [("s-base", 1.00e12), ("rl-r", 3.2e10), ("hash", 2.2e11)]
)
def test_clark_cut_off_of_the_rounded_constants(router, cut_off):
    c = laws.get(f"clark-2022-{router}").constants
    assert 10 ** (-c["b"].value / c["c"].value) == pytest.approx(cut_off, rel=0.03)


def test_routing_law_is_consistent_with_its_effective_size():
    loss, size = laws.get("clark-2022-s-base"), laws.get("clark-2022-s-base-size")
    dense = float(size.value(N=370e6, experts=64))
    routed = float(loss.value(N=370e6, experts=64))
    assert float(loss.value(N=dense, experts=1)) == pytest.approx(routed, rel=1e-12)


@pytest.mark.parametrize("corpus_law", ["gadre-2024-rpj"])
@pytest.mark.parametrize(
    ("params", "multiple", "within"), [(1439795200, 640, 0.007103), (6889410560, 20, 0.007320)]
)
@needs_runs
def test_gadre_over_trained_losses_are_predicted_within_the_published_error(
    corpus_law, params, multiple, within
):
    with (SHARED / "gadre_overtraining.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    (row,) = [
        r
        for r in rows
        if r["dataset"] == "rpj"
        and int(r["params"]) == params
        and abs(float(r["tokens"]) / params / multiple - 1) < 0.02
    ]
    predicted = float(laws.get(corpus_law).value(N=float(params), D=float(row["tokens"])))
    assert abs(predicted / float(row["loss"]) - 1) <= within


def test_gadre_form_is_the_additive_form_with_equal_exponents():
    law = laws.get("gadre-2024-rpj")
    c = {name: k.value for name, k in law.constants.items()}
    a, b = c["a"] * 6 ** -c["eta"], c["b"] * 6 ** -c["eta"]
    for n, d in ((1e8, 1e10), (1e9, 1e12)):
        additive = c["E"] + a * n ** (-2 * c["eta"]) + b * d ** (-2 * c["eta"])
        assert float(law.value(N=n, D=d)) == pytest.approx(additive, rel=1e-12)
    best = (c["b"] / c["a"]) ** (1 / (2 * c["eta"]))
    assert law.optimum(1e21).tokens_per_param == pytest.approx(best, rel=1e-9)


def test_llama3_tokens_at_3_8e25():
    assert float(laws.get("llama3-2024-tokens").value(C=3.8e25)) == pytest.approx(
        1.655e13, rel=0.02
    )
    two_digits = float(laws.get("llama3-2024-tokens-text").value(C=3.8e25))
    assert two_digits == pytest.approx(1.05e13, rel=0.01)


def test_minicpm_is_about_192_tokens_per_parameter():
    ratios = [1 / float(laws.get("minicpm-2024").value(C=c)) for c in (1e20, 1e21, 1e22)]
    assert min(ratios) < 192 < max(ratios)


def test_deepseek_scale_and_tokens_multiply_to_compute():
    scale, tokens = laws.get("deepseek-2024-model-scale"), laws.get("deepseek-2024-tokens")
    for compute in (1e20, 1e24):
        product = float(scale.value(C=compute)) * float(tokens.value(C=compute))
        assert product == pytest.approx(compute, rel=2e-3)


def test_jones_ten_times_the_training_saves_fifteen_times_the_test():
    trade = laws.get("jones-2021")
    saved = float(trade.value(C=1.0)) / float(trade.value(C=10.0))
    assert saved == pytest.approx(15.8, rel=0.01)


def test_abnar_inactive_share_is_converted():
    law = laws.get("abnar-2025")
    inactive, total, d = 0.9, 1e10, 1e11
    paper = (
        16612.50 * total**-0.5962
        + 5455.67 * d**-0.3954
        + 0.4598 * (1 - inactive) ** 0.1666
        + 17.26 * (1 - inactive) ** -0.1603 * total**-0.1595
        + 0.94
    )
    ours = float(law.value(N=total * (1 - inactive), D=d, S=1 / (1 - inactive)))
    assert ours == pytest.approx(paper, rel=1e-12)


def test_krajewski_finer_experts_help_and_dense_stands_beside():
    moe, dense = laws.get("krajewski-2024-moe"), laws.get("krajewski-2024-dense")
    losses = [float(moe.value(N=1e9, D=1e11, G=g)) for g in (1.0, 4.0, 16.0)]
    assert losses == sorted(losses, reverse=True)
    # 1e9 active parameters are 64e9 in all at the paper's expansion rate.
    assert float(moe.value(N=64e9, D=1e11, G=1.0)) < float(dense.value(N=1e9, D=1e11))


def test_kaplan_compute_constant_is_in_pf_days():
    assert laws.get("kaplan-2020-compute").constants["X_c"].value == 3.1e8 * 8.64e19


def test_sardana_sets_value_extra_tokens_less_the_further_their_runs_go():
    gains = []
    for name in ("sardana-2024-100", "sardana-2024-250", "sardana-2024-500", "sardana-2024"):
        law = laws.get(name)
        near, far = (float(law.value(N=1e9, D=x * 1e9)) for x in (20, 2000))
        gains.append(near - far)
    assert gains[0] == max(gains)
    assert gains[-1] == min(gains)


@pytest.mark.parametrize(
    ("factor", "overhead"), [(0.75, 0.0285), (0.5, 0.208), (0.3, 1.055), (0.25, 1.886)]
)
def test_compute_overhead_of_smaller_models(factor, overhead):
    found = laws.get("hoffmann-2022").compute_overhead(factor, 5.76e23)
    assert found == pytest.approx(overhead, rel=5e-3)


def test_there_is_a_smallest_model_that_reaches_a_loss():
    assert laws.get("hoffmann-2022").compute_overhead(0.01, 5.76e23) is None


def test_replication_draws_reproduce_the_published_uncertainty():
    law = laws.get("besiroglu-2024")
    drawn = law.draw(20_000, 1)
    for name, published, tolerance in (
        ("E", 0.026, 0.15),
        ("A", 124.5, 0.15),
        ("B", 1293, 0.3),
        ("alpha", 0.015, 0.1),
        ("beta", 0.021, 0.1),
    ):
        assert drawn[name].std() == pytest.approx(published, rel=tolerance), name
    log_a = np.log(drawn["A"])
    assert np.corrcoef(log_a, drawn["alpha"])[0, 1] == pytest.approx(0.999, abs=1e-3)
    share = drawn["beta"] / (drawn["alpha"] + drawn["beta"])
    assert share.std() == pytest.approx(0.020, rel=0.1)
    low, high = np.percentile(share, [10, 90])
    assert high - low == pytest.approx(0.051, rel=0.1)


def test_replication_interval_of_tokens_per_parameter_at_large_compute():
    # Published: 80 % interval about 4 to 40 at 1e26 FLOP and above.
    ratios = frontier.drawn_tokens_per_param(laws.get("besiroglu-2024"), 1e28, 20_000, 0)
    low, high = np.percentile(ratios, [10, 90])
    assert 3.5 < low < 7
    assert 30 < high < 50


def test_independent_draws_would_be_far_too_wide():
    # Why the joint covariance is carried: ln A and alpha drawn apart lose all meaning.
    law = laws.get("besiroglu-2024")
    joint = frontier.drawn_tokens_per_param(law, 1e26, 5000, 0)
    generator = np.random.default_rng(0)
    spread = np.sqrt(np.diag(law.covariance.matrix))
    centre = [math.log(482.01), math.log(2085.43), math.log(1.8172), 0.3478, 0.3658]
    a, b, _, alpha, beta = (centre + spread * generator.standard_normal((5000, 5))).T
    share = beta / (alpha + beta)
    params = (a + np.log(alpha) - b - np.log(beta)) / (alpha + beta) + share * math.log(1e26 / 6)
    apart = math.log(1e26 / 6) - 2 * params
    assert apart.std() > 3 * np.log(joint).std()


@needs_runs
def test_covariance_is_that_of_a_bootstrap_of_the_rows():
    """A small bootstrap, written again, agrees with the stored matrix."""
    from scipy.optimize import minimize

    with (SHARED / "chinchilla_svg.csv").open() as stream:
        rows = [r for r in csv.DictReader(stream) if r["outlier"] == "0"]
    n, d, y = (np.log([float(r[k]) for r in rows]) for k in ("params", "tokens", "loss"))
    start = np.array([6.169, 7.670, 0.5973, 0.34731, 0.36717])
    centre = np.array([n.mean(), d.mean()])

    def objective(q, weight):
        a, b = q[0] + q[3] * centre[0], q[1] + q[4] * centre[1]
        terms = np.stack([a - q[3] * n, b - q[4] * d, np.full_like(n, q[2])])
        top = terms.max(0)
        shares = np.exp(terms - top)
        total = shares.sum(0)
        shares = shares / total
        r = top + np.log(total) - y
        huber = np.where(abs(r) <= 1e-3, r * r / 2, 1e-3 * (abs(r) - 5e-4))
        g = weight * np.clip(r, -1e-3, 1e-3) * shares
        slopes = [g[0].sum(), g[1].sum(), g[2].sum()]
        slopes += [(g[0] * (centre[0] - n)).sum(), (g[1] * (centre[1] - d)).sum()]
        return 1e6 * (weight * huber).sum(), 1e6 * np.array(slopes)

    q0 = start.copy()
    q0[0] -= start[3] * centre[0]
    q0[1] -= start[4] * centre[1]
    generator = np.random.default_rng(5)
    fits = []
    for _ in range(300):
        weight = np.bincount(generator.integers(0, len(n), len(n)), minlength=len(n)).astype(float)
        fits.append(minimize(objective, q0, (weight,), jac=True, method="BFGS").x)
    spread = np.array(fits)[:, 2:].std(0)
    stored = np.sqrt(np.diag(laws.get("besiroglu-2024").covariance.matrix))[2:]
    assert spread == pytest.approx(stored, rel=0.2)


def surface(n, d):
    """Chinchilla's printed law, noise-free."""
    return 1.69 + 406.4 * n**-0.34 + 410.7 * d**-0.28


@pytest.mark.parametrize(("wide", "share"), [(4, 0.987), (16, 0.949), (64, 0.889)])
def test_isoflop_parabolas_are_biased_even_without_noise(wide, share):
    """Case B105: six budgets, 15 sizes each; tokens extrapolated to 1e25 FLOP fall short."""
    law = laws.get("hoffmann-2022")
    budgets = np.geomspace(1e18, 1e21, 6)
    optima = []
    for compute in budgets:
        centre = law.optimum(compute).params
        log_n = np.log(centre) + np.linspace(-math.log(wide), math.log(wide), 15)
        n = np.exp(log_n)
        parabola = np.polyfit(log_n, surface(n, compute / 6 / n), 2)
        optima.append(compute / 6 / math.exp(-parabola[1] / (2 * parabola[0])))
    slope, intercept = np.polyfit(np.log(budgets), np.log(optima), 1)
    assert slope == pytest.approx(0.54839, abs=1e-5)
    forecast = math.exp(intercept + slope * math.log(1e25))
    assert forecast / law.optimum(1e25).tokens == pytest.approx(share, abs=6e-4)


def test_exponent_of_the_optimal_size_is_closed_form():
    """Cases B81, B11: a = beta/(alpha + beta), and the printed constants do not give 20."""
    law = laws.get("hoffmann-2022")
    sizes = [law.optimum(c).params for c in (1e20, 1e24)]
    assert math.log(sizes[1] / sizes[0]) / math.log(1e4) == pytest.approx(0.45161, abs=5e-6)
    assert law.optimum(5.76e23).tokens_per_param == pytest.approx(92.647, abs=5e-4)


def test_porian_walks_from_kaplan_to_chinchilla():
    names = [n for n in laws.names() if n.startswith("porian-2024")]
    exponents = [laws.get(n).constants["a"].value for n in names]
    assert exponents == sorted(exponents, reverse=True)
    assert exponents[0] > 0.73
    assert exponents[-1] == pytest.approx(0.50, abs=0.01)


def test_bits_per_byte_make_tokenizers_comparable():
    """Case B106: 2.0 nat per token at 4.0 bytes per token is 0.7213 bits per byte."""
    from laws.interpret import evaluate
    from laws.vocabulary import bytes_per_token

    form = laws.FORMS["bits-per-byte"]
    (bits,) = evaluate([form.expression], {form.variables[0]: 2.0, bytes_per_token: 4.0})
    assert bits == pytest.approx(0.7213, abs=5e-5)


def test_direct_accuracy_is_linear_in_double_logarithm():
    from laws.interpret import evaluate

    form = laws.FORMS["accuracy-of-compute"]
    values = dict(zip(form.constants, (3.0, 0.2, 1e20), strict=True))
    logs = [
        math.log(-math.log(evaluate([form.expression], {**values, form.variables[0]: c})[0]))
        for c in (1e20, 1e22, 1e24)
    ]
    assert logs[1] - logs[0] == pytest.approx(-0.2 * math.log(100), rel=1e-12)
    assert logs[2] - logs[1] == pytest.approx(logs[1] - logs[0], rel=1e-9)
