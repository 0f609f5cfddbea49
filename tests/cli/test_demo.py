from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from riemdp.cli import _demo
from riemdp.privacy import GDP, ApproxDP, PureDP
from riemdp.statistics import frechet_mean_sensitivity

pytest.importorskip("sklearn")
pytest.importorskip("matplotlib.figure")  # builds the font cache, which warns if that is slow


@pytest.fixture(scope="module")
def digits():
    return _demo.load_digits()


@pytest.fixture(scope="module")
def ball(digits):
    return _demo.public_ball(digits.public)


@pytest.fixture
def small(monkeypatch):
    """One draw under few budgets."""
    monkeypatch.setattr(_demo, "REPEATS", 1)
    monkeypatch.setattr(_demo, "EPSILONS", (0.5, 8.0))
    monkeypatch.setattr(_demo, "MUS", (1.0,))


def test_the_split_takes_every_other_image_of_a_digit(digits):
    from sklearn.datasets import load_digits

    data = load_digits()
    everything = _demo.covariance_descriptors(data.images / 16, _demo.ETA)
    for digit, private in enumerate(digits.private):
        own = everything[data.target == digit]
        np.testing.assert_array_equal(private, own[1::2])
        np.testing.assert_array_equal(digits.public[digits.public_labels == digit], own[::2])
    assert len(digits.public) + len(digits.all_private) == len(data.target)


def test_the_ball_is_that_of_the_public_half(digits, ball):
    inside = np.count_nonzero(ball.manifold.dist(ball.center, digits.public) <= ball.radius)
    assert inside / len(digits.public) == pytest.approx(0.95, abs=0.002)
    assert np.linalg.norm(ball.manifold.to_chart(digits.public).mean(axis=0)) == pytest.approx(
        float(ball.manifold.dist(np.eye(9), ball.center)), rel=1e-9
    )
    assert ball.radius < _demo.descriptor_radius(_demo.ETA, 1) / 5


def test_accuracy_counts_nearest_means(digits, ball):
    exact = _demo.exact_means(ball, [ball.project(points) for points in digits.private])
    assert exact.shape == (11, 9, 9)
    distances = np.array([ball.manifold.dist(mean, digits.public) for mean in exact[:-1]])
    hits = np.mean(np.argmin(distances, axis=0) == digits.public_labels)
    assert _demo.accuracy(exact[:-1], digits) == pytest.approx(hits, abs=1e-12)
    assert hits > 0.6
    # Negative control: with the classes mixed up nothing is left.
    assert _demo.accuracy(exact[[1, 2, 3, 4, 5, 6, 7, 8, 9, 0]], digits) < 0.2


def test_small_budgets_hurt_and_large_ones_do_not(digits, ball, small):
    exact = _demo.exact_means(ball, [ball.project(points) for points in digits.private])
    rows = {(row.mechanism, row.budget): row for row in _demo.measure(digits, ball, exact, seed=0)}
    assert list(rows) == _demo.settings()
    best = _demo.accuracy(exact[:-1], digits)
    for mechanism, budget in (
        ("riemannian-laplace", PureDP(0.5)),
        ("tangent-gaussian", ApproxDP(0.5, 1e-5)),
    ):
        row = rows[mechanism, budget]
        assert row.accuracy < 0.7 * best
        assert row.actual_class < 1.2 * row.expected_class
    for mechanism, budget in (
        ("riemannian-laplace", PureDP(8.0)),
        ("tangent-gaussian", ApproxDP(8.0, 1e-5)),
        ("tangent-gaussian", GDP(1.0)),
    ):
        row = rows[mechanism, budget]
        assert row.accuracy > 0.9 * best
        assert row.actual_class == pytest.approx(row.expected_class, rel=0.1)
        assert row.actual_all == pytest.approx(row.expected_all, rel=0.5)


def test_expected_distances_are_those_of_the_formula(digits, ball, small):
    exact = _demo.exact_means(ball, [ball.project(points) for points in digits.private])
    row = next(iter(_demo.measure(digits, ball, exact, seed=0)))
    sigma = [frechet_mean_sensitivity(ball, len(points)) / 0.5 for points in digits.private]
    assert row.expected_class == pytest.approx(45 * np.mean(sigma), rel=1e-6)


def test_command(riemdp, small, monkeypatch, tmp_path):
    folder = tmp_path / "new" / "demo"
    result = riemdp("demo", "--output", folder)
    assert result.exit_code == 0
    assert result.stderr == "riemdp: the noise was seeded: this release is not private\n"
    assert (folder / "demo.png").read_bytes().startswith(b"\x89PNG")
    for words in (
        "parallel composition holds",
        "separate release",
        "not private",
        "public images, which no class mean has seen",
        "riemannian-laplace",
        "ε = 8, δ = 1e-05",
        "μ = 1",
    ):
        assert words in result.stdout
    # the table alone tells two runs apart
    monkeypatch.setattr(_demo, "plot", lambda rows, exact, opened: opened.write(b"no figure"))
    again = riemdp("demo", "--output", folder)
    assert again.stdout == result.stdout
    other = riemdp("demo", "--output", folder, "--seed", 1)
    assert other.stdout != result.stdout


def test_a_link_to_nothing_is_refused_before_the_work(fails, monkeypatch, tmp_path):
    monkeypatch.setattr(_demo, "load_digits", lambda: pytest.fail("worked"))
    (tmp_path / "demo.png").symlink_to(tmp_path / "elsewhere.png")
    assert "link to nothing" in fails(2, "demo", "--output", tmp_path)


@pytest.mark.parametrize("missing", ["sklearn", "matplotlib"])
def test_says_what_to_install(fails, monkeypatch, tmp_path, missing):
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == missing else real(name)
    )
    assert "riemdp[demo]" in fails(2, "demo", "--output", tmp_path)
    assert list(tmp_path.iterdir()) == []
