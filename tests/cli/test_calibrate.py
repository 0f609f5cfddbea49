from __future__ import annotations

import re

import pytest

import riemdp as library

MATRICES = ("--manifold", "spd-log-euclidean", "--size", 3)
SPHERE = ("--manifold", "sphere", "--dim", 2)
BUDGET = ("--epsilon", 1, "--delta", 1e-6)


def field(result, name):
    assert result.exit_code == 0, result.output
    return re.search(rf"^{name} +(.*)$", result.stdout, flags=re.MULTILINE)[1]


def test_sigma_is_that_of_the_library(riemdp):
    result = riemdp(
        "calibrate", "--mechanism", "tangent-gaussian", *MATRICES, "--sensitivity", 1, *BUDGET
    )
    expected = library.TangentGaussian.calibrate(
        library.SPDLogEuclidean(3), 1.0, library.ApproxDP(1.0, 1e-6)
    )
    assert float(field(result, "noise scale")) == expected.sigma
    assert expected.sigma == pytest.approx(4.224678889, rel=1e-8)
    assert field(result, "guarantee") == "ε = 1, δ = 1e-06"
    assert field(result, "expected error") == f"{expected.expected_distance():.6g}"


@pytest.mark.parametrize("mechanism", ["riemannian-laplace", "tangent-laplace", "tangent-gaussian"])
def test_radius_and_n_give_what_a_release_uses(riemdp, mechanism):
    result = riemdp(
        "calibrate", "--mechanism", mechanism, *SPHERE, "--radius", 0.7, "--n", 100, *BUDGET
    )
    release = library.private_mean(
        [[0.0, 0.0, 1.0]] * 100,
        library.Ball(library.Sphere(2), [0.0, 0.0, 1.0], 0.7),
        library.ApproxDP(1.0, 1e-6),
        mechanism=mechanism,
    )
    assert float(field(result, "noise scale")) == release.sigma
    assert float(field(result, "sensitivity")) == release.sensitivity
    assert release.statistic.name in field(result, "mechanism")


def test_curved_tangent_mechanism_by_sensitivity(riemdp):
    result = riemdp(
        "calibrate", "--mechanism", "tangent-laplace", *SPHERE, "--sensitivity", 2, "--epsilon", 4
    )
    assert float(field(result, "noise scale")) == pytest.approx(0.5, rel=1e-12)


def test_exit_codes(riemdp, fails):
    laplace = ("calibrate", "--mechanism", "riemannian-laplace", *SPHERE, "--epsilon", 1)
    for arguments in ((), ("--radius", 1), ("--n", 5), ("--sensitivity", 1, "--n", 5)):
        assert "give --sensitivity, or --radius and --n" in fails(2, *laplace, *arguments)
    assert "sensitivity" in fails(2, *laplace, "--sensitivity", -1)
    assert "riemdp plan" in fails(2, "calibrate", "--mechanism", "auto", *SPHERE, "--epsilon", 1)
    gaussian = ("calibrate", "--mechanism", "tangent-gaussian", *SPHERE, "--sensitivity", 1)
    assert "pure" in fails(3, *gaussian, "--epsilon", 1)
    assert riemdp("calibrate", *SPHERE, "--epsilon", 1).exit_code == 2


def test_laplace_without_normaliser_exits_with_3(fails):
    message = fails(
        3, "calibrate", "--mechanism", "riemannian-laplace", "--manifold", "hyperbolic",
        "--dim", 3, "--sensitivity", 1, "--epsilon", 1,
    )  # fmt: skip
    assert "normaliser" in message


def test_gaussian_on_curved_spaces(riemdp, fails):
    gaussian = ("calibrate", "--mechanism", "riemannian-gaussian", "--sensitivity", 1)
    result = riemdp(*gaussian, *SPHERE, "--mu", 1)
    assert float(field(result, "noise scale")) == pytest.approx(0.86602276842, rel=3e-9)
    assert "GDP(mu=1)" in field(result, "privacy")
    for budget in (("--epsilon", 0.5), ("--rho", 0.1), BUDGET):
        assert riemdp(*gaussian, *SPHERE, *budget).exit_code == 0
    plane = ("--manifold", "hyperbolic", "--dim", 3)
    assert "mu tends to 1.23204" in fails(3, *gaussian, *plane, "--mu", 1)
    assert "no pure epsilon" in fails(3, *gaussian, *plane, "--epsilon", 1)


def test_an_error_that_is_not_known_is_said_to_be_so(riemdp):
    result = riemdp(
        "calibrate", "--mechanism", "riemannian-laplace", "--manifold", "spd-affine-invariant",
        "--size", 65, "--sensitivity", 1e-5, "--epsilon", 1,
    )  # fmt: skip
    assert field(result, "95 % quantile") == "not known"
    assert float(field(result, "expected error")) > 0.0


def test_a_private_number_of_records_sets_no_scale(riemdp):
    shared = (
        "calibrate", "--mechanism", "tangent-gaussian", "--manifold", "euclidean", "--dim", 6,
        "--radius", 1, "--mu", 0.5, "--adjacency", "add-remove",
    )  # fmt: skip
    result = riemdp(*shared)
    assert result.exit_code == 0
    assert "add-remove neighbours" in result.stdout
    sigma = float(re.search(r"^noise scale +(\S+)$", result.stdout, re.MULTILINE)[1])
    assert sigma == pytest.approx(2.0, rel=1e-9)  # of sums that move by the radius
    assert "counted frechet-mean, over the largest norm" in result.stdout
    assert riemdp(*shared, "--n", 100).exit_code != 0
