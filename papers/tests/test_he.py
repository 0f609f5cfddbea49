from __future__ import annotations

import numpy as np
import pytest

from riemdp_papers import _he, _he_compare
from riemdp_papers._experiment import Settings
from riemdp_papers._he import PAPER
from riemdp_papers._he_compare import GAUSSIAN, LAPLACE, NAMES, PUBLIC, PUBLISHED, Errors


@pytest.fixture
def _small(monkeypatch):
    monkeypatch.delenv("RIEMDP_DATA", raising=False)
    monkeypatch.setattr(_he, "RECORDS", 60)
    monkeypatch.setattr(_he_compare, "QUICK_DRAWS", (3, 2))
    monkeypatch.setattr(_he, "QUICK_IMAGES", (2, 2, 60))
    # leaves out the published algorithm, whose experiments have their own tests
    monkeypatch.setattr(_he_compare, "MOST", 100)


def _run(name, settings, watch=lambda share: None):
    (experiment,) = [found for found in PAPER.experiments if found.name == name]
    return experiment.run(settings, watch)


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("name", ["counter-example", "figure-2", "figure-5", "sizes"])
def test_experiments_run(name):
    seen = []
    outcome = _run(name, Settings(quick=True), seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1.0)
    assert outcome.rows
    assert bool(outcome.panels) == (name != "sizes")
    for panel in outcome.panels:
        assert all(np.all(np.isfinite(line.y)) for line in panel.lines)
    if name != "counter-example":
        assert any("NOT private" in note for note in outcome.notes)


@pytest.mark.slow
@pytest.mark.usefixtures("_small")
def test_the_rows_of_figure_5_have_the_densest_centre_first():
    outcome = _run("figure-5", Settings(quick=True))
    for row, panel in zip(outcome.rows, outcome.panels, strict=True):
        line = panel.lines[0]
        assert line.x[0] < line.x[-1]
        dense, sparse = (pair.split(" ± ")[0] for pair in row.reproduced.split(" / "))
        assert (float(dense), float(sparse)) == pytest.approx((line.y[-1], line.y[0]), rel=5e-3)
        assert line.y[-1] != pytest.approx(line.y[0], rel=0.02)


@pytest.mark.slow
@pytest.mark.usefixtures("_small")
def test_images():
    outcome = _run("figures-6-7", Settings(quick=True))
    assert len(outcome.rows) == 4
    assert all("scikit-learn digits" in row.quantity for row in outcome.rows)
    assert all(row.reproduced.count("±") == len(NAMES) for row in outcome.rows)
    assert outcome.panels[0].lines[0].x == (0.1, 0.9)


def test_the_full_images_cover_the_epsilons_of_the_paper(monkeypatch):
    monkeypatch.delenv("RIEMDP_DATA", raising=False)
    asked = []

    def compare(points, landmarks, ball, epsilon, *, draws, generator):
        asked.append((len(points), epsilon, draws, generator.random()))
        found = {name: np.full(2, epsilon) for name in NAMES}
        return Errors(found, {})

    monkeypatch.setattr(_he, "compare", compare)
    _run("figures-6-7", Settings(quick=False))
    epsilons = [round(0.1 * i, 1) for i in range(1, 10)]
    assert [values[1] for values in asked] == 2 * epsilons
    assert min(values[0] for values in asked) > 100
    assert {values[2] for values in asked} == {_he.IMAGES[:2]}
    assert len({values[3] for values in asked}) == 18  # noise of its own everywhere


@pytest.mark.parametrize("stalled", [True, False])
def test_a_note_says_where_the_conformal_law_is_missing(monkeypatch, stalled):
    monkeypatch.delenv("RIEMDP_DATA", raising=False)

    def compare(points, landmarks, ball, epsilon, *, draws, generator):
        missing = PUBLIC if stalled and epsilon == 0.9 else None
        return Errors({name: np.full(2, epsilon) for name in NAMES if name != missing}, {})

    monkeypatch.setattr(_he, "compare", compare)
    assert ("too few proposals" in _run("figures-6-7", Settings(quick=True)).notes[0]) == stalled


@pytest.fixture
def asked(monkeypatch):
    """Settings that an experiment asks for, and errors that tell them apart."""
    seen = []

    def clustered(settings, dim, clusters, spread, epsilon, *, n=1000):
        seen.append((dim, clusters, spread, epsilon, n))
        laplace = np.array([1.0, 1.0]) / epsilon
        found = dict.fromkeys(NAMES, 2.0 * laplace)
        found[LAPLACE], found[PUBLISHED] = laplace, laplace * clusters
        found[PUBLIC] = laplace * (0.5 if (clusters, epsilon) == (9, 0.9) else 1.5)
        return Errors(found, {LAPLACE: 1.0 / epsilon, GAUSSIAN: 2.0 / epsilon})

    monkeypatch.setattr(_he, "clustered", clustered)
    return seen


