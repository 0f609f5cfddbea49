"""Several sites' releases as one: how much better it is, and which have nothing in common."""

from __future__ import annotations

import functools
import math
from dataclasses import replace

import numpy as np
import pytest

from riemdp import (
    GDP,
    ApproxDP,
    Ball,
    Combination,
    Euclidean,
    InvalidParameterError,
    PrivacyCurve,
    PureDP,
    Release,
    SPDLogEuclidean,
    Sphere,
    UnsupportedError,
    UnsupportedNeighboursError,
    combine,
    private_huber,
    private_mean,
    private_means,
    private_moments,
)
from riemdp.release._offer import wanted_mean
from riemdp.release._run import Options, prepared
from riemdp.statistics import AddRemove, Groups

PLANE = Ball(Euclidean(2), [0.0, 0.0], 2.0)
SPHERE = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.7)
MATRICES = Ball(SPDLogEuclidean(2), np.diag([1.0, 2.0]), 1.5)


def points(ball, n=40, seed=0, shift=0.2):
    rows = np.random.default_rng(seed).normal(shift, 0.15, (n, ball.manifold.dim))
    return ball.point(rows * min(1.0, ball.radius))


def drawing(ball, budget, mechanism, n=40, seed=1, **options):
    """Return what draws releases of the same records, each with noise of its own."""
    ready = prepared(
        wanted_mean,
        np.resize(points(ball), (n, *ball.manifold.point_shape)),
        ball,
        budget,
        Options(
            mechanism=mechanism,
            generator=np.random.default_rng(seed),
            accountant=None,
            **({"allow_unproven": False} | options),
        ),
    )
    return ready.release


def root_mean_square(ball, target, values):
    return math.sqrt(np.mean(np.square(ball.manifold.dist(target, np.stack(values)))))


def exact_mean(ball, mechanism):
    sure = GDP(1e5) if "gaussian" in mechanism else PureDP(1e5)
    return private_mean(points(ball), ball, sure, mechanism=mechanism).value


def improvement(ball, mechanism, sites, repetitions, budget):
    """Return by how much a combination is nearer to the exact mean than one release."""
    draw = drawing(ball, budget, mechanism)
    target = exact_mean(ball, mechanism)
    every = [[draw() for _ in range(sites)] for _ in range(repetitions)]
    one = root_mean_square(ball, target, [release.value for each in every for release in each])
    together = root_mean_square(ball, target, [combine(each).value for each in every])
    return one / together


