"""Many draws at once: the integers of so many single ones, and the same generator after them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import riemdp
from riemdp.noise.exact import (
    AffineInvariantDraw,
    FlatDraw,
    FoldedDraw,
    IndependentDraw,
    SpaceFormDraw,
    default_grid,
)
from riemdp.noise.exact import _draw as draw_module
from riemdp.noise.exact._balls import Balls

pytest.importorskip("flint")


def vector(dim, length=0.3, seed=0):
    found = np.random.default_rng([dim, seed]).normal(size=dim)
    return (found * (length / np.linalg.norm(found))).tolist()


def one_by_one(law, footpoint, grid, count, generator):
    return [law.draw(footpoint, grid, generator=generator).integers for _ in range(count)]


def differing(law, footpoint, grid, count, seed):
    """Rows that differ, and whether the generator goes on elsewhere."""
    together, alone = np.random.default_rng(seed), np.random.default_rng(seed)
    found = law.draws(footpoint, grid, count, generator=together)
    expected = one_by_one(law, footpoint, grid, count, alone)
    assert found.shape == (count, law.coordinates)
    rows = sum(tuple(a) != b for a, b in zip(found.tolist(), expected, strict=True))
    return rows, together.bytes(8) != alone.bytes(8)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("dim", [1, 2, 3, 10, 33])
@pytest.mark.parametrize("sigma", [0.003, 0.3, 30.0])
def test_on_flat_space(kind, dim, sigma):
    law, grid = FlatDraw(kind, dim, sigma), default_grid(sigma)
    assert differing(law, vector(dim), grid, 120, dim) == (0, False)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("curvature", [1.0, -1.0, 0.3])
@pytest.mark.parametrize("dim", [2, 3, 11])
@pytest.mark.parametrize("sigma", [0.003, 0.09, 3.0])
def test_on_curved_space(kind, curvature, dim, sigma):
    if kind == "laplace" and curvature < 0 and (dim - 1) * sigma >= 1:
        return
    law, grid = SpaceFormDraw(kind, dim, curvature, sigma), default_grid(sigma)
    assert differing(law, vector(dim), grid, 100, 3) == (0, False)


@pytest.mark.parametrize(
    "law",
    [
        SpaceFormDraw("gaussian", 2, 1.0, 0.3, radius=0.5),
        SpaceFormDraw("laplace", 3, -2.0, 0.1, radius=0.2),
        SpaceFormDraw("laplace", 1, 1.0, 0.3),
        SpaceFormDraw("gaussian", 2, 1.0, 1e-9),
        SpaceFormDraw("gaussian", 2, -1.0, 6.0),
        SpaceFormDraw("laplace", 2, 1.0, 100.0),
        FlatDraw("gaussian", 465, 1.0),
        FlatDraw("laplace", 300, 1.0),
        FlatDraw("gaussian", 2, 1e-30),
        FlatDraw("laplace", 2, 1e250),
        FlatDraw("gaussian", 5000, 1.0),
    ],
    ids=repr,
)
@pytest.mark.parametrize("length", [0.0, 1e-300, 1.7])
def test_extremes(law, length):
    footpoint = vector(law.coordinates, length)
    count = 50 if law.coordinates < 5000 else 2
    assert differing(law, footpoint, default_grid(law.sigma), count, 5) == (0, False)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("grid", [-5, 0, 20, 52, 60, 75, 200])
def test_on_other_grids(kind, grid):
    """Of fine ones float64 decides nothing, and integers need more than 64 bits."""
    for law in (FlatDraw(kind, 3, 1.0), SpaceFormDraw(kind, 2, 1.0, 0.3)):
        assert differing(law, vector(law.dim), grid, 100, 7) == (0, False)


@pytest.mark.parametrize(
    ("law", "grid"),
    [
        (SpaceFormDraw("gaussian", 2, 1.0, 0.3), 3000),
        (SpaceFormDraw("laplace", 2, -1.0, 0.3), 4000),
        (SpaceFormDraw("gaussian", 5, 1.0, 0.3), 4090),
    ],
    ids=str,
)
def test_no_draw_begins_in_bits_of_another(law, grid):
    """A uniform variable takes more bits than a block holds, and no multiple of a block."""
    assert differing(law, vector(law.dim), grid, 26, 11) == (0, False)


def test_of_other_laws_draws_are_made_one_by_one():
    sphere = SpaceFormDraw("gaussian", 3, 0.25, 0.3)
    for law in (
        AffineInvariantDraw("gaussian", 2, 0.3),
        FoldedDraw(riemdp.Rotations(), sphere),
        IndependentDraw((FlatDraw("gaussian", 1, 0.5), FlatDraw("laplace", 2, 0.1))),
    ):
        assert differing(law, [0.0, 0.0, 0.25], 40, 30, 9) == (0, False)


class Shifted(FlatDraw):
    """A class of another package that draws otherwise."""

    def integers(self, bits, ladder, footpoint, grid):
        return [n + 1 for n in super().integers(bits, ladder, footpoint, grid)]


class Doubled(FlatDraw):
    """Another one, whose ends are others."""

    def ends(self, bits, ladder, footpoint):
        found = super().ends(bits, ladder, footpoint)
        return lambda: [2 * x for x in found()]


@pytest.mark.parametrize("kind", [Shifted, Doubled])
def test_of_a_class_that_draws_otherwise_draws_are_its_own(kind):
    assert differing(kind("laplace", 2, 1.0), [0.1, 0.2], 40, 40, 1) == (0, False)


@pytest.mark.parametrize("count", [0, 1, 23, 24, 25, 90])
@pytest.mark.parametrize("most", [24, 40, 8192])
def test_however_many(count, most, monkeypatch):
    monkeypatch.setattr(draw_module, "_MOST_TOGETHER", most)
    for law in (FlatDraw("gaussian", 2, 0.3), SpaceFormDraw("laplace", 2, 1.0, 0.1)):
        assert differing(law, [0.25, Fraction(1, 3)], 40, count, 2) == (0, False)
    monkeypatch.setattr(draw_module, "_MOST_BYTES", 1)
    assert differing(law, [0.25, Fraction(1, 3)], 40, count, 2) == (0, False)


@pytest.mark.parametrize("dim", [2, 5])
def test_draws_that_read_more_than_a_block(dim, monkeypatch):
    """One draw in eight does where there is room for one attempt; what follows begins later."""
    monkeypatch.setattr("riemdp.noise.exact._space_form._ATTEMPTS", 1)
    law = SpaceFormDraw("gaussian", dim, 1.0, 0.3)
    assert differing(law, vector(dim), 40, 400, 1) == (0, False)
    used, blocks = np.random.default_rng(1), np.random.default_rng(1)
    law.draws(vector(dim), 40, 400, generator=used)
    blocks.bytes(400 * 16 * law._width)
    assert used.bytes(8) != blocks.bytes(8)  # the control: some did


@pytest.mark.parametrize(
    "law", [FlatDraw("laplace", 2, 1.0), SpaceFormDraw("gaussian", 2, 1.0, 0.3)], ids=repr
)
def test_midpoints_give_other_integers(law, monkeypatch):
    """The control: on a grid that 64 bits do not decide, rounding without a radius is seen."""
    assert differing(law, [0.1, 0.2], 75, 100, 1) == (0, False)
    nearest = Balls.nearest
    monkeypatch.setattr(
        Balls, "nearest", lambda x: nearest(Balls(x.high, x.low, np.zeros_like(x.high)))
    )
    # integers of the right size, so that none is left open for that
    assert differing(law, [0.1, 0.2], 58, 300, 1)[0] > 0


def test_gaussian_midpoints_give_other_integers(monkeypatch):
    law = FlatDraw("gaussian", 2, 1.0)
    assert differing(law, [0.1, 0.2], 46, 300, 1) == (0, False)
    monkeypatch.setattr("riemdp.noise.exact._flat.SHARE", -3.2 * 2.0**-53)
    assert differing(law, [0.1, 0.2], 46, 300, 1)[0] > 0


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("space", ["R1", "R2", "R10", "R465", "S2", "H2", "S10"])
def test_few_are_drawn_one_by_one(kind, space, monkeypatch):
    dim, count = int(space[1:]), 2000 if space != "R465" else 100
    curvature = {"R": 0.0, "S": 1.0, "H": -1.0}[space[0]]
    law = SpaceFormDraw(kind, dim, curvature, 0.1) if curvature else FlatDraw(kind, dim, 0.1)
    alone, rounded = 0, type(law).rounded

    def counted(*arguments, **options):
        nonlocal alone
        alone += 1
        return rounded(*arguments, **options)

    monkeypatch.setattr(type(law), "rounded", counted)
    law.draws(vector(dim), default_grid(0.1), count, generator=np.random.default_rng(0))
    assert alone <= (24 if space[0] != "R" else 0) + count // 20


def test_integers_are_numbers_of_64_bits_where_all_fit():
    law = FlatDraw("gaussian", 2, 1.0)
    assert law.draws([0.0, 0.5], 40, 50).dtype == np.int64
    far = law.draws([0.0, 2.0**30], 40, 50)
    assert far.dtype == object
    assert all(type(n) is int for n in far.flat)
    assert law.draws([0.0, 0.5], 40, 0).shape == (0, 2)


def test_secure_draws_are_others_each_time():
    law = SpaceFormDraw("laplace", 2, 1.0, 0.1)
    first, second = (law.draws([0.0, 0.5], 40, 40) for _ in range(2))
    assert len({tuple(row) for row in (*first.tolist(), *second.tolist())}) == 80