def test_the_full_figures_cover_the_grid_of_the_paper(asked):
    _run("figure-2", Settings(quick=False))
    dims, epsilons = range(3, 10), [round(0.1 * i, 1) for i in range(1, 10)]
    assert sorted(asked) == sorted((d, 1, s, 0.5, 1000) for s in (0.1, 0.9) for d in dims)
    asked.clear()
    outcome = _run("figures-3-4", Settings(quick=False))
    assert sorted(asked) == sorted(
        (3, m, s, e, 1000) for s in (0.1, 0.9) for m in range(1, 10) for e in epsilons
    )
    by_title = {(panel.title, panel.ylabel): panel for panel in outcome.panels}
    assert len(by_title) == len(outcome.panels) == 10
    third = by_title["Figure 3, density 0.9, d = 3, ε = 0.5", "mean distance"]
    lines = {line.label.removesuffix(" (± 1 se)"): line for line in third.lines}
    assert lines[PUBLISHED].y == pytest.approx([2.0 * m for m in range(1, 10)])
    fourth = by_title["Figure 4, density 0.1, d = 3, clusters: 9", "mean distance"]
    lines = {line.label.removesuffix(" (± 1 se)"): line for line in fourth.lines}
    assert lines[PUBLISHED].y == pytest.approx([9.0 / e for e in epsilons])
    ratios = by_title[f"{PUBLISHED}, density 0.9", "mean distance / that of Laplace"]
    assert [line.y[0] for line in ratios.lines] == pytest.approx(range(1, 10))


def test_rows_count_the_settings_in_which_a_mechanism_beats_the_laplace_law(asked):
    rows = {
        row.quantity: row
        for row in _run("figures-3-4", Settings(quick=False)).rows
        if "mean distance over" in row.quantity
    }
    assert len(rows) == 2 * (len(NAMES) - 1)
    (public,) = [row for name, row in rows.items() if name.startswith(PUBLIC) and "0.1" in name]
    assert (public.reproduced, public.remark) == ("0.5 to 1.5", "Below 1 in 1 of 81 settings.")
    (published,) = [r for q, r in rows.items() if q.startswith(PUBLISHED) and "0.9" in q]
    assert (published.reproduced, published.remark) == ("1 to 9", "Below 1 in 0 of 81 settings.")


def test_the_quick_grid_is_a_part_of_the_full_one(asked):
    _run("figures-3-4", Settings(quick=True))
    assert len(asked) == 12
    quick = set(asked)
    asked.clear()
    _run("figures-3-4", Settings(quick=False))
    assert quick < set(asked)


@pytest.fixture
def compared(monkeypatch):
    """What is compared: points, landmarks, ball and the first random number."""
    seen = []

    def compare(points, landmarks, ball, epsilon, *, draws, generator):
        seen.append((points, landmarks, ball, generator.random()))
        return Errors({name: np.full(2, epsilon) for name in NAMES}, {})

    monkeypatch.setattr(_he, "compare", compare)
    return seen


def write(folder, name, n, *colour):
    rng = np.random.default_rng(n)
    images = rng.integers(0, 256, (n, 6, 6, *colour), dtype=np.uint8)
    np.savez(folder / name, x=images, y=np.arange(n) % 3)


def test_image_figures_follow_the_data_and_their_channels(tmp_path, compared):
    settings = Settings(quick=True, data=tmp_path)
    write(tmp_path, "octmnist.npz", 9)
    write(tmp_path, "pathmnist.npz", 9, 3)  # the last one
    outcome = _run("figures-6-7", settings)
    assert "PathMNIST, in colour (the paper" in outcome.notes[0]
    assert [len(points) for points, *_ in compared] == [3, 3, 3, 3]
    for points, landmarks, ball, _ in compared:
        assert points.shape[1:] == landmarks.shape[1:] == ball.center.shape == (66,)
        assert ball.radius == pytest.approx(11**0.5 * np.log(1000))
        assert np.linalg.norm(points, axis=1).max() <= ball.radius
    compared.clear()
    write(tmp_path, "fashion_mnist_part.npz", 12)
    records = np.zeros((6, 3073), np.uint8)
    records[3:] = np.arange(3073) % 256
    records[:, 0] = [0, 0, 0, 1, 1, 1]
    (tmp_path / "test_batch.bin").write_bytes(records.tobytes())
    outcome = _run("figures-6-7", settings)
    titles = [panel.title for panel in outcome.panels[::2]]
    assert titles == [
        *(f"Figure 6, CIFAR-10, class {label}, n = 3" for label in (0, 1)),
        *(f"Figure 7, Fashion-MNIST, class {label}, n = 4" for label in (0, 1)),
    ]
    assert [points.shape for points, *_ in compared] == 4 * [(3, 66)] + 4 * [(4, 45)]
    assert len({number for *_, number in compared}) == 8  # noise of its own everywhere
    assert "CIFAR-10, in colour, Fashion-MNIST, grey (the paper" in outcome.notes[0]
    assert "radius 22.91 and 20.72;" in outcome.notes[0]
    # what Fashion-MNIST alone gives
    (tmp_path / "test_batch.bin").unlink()
    both = compared[4:]
    compared.clear()
    _run("figures-6-7", settings)
    assert [number for *_, number in compared] == [number for *_, number in both]


@pytest.mark.usefixtures("_small")
def test_a_class_in_colour_of_one_image(tmp_path, monkeypatch):
    rows = {}
    for most in (0, 100):
        monkeypatch.setattr(_he_compare, "MOST", most)
        write(tmp_path, "pathmnist.npz", 1, 3)
        rows[most] = _run("figures-6-7", Settings(quick=True, data=tmp_path)).rows
        assert len(rows[most]) == 2
    assert rows[0] == rows[100]  # no published algorithm for one record