CASES = [
    (PLANE, "tangent-gaussian", GDP(2.0)),
    (PLANE, "riemannian-laplace", PureDP(2.0)),
    (MATRICES, "riemannian-laplace", PureDP(2.0)),
    (SPHERE, "tangent-laplace", PureDP(2.0)),
    (SPHERE, "riemannian-laplace", PureDP(2.0)),
    (SPHERE, "wrapped-gaussian", GDP(2.0)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("ball", "mechanism", "budget"), CASES, ids=str)
def test_five_sites_are_as_good_as_the_square_root_of_five(ball, mechanism, budget):
    found = improvement(ball, mechanism, sites=5, repetitions=500, budget=budget)
    assert found == pytest.approx(math.sqrt(5.0), rel=0.05)


@pytest.mark.fast(1)
@pytest.mark.parametrize(("ball", "mechanism", "budget"), [CASES[0], CASES[2], CASES[3]], ids=str)
def test_a_few_draws_of_five_sites(ball, mechanism, budget):
    found = improvement(ball, mechanism, sites=5, repetitions=40, budget=budget)
    assert found == pytest.approx(math.sqrt(5.0), rel=0.25)


def unequal_sites(repetitions):
    sizes = (10, 20, 80)
    draws = [drawing(PLANE, GDP(2.0), "tangent-gaussian", n=n, seed=n) for n in sizes]
    start = np.zeros(2)
    errors = []
    for _ in range(repetitions):
        releases = [draw() for draw in draws]
        targets = [release_target(n) for n in sizes]
        found = combine(releases)
        optimal = np.array(found.value) - np.average(targets, axis=0, weights=found.weights)
        equal = np.mean([r.value for r in releases], axis=0) - np.mean(targets, axis=0)
        sized = np.array(combine(releases, weights="sizes").value) - np.average(
            targets, axis=0, weights=sizes
        )
        errors.append([optimal - start, equal, sized])
    return found, np.sqrt(np.mean(np.square(errors), axis=(0, 2)))


@functools.cache
def release_target(n):
    return np.resize(points(PLANE), (n, 2)).mean(axis=0)


@pytest.mark.slow
def test_unequal_sites_are_weighed_by_one_over_the_variance():
    found, (optimal, equal, sized) = unequal_sites(300)
    deviations = np.array([release.sigma for release in found.releases])
    assert found.weights == pytest.approx(deviations**-2.0 / np.sum(deviations**-2.0))
    assert found.weights == pytest.approx(np.array([1, 4, 64]) / 69)  # the noise goes as 1 / n
    best = np.sum(deviations**-2.0) ** -0.5
    assert found.noise_sd == pytest.approx(best)
    assert optimal == pytest.approx(best, rel=0.15)
    assert equal / optimal == pytest.approx(np.hypot.reduce(deviations) / 3.0 / best, rel=0.2)
    assert equal / optimal > 2.5
    by_size = np.hypot.reduce(deviations * [10, 20, 80]) / 110
    assert sized / optimal == pytest.approx(by_size / best, rel=0.2)
    assert any("sizes" in warning for warning in found.warnings)


# What it is a function of


def test_order_does_not_matter_and_documents_say_enough():
    draw = drawing(SPHERE, GDP(1.0), "tangent-gaussian")
    releases = [draw() for _ in range(3)]
    found = combine(releases)
    again = combine([Release.from_json(each.to_json()) for each in releases[::-1]])
    np.testing.assert_allclose(again.value, found.value, atol=1e-15)
    assert again.weights == pytest.approx(found.weights[::-1])
    assert sum(found.weights) == pytest.approx(1.0)
    assert isinstance(found, Combination)
    with pytest.raises(ValueError, match="read-only"):
        found.value[0] = 1.0
    assert found == combine(releases)
    assert hash(found) == hash(combine(releases))
    assert (found.private, found.proven, found.adjacency) == (False, True, "replace-one")
    assert "seeded" in " ".join(found.warnings)
    assert combine(private_means({"a": points(PLANE), "b": points(PLANE, seed=3)},
                                 PLANE, GDP(1.0)).values()).private  # fmt: skip


def test_moments_are_combined_too():
    releases = [private_moments(points(PLANE, 400, k), PLANE, GDP(1.0), second="matrix")
                for k in range(4)]  # fmt: skip
    found = combine(releases)
    matrices = [each.value.second_moment for each in releases]
    np.testing.assert_allclose(found.value.second_moment, np.mean(matrices, axis=0), atol=1e-12)
    assert found.value.mean_sd == pytest.approx(releases[0].value.mean_sd / 2.0)


def test_private_numbers_of_records():
    releases = [private_mean(points(PLANE, n, n), PLANE, GDP(1.0), adjacency=AddRemove())
                for n in (300, 600)]  # fmt: skip
    found = combine(releases)
    counts = np.array([each.count for each in releases])
    # but for the noise of the numbers, which counts little so near the centre
    np.testing.assert_allclose(found.weights, counts**2 / np.sum(counts**2), rtol=1e-3)
    one = math.hypot(1.0, releases[0].statistic.weight)  # longest row, of which sums are shares
    sums = [one * np.array(each.rounded[:2]) * 2.0**-each.grid for each in releases]
    free = [total / count for total, count in zip(sums, counts, strict=True)]
    np.testing.assert_allclose(found.value, np.average(free, axis=0, weights=found.weights))
    pooled = combine(releases, weights="sizes")
    np.testing.assert_allclose(pooled.value, np.sum(sums, axis=0) / np.sum(counts))
    assert found.guarantee == GDP(1.0, adjacency="add-remove")
    assert combine(releases, disjoint=False).guarantee == GDP(
        math.sqrt(2.0), adjacency="add-remove"
    )


# What it guarantees


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
def test_private_weights_are_what_sums_are_divided_by(adjacency):
    """And not the number of records: sites of light records are as noisy as those of few."""
    options = {"private_weights": True, "adjacency": adjacency}
    sites = [
        private_mean(points(PLANE, 4000, k, shift), PLANE, GDP(1.0), weights=weights, **options)
        for k, (shift, weights) in enumerate(((0.8, np.full(4000, 0.1)), (-0.4, np.ones(4000))))
    ]
    expected = []
    for each, total in zip(sites, (400.0, 4000.0), strict=True):
        longest, weight = math.hypot(1.0, each.statistic.weight), each.statistic.weight
        mean, number = longest, np.linalg.norm(each.value) * longest / weight
        expected.append(each.sigma / total * math.sqrt((2.0 * mean**2 + number**2) / 2.0))
    together = sum(each**-2 for each in expected) ** -0.5
    for weights, found in (("noise", 1.0 / 101.0), ("sizes", 1.0 / 11.0)):
        combined = combine(sites, weights=weights)
        assert combined.weights[0] == pytest.approx(found, rel=0.15)
        values = np.array([site.value for site in sites])
        wanted = combined.weights @ values
        np.testing.assert_allclose(combined.value, wanted, atol=0.01)
        if weights == "noise":
            assert combined.noise_sd == pytest.approx(together, rel=0.1)


def site(budget, seed=0, ball=PLANE, **options):
    return private_mean(points(ball, seed=seed), ball, budget, **options)


def test_the_guarantee_is_the_weakest_of_disjoint_sites():
    releases = [site(GDP(mu), seed) for seed, mu in enumerate((0.5, 1.0, 0.25))]
    found = combine(releases)
    assert found.guarantee == GDP(1.0)
    assert "no person is in two" in found.caveat
    assert combine(releases, disjoint=False).guarantee.mu == pytest.approx(math.sqrt(1.3125))
    assert "composed" in combine(releases, disjoint=False).caveat
    assert combine(releases, disjoint=False).value == pytest.approx(found.value)


def test_guarantees_of_several_definitions_compose_but_have_no_weakest():
    releases = [site(GDP(0.5)), site(ApproxDP(0.5, 1e-6), 1)]
    with pytest.raises(InvalidParameterError, match="follows from all others"):
        combine(releases)
    assert isinstance(combine(releases, disjoint=False).guarantee, PrivacyCurve)


def test_groups_of_records_may_be_at_several_sites():
    releases = [site(GDP(1.0), k, adjacency=Groups(2)) for k in range(2)]
    with pytest.raises(UnsupportedNeighboursError, match="several sites"):
        combine(releases)
    assert combine(releases, disjoint=False).guarantee.mu == pytest.approx(math.sqrt(2.0))


# Which releases have nothing in common


def test_what_differs_is_named():
    first = site(GDP(1.0), mechanism="tangent-gaussian")
    for other, named in (
        (site(GDP(1.0), ball=Ball(Euclidean(2), [0.0, 0.0], 3.0)), "another ball"),
        (site(GDP(1.0), ball=Ball(Euclidean(3), np.zeros(3), 2.0)), "another space"),
        (private_moments(points(PLANE), PLANE, GDP(1.0)), "another statistic .*the moments"),
    ):
        with pytest.raises(InvalidParameterError, match=named):
            combine([first, other])
    with pytest.raises(UnsupportedNeighboursError, match="add-remove data sets"):
        combine([first, site(GDP(1.0), adjacency=AddRemove())])
    curved = [site(GDP(1.0), k, SPHERE, mechanism=name)
              for k, name in enumerate(("tangent-gaussian", "wrapped-gaussian"))]  # fmt: skip
    with pytest.raises(InvalidParameterError, match="frechet-mean, and the tangent-mean"):
        combine(curved)


def test_one_draw_counts_once():
    release = site(GDP(1.0))
    for same in (release, Release.from_json(release.to_json()), replace(release, n=39)):
        with pytest.raises(InvalidParameterError, match="releases 0 and 1 are the same draw"):
            combine([release, same])
    assert combine([release]).weights == (1.0,)


def test_what_cannot_be_averaged_is_refused():
    ball = Ball(Euclidean(3), np.zeros(3), 2.0)
    release = site(GDP(1.0), ball=ball)
    with pytest.raises(InvalidParameterError, match="release 1 was shrunk"):
        combine([release, site(GDP(1.0), 1, ball).shrink()])
    steps = [private_huber(points(ball, 200, k), ball, GDP(1.0)) for k in range(2)]
    with pytest.raises(UnsupportedError, match="several queries"):
        combine(steps)
    for wrong in (release, None, [], [release, 1]):
        with pytest.raises(InvalidParameterError):
            combine(wrong)
    with pytest.raises(InvalidParameterError, match="weights"):
        combine([release], weights="equal")
    with pytest.raises(InvalidParameterError, match="disjoint"):
        combine([release], disjoint=1)
    # about half of so small a budget's counts are under one
    generator = np.random.default_rng(0)
    empty = [
        private_mean(np.empty((0, 3)), ball, GDP(0.001), adjacency=AddRemove(), generator=generator)
        for _ in range(12)
    ]
    assert min(release.count for release in empty) < 1.0
    with pytest.raises(UnsupportedError, match="how much noise"):
        combine(empty)


def test_documents_and_mappings_are_told_the_way_in():
    one = private_mean(np.zeros((4, 2)), Ball(Euclidean(2), [0.0, 0.0], 1.0), GDP(1.0))
    with pytest.raises(InvalidParameterError, match="from_json"):
        combine([one.to_json()])
    with pytest.raises(InvalidParameterError, match="give its values"):
        combine({"here": one})


def test_all_of_a_combination_has_to_be_proved():
    one, two = (drawing(PLANE, GDP(1.0), "tangent-gaussian", seed=s)() for s in (1, 2))
    doubtful = replace(two, stated_proofs=(*two.proofs.items(), ("something", None)))
    assert combine([one, two]).proven
    for releases in ([one, doubtful], [doubtful, one]):
        assert not combine(releases).proven


def test_one_seeded_release_makes_a_combination_that_is_not_private():
    seeded = drawing(PLANE, GDP(1.0), "tangent-gaussian")()
    secure = private_mean(points(PLANE, seed=3), PLANE, GDP(1.0), mechanism="tangent-gaussian")
    assert combine([secure]).private
    for releases in ([seeded, secure], [secure, seeded]):
        assert not combine(releases).private


def test_its_text_says_what_it_is_and_what_it_assumes():
    points = np.zeros((50, 2))
    sites = [
        private_mean(points[:n], PLANE, GDP(1.0 / 3.0), mechanism="tangent-gaussian")
        for n in (20, 30)
    ]
    both = combine(sites)
    lines = str(both).splitlines()
    assert lines[0] == "Combination of 2 private frechet-mean releases"
    assert "guarantee  GDP(mu=0.3333), replace-one" in str(both)
    assert ", ".join(f"{weight:.4g}" for weight in both.weights) in str(both)
    assert f"{both.noise_sd:.4g} in each coordinate" in str(both)
    assert "no person is in two" in " ".join(str(both).split())
    assert "NO" not in str(both)
    assert "Combination of 2" in both._repr_html_()
