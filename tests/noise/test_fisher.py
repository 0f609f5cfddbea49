import math

import mpmath as mp
import numpy as np
import pytest

from riemdp import Euclidean, Hyperbolic, Sphere
from riemdp.noise import IsotropicLaw, RadialLaw, fisher_information
from riemdp.noise._quadrature import gauss_legendre

PINNED = {
    (0.0, 2): 11.1111,
    (0.0, 5): 11.1111,
    (1.0, 2): 10.7798,
    (1.0, 3): 10.4644,
    (1.0, 5): 9.8782,
    (-1.0, 2): 11.4464,
    (-1.0, 3): 11.7978,
    (-1.0, 5): 12.5515,
}


@pytest.mark.parametrize(("space", "value"), PINNED.items())
def test_gaussian_reference_values(space, value):
    curvature, dim = space
    law = RadialLaw("gaussian", dim, curvature, 0.3)
    assert fisher_information(law) == pytest.approx(value, abs=5e-5)


@pytest.mark.parametrize("manifold", [Euclidean(4), Sphere(4), Sphere(4, 0.3), Hyperbolic(4)])
def test_laplace_has_one_formula_on_every_space(manifold):
    law = IsotropicLaw("laplace", manifold, 0.25).radial
    assert fisher_information(law) == pytest.approx(4.0, rel=1e-15)


@pytest.mark.fast(1)
@pytest.mark.parametrize("curvature", [1.0, -1.0])
@pytest.mark.parametrize(("dim", "sigma"), [(2, 0.05), (2, 1.0), (3, 4.0), (9, 0.7)])
def test_gaussian_against_thirty_digits(curvature, dim, sigma):
    s = mp.sin if curvature > 0 else mp.sinh
    end = mp.pi if curvature > 0 else mp.mpf(dim * sigma**2 + 15 * sigma)

    def integral(order):
        def integrand(r):
            return r**order * s(r) ** (dim - 1) * mp.exp(-(r**2) / (2 * mp.mpf(sigma) ** 2))

        return mp.quad(integrand, mp.linspace(0, end, 40))

    with mp.workdps(30):
        expected = integral(2) / integral(0) / dim / mp.mpf(sigma) ** 4
    law = RadialLaw("gaussian", dim, curvature, sigma)
    assert fisher_information(law) == pytest.approx(float(expected), rel=5e-13)


def _polar_grid(manifold, end):
    """Points about a centre of S^2 or H^2 with their volumes, and the centre moved by a step."""
    curved = 1.0 if isinstance(manifold, Sphere) else -1.0
    points, weights = gauss_legendre(400)
    r, wr = 0.5 * end * (1.0 + points), 0.5 * end * weights
    angles = (np.arange(256) + 0.5) * (2.0 * math.pi / 256)
    cos, sin = (np.cos, np.sin) if curved > 0 else (np.cosh, np.sinh)
    r, angles = np.meshgrid(r, angles, indexing="ij")
    grid = np.stack([cos(r), sin(r) * np.cos(angles), sin(r) * np.sin(angles)], axis=-1)
    volume = wr[:, None] * sin(r) * (2.0 * math.pi / 256)

    def moved(step):
        return np.array([cos(step), sin(step), 0.0])

    return grid, volume, moved


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize("sigma", [0.3, 0.6])
@pytest.mark.parametrize("manifold", [Sphere(2), Hyperbolic(2)], ids=str)
def test_information_is_the_mean_square_of_the_numerical_score(manifold, sigma, kind):
    """The density alone: its log differentiated in the footpoint, squared and integrated."""
    law = IsotropicLaw(kind, manifold, sigma)
    end = math.pi if isinstance(manifold, Sphere) else (9.0 if sigma < 0.5 else 16.0)
    grid, volume, moved = _polar_grid(manifold, end)
    step = 1e-4
    density = np.exp(law.log_density(grid, moved(0.0)))
    assert np.sum(volume * density) == pytest.approx(1.0, abs=2e-3)
    forward, backward = law.log_density(grid, moved(step)), law.log_density(grid, moved(-step))
    score = (forward - backward) / (2.0 * step)
    measured = np.sum(volume * density * score**2)
    expected = fisher_information(law.radial)
    assert measured == pytest.approx(expected, rel=2e-3)
    assert measured != pytest.approx(0.5 * expected, rel=0.1)  # half the information is wrong
    # the Hellinger distance of near footpoints says the same: 8 (1 - BC) / step^2
    root = np.sqrt(density) - np.exp(0.5 * law.log_density(grid, moved(0.05)))
    assert np.sum(volume * root**2) * 4.0 / 0.05**2 == pytest.approx(expected, rel=2e-2)


def test_the_cut_locus_adds_nothing_to_the_square_but_much_to_the_curvature():
    """On a circle the mean of -(log p)'' is 1/sigma^2 off the antipode, where it has an atom."""
    law = IsotropicLaw("gaussian", Sphere(1), 2.0).radial
    angles = np.linspace(-math.pi, math.pi, 200_001)[:-1]

    def root_density(center):
        gap = np.abs(np.mod(angles - center + math.pi, 2.0 * math.pi) - math.pi)
        return np.exp(0.5 * law.log_pdf(gap)) * math.sqrt(0.5)

    spacing = 2.0 * math.pi / angles.size
    step = 100 * spacing
    change = (root_density(step) - root_density(0.0)) / step
    measured = 4.0 * np.sum(change**2) * spacing
    assert fisher_information(law) == pytest.approx(measured, rel=2e-3)
    assert fisher_information(law) < 0.7 / law.sigma**2


def test_information_falls_in_sigma_and_to_a_floor_on_negative_curvature():
    for curvature in (1.0, 0.0, -1.0):
        values = [
            fisher_information(RadialLaw("gaussian", 3, curvature, sigma))
            for sigma in np.geomspace(0.01, 1e3, 20)
        ]
        assert np.all(np.diff(values) < 0.0)
        floor = 4.0 / 3.0 if curvature < 0.0 else 0.0
        assert floor < values[-1] < floor + 1e-5


def test_units():
    unit = fisher_information(RadialLaw("gaussian", 3, -1.0, 0.8))
    assert fisher_information(RadialLaw("gaussian", 3, -4.0, 0.4)) == pytest.approx(4.0 * unit)


def test_a_law_cut_short_has_infinite_information():
    assert fisher_information(RadialLaw("laplace", 2, 0.0, 1.0, 3.0)) == math.inf
    assert fisher_information(RadialLaw("gaussian", 3, 1.0, 1.0, 3.0)) == math.inf
    assert fisher_information(RadialLaw("gaussian", 3, 1.0, 1.0, math.pi)) < 1.0
    assert fisher_information(RadialLaw("laplace", 1, 0.0, 1.0, 3.0)) == 1.0
