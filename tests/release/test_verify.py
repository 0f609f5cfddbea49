import contextlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from riemdp import (
    GDP,
    ApproxDP,
    Ball,
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
    Power,
    PrivateMeans,
    Product,
    ProductBall,
    PureDP,
    Release,
    RiemdpError,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    private_mean,
    private_means,
    private_median,
    private_moments,
    private_statistic,
    verify,
)
from riemdp.mechanisms import RiemannianGaussian, RiemannianLaplace, TangentLaplace
from riemdp.privacy import Anchor
from riemdp.statistics import FrechetMean, GeometricMedian, PointStatistic, TangentMean, outline


def release_of(manifold=None, budget=None, mechanism=None, **options):
    options["mechanism"] = mechanism or ("riemannian-laplace" if manifold is None else "auto")
    manifold = manifold or Sphere(2)
    ball = Ball(manifold, manifold.origin, 0.7)
    points = np.broadcast_to(manifold.origin, (40, *manifold.point_shape))
    return private_mean(points, ball, budget or PureDP(1.0), **options)


@pytest.mark.fast(2)
@pytest.mark.parametrize(
    ("manifold", "budget", "options"),
    [
        (None, None, {}),
        (None, None, {"mechanism": "tangent-laplace"}),
        (SPDLogEuclidean(2), ApproxDP(1.0, 1e-6), {}),
        (SPDLogEuclidean(2), GDP(1.0), {"mechanism": "tangent-gaussian"}),
        (SPDAffineInvariant(3), None, {}),
        (SPDAffineInvariant(2), ApproxDP(1.0, 1e-6), {"mechanism": "riemannian-gaussian"}),
        (SPDAffineInvariant(3), GDP(1.0), {}),
    ],
)
def test_true_releases_pass(manifold, budget, options):
    verification = verify(release_of(manifold, budget, **options))
    assert verification.passed
    assert verification
    assert {check.name for check in verification.checks} >= {
        "sensitivity",
        "guarantee",
        "arithmetic",
    }


def failed(release):
    return {check.name for check in verify(release).checks if not check.passed}


def test_half_the_noise_fails():
    release = release_of()
    weak = RiemannianLaplace(release.ball.manifold, release.sigma / 2)
    assert not verify(replace(release, mechanism=weak))
    assert failed(replace(release, mechanism=weak)) == {"guarantee", "arithmetic"}  # by its grid
    barely = RiemannianLaplace(release.ball.manifold, release.sigma * (1 - 1e-8))
    assert failed(replace(release, mechanism=barely)) == {"guarantee"}


def test_half_the_sensitivity_fails():
    release = release_of()
    assert failed(replace(release, sensitivity=release.sensitivity / 2)) == {"sensitivity"}


def test_a_larger_sensitivity_fails_too():
    release = release_of()
    for factor in (1 + 1e-6, 2.0, np.nan):
        changed = replace(release, sensitivity=release.sensitivity * factor)
        assert failed(changed) == {"sensitivity"}


def test_a_mechanism_of_another_ball_fails():
    other = Ball(Sphere(2), [0, 1, 0], 0.7)
    release = release_of()
    elsewhere = RiemannianLaplace(Sphere(2, 1.5), release.sigma)
    assert "mechanism" in failed(replace(release, mechanism=elsewhere))
    tangent = release_of(mechanism="tangent-laplace")
    moved = TangentLaplace(Sphere(2), tangent.sigma, base=other.center)
    assert failed(replace(tangent, mechanism=moved)) == {"mechanism", "arithmetic", "proof"}


@pytest.mark.parametrize("other", ["x", None, {}, "{}"])
def test_what_is_no_release_is_refused(other):
    with pytest.raises(InvalidParameterError, match=r"riemdp\.Release"):
        verify(other)


def test_a_larger_claim_fails():
    assert failed(replace(release_of(), guarantee=PureDP(0.999))) == {"guarantee"}


def test_fewer_records_fail():
    assert "guarantee" in failed(replace(release_of(), n=20))
    assert failed(replace(release_of(), n=0)) == {"document"}


def test_other_tampering_fails():
    release = release_of()
    assert failed(replace(release, value=-release.value)) == {"arithmetic"}
    tangent = replace(release, statistic=TangentMean())
    assert {"sensitivity", "guarantee", "proof"} <= failed(tangent)
    assert failed(replace(release, stated_proofs=(("Sphere", None),))) == {"proof"}
    assert failed(replace(release, tol=0.0)) == {"sensitivity", "guarantee"}


def test_seeded_releases_verify_but_say_not_private():
    release = release_of(generator=np.random.default_rng(0))
    verification = verify(release)
    assert verification.passed
    assert any("NOT private" in check.detail for check in verification.checks)


@pytest.mark.parametrize(("digits", "passes"), [(2e-14, True), (1e-11, False)])
def test_the_last_digits_of_another_processor_are_forgiven(digits, passes):
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    points = np.random.default_rng(0).uniform(-0.5, 0.5, (50, 2))
    release = private_mean(points, ball, GDP(1.0), mechanism="riemannian-gaussian")
    mechanism = RiemannianGaussian(Euclidean(2), release.sigma * (1.0 - digits))
    (check,) = (
        check
        for check in verify(replace(release, mechanism=mechanism)).checks
        if check.name == "guarantee"
    )
    assert check.passed == passes


MEDIAN = PointStatistic(1.4, 40, "a paper", lambda x: np.median(x, axis=0))


@pytest.mark.parametrize("statistic", [FrechetMean(), TangentMean(), MEDIAN])
@pytest.mark.parametrize("manifold", [Euclidean(2), Sphere(2)], ids=str)
def test_a_tolerance_that_float64_cannot_carry_does_not_verify(statistic, manifold):
    ball = Ball(manifold, manifold.origin, 0.7)
    points = np.tile(manifold.origin, (40, 1))
    options = {"mechanism": "riemannian-gaussian", "allow_unproven": True}
    if manifold == Sphere(2) and isinstance(statistic, TangentMean):
        options["mechanism"] = "tangent-gaussian"
    release = private_statistic(statistic, points, ball, GDP(1.0), **options)
    (query,) = outline(statistic, ball).queries
    exact = release.neighbours.sensitivity(query, ball, 40, release.mechanism.metric)
    least = query.tolerance(ball, 0.0)
    for tol in (5e-324, 0.1 * least) if least else ():  # sums of integers need none
        changed = replace(release, tol=tol, sensitivity=np.nextafter(exact + 2 * tol, np.inf))
        assert {"sensitivity", "guarantee"} <= failed(changed)
    assert "sensitivity" not in failed(release)


STATED = {
    "Sphere": "docs/proofs/spaces.md",
    "riemannian-laplace": "docs/proofs/riemannian-laplace.md",
    "PureDP": "docs/proofs/privacy-conversions.md",
    "replace-one": "docs/proofs/index.md",
    "frechet-mean": "docs/proofs/frechet-mean-sensitivity.md",
    "exact mean": "docs/proofs/certified-means.md",
    "exact draw": "docs/proofs/exact-draws.md",
}


@pytest.mark.parametrize(
    ("proofs", "named"),
    [
        ({}, "exact draw, PureDP, replace-one, frechet-mean, exact mean"),
        (STATED | {"Sphere": ""}, "no proof is known of Sphere"),
        (STATED | {"PureDP": "https://example.org/other"}, "stated for PureDP"),
        ({k: v for k, v in STATED.items() if k != "frechet-mean"}, "stated for frechet-mean"),
        (STATED | {"\x1b[31m\u202e": None}, r"'\x1b[31m\u202e'"),
        (STATED | {"x" * 10_000: None}, "a text of 10000 characters"),
        ({str(i): None for i in range(1000)}, "no proof is known of 0, 1, 2, 3, 4, 5, 6, 7, 8"),
        (STATED | {"another": "https://example.org"}, "on which the guarantee does not rest"),
        (STATED, None),
    ],
    ids=lambda value: str(value)[:30],
)
def test_every_proof_that_is_known_has_to_be_stated(proofs, named):
    document = json.loads(release_of().to_json())
    assert document["header"]["proofs"] == STATED
    release = Release.from_json(
        json.dumps(document | {"header": document["header"] | {"proofs": proofs}})
    )
    (check,) = (check for check in verify(release).checks if check.name == "proof")
    assert check.passed == (named is None)
    assert release.proven == (named is None)
    assert failed(release) == (set() if named is None else {"proof"})
    assert check.detail.isprintable()
    assert "example.org" not in check.detail
    for text in release.warnings:
        assert text.endswith(str(named))
        assert text.isprintable()


def test_the_law_is_made_last(monkeypatch):
    document = json.loads(release_of().to_json())

    def slow(*_):
        raise AssertionError("made before the rest was read")

    monkeypatch.setattr(RiemannianLaplace, "__post_init__", slow)
    header = document["header"]
    (query,) = header["queries"]
    for wrong in ({"n": 0}, {"queries": [query | {"tol": "x"}]}, {"queries": [query | {"dim": 3}]}):
        with pytest.raises(RiemdpError):
            Release.from_json(json.dumps(document | {"header": header | wrong}))
    with pytest.raises(RiemdpError):
        Release.from_json(json.dumps(document | {"value": [2, 0, 0]}))


def document_of(**options):
    return json.loads(release_of(**options).to_json())


def test_the_value_is_that_of_the_integers():
    release = release_of()
    assert failed(release) == set()
    (check,) = (check for check in verify(release).checks if check.name == "arithmetic")
    assert check.detail.endswith(f"on the grid 2^-{release.grid}")
    last = release.rounded[-1]
    near = (*release.rounded[:-1], last + 2**12)  # more than rounding of the value
    assert failed(replace(release, rounded=near)) == {"arithmetic"}
    assert failed(replace(release, rounded=release.rounded[:-1])) == {"arithmetic"}
    assert failed(replace(release, rounded=(*release.rounded, 0))) == {"arithmetic"}


def test_no_release_is_without_integers():
    document = document_of()
    for place in (document, document["header"]["queries"][0]):
        for key in ("grid", "rounded"):
            kept = place.pop(key, None)
            if kept is not None:
                with pytest.raises(InvalidParameterError):
                    Release.from_json(json.dumps(document))
                place[key] = kept
    flat = json.loads(
        private_statistic(
            FrechetMean(), [[0.1, 0.2]], Ball(Euclidean(2), [0.0, 0.0], 1.0), PureDP(1.0)
        ).to_json()
    )
    assert flat["header"]["queries"][0]["tol"] == 0.0
    assert failed(Release.from_json(json.dumps(flat))) == set()


STORED = sorted((Path(__file__).resolve().parents[1] / "data" / "release-3").glob("*.json"))


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_what_another_processor_has_released_verifies(path):
    """About centres of condition 1e12 it makes other points of the same integers."""
    release = Release.from_json(path.read_text())
    assert failed(release) == set()
    away = (1.0 + 1e-11 + 8.0 * release.ball.rounding) * release.value
    assert "arithmetic" in failed(replace(release, value=away))


ATLAS = Power(SPDLogEuclidean(3), 1200)
WIDE = [
    ProductBall(ATLAS, np.eye(3), rms_radius=0.8),
    ProductBall(Power(SPDAffineInvariant(2), 300), np.eye(2), rms_radius=1.0),
    ProductBall(Power(Hyperbolic(2), 60), Hyperbolic(2).origin, rms_radius=1.0),
    Ball(SPDLogEuclidean(3), np.eye(3), 20.0),
    Ball(SPDAffineInvariant(3), np.eye(3), 20.0),
]


@pytest.mark.parametrize("ball", WIDE, ids=lambda ball: f"{ball.manifold} {ball.radius:.3g}")
def test_invented_values_on_wide_balls_do_not_verify(ball):
    """What rounding explains so far out as a ball reaches is no allowance for what lies inside."""
    records = np.broadcast_to(ball.center, (200, *ball.center.shape))
    release = private_mean(records, ball, GDP(1.0), mechanism="tangent-gaussian")
    rng = np.random.default_rng(0)
    last = release.raw * (1.0 + 2.0**-52 * rng.choice([-1.0, 1.0]))  # control
    assert "arithmetic" not in failed(replace(release, value=last))
    one, half = release.raw.copy(), release.raw.copy()
    one[-1] *= 1.0 + 1e-6
    half[: len(half) // 2] = ball.center[: len(half) // 2]
    for value in (one, half, release.raw * (1.0 + 1e-9), ball.center):
        assert "arithmetic" in failed(replace(release, value=value))


@pytest.mark.parametrize(
    ("center", "radius", "release", "options"),
    [
        ([500000.0, 4649776.0], 4.0, private_mean, {"method": "refined"}),  # metres
        ([1.7e9], 300.0, private_median, {}),  # seconds
        ([1e9, 1.0], 1.0, private_mean, {}),
    ],
)
def test_values_far_from_the_origin_are_those_of_their_integers(center, radius, release, options):
    ball = Ball(Euclidean(len(center)), center, radius)
    rows = center + 0.2 * radius * np.random.default_rng(0).normal(size=(500, len(center)))
    made = release(rows, ball, GDP(1.0), **options)
    assert verify(made).passed
    for value in (ball.center, made.value + 0.01 * made.sigma):
        assert failed(replace(made, value=value)) == {"arithmetic"}


def test_a_grid_that_is_not_that_of_the_scale_does_not_verify():
    """It gives away the scale that the noise was drawn with."""
    document = json.loads(release_of(Euclidean(2), GDP(1.0)).to_json())
    assert verify(Release.from_json(json.dumps(document))).passed
    document["header"]["guarantee"]["mu"] = 0.01
    document["header"]["queries"][0]["sigma"] *= 100.0
    assert failed(document) == {"queries", "arithmetic"}
    with pytest.raises(InvalidParameterError, match="grid of a query"):
        Release.from_json(json.dumps(document))


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_values_that_are_not_finite_do_not_verify(number, projecting):
    projecting(False)
    made = release_of(Euclidean(2), GDP(1.0))
    assert failed(made) == set()
    assert failed(replace(made, value=np.full(2, number)))


def test_centres_beyond_float64_fail():
    path = next(path for path in STORED if "SPDAffineInvariant" in path.stem)
    document = json.loads(path.read_text())
    document["header"]["ball"]["center"][0][0] = 1e308
    with contextlib.suppress(InvalidParameterError):
        assert not verify(Release.from_json(json.dumps(document))).passed


@pytest.mark.parametrize("release", [private_mean, private_median, private_moments])
def test_integers_that_are_no_answers_of_a_private_number_do_not_verify(release):
    ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    made = release(np.zeros((5, 2)), ball, budget=GDP(1.0), adjacency="add-remove")
    document = json.loads(made.to_json())
    given = document["rounded"]
    assert verify(Release.from_json(json.dumps(document))).passed
    for integers in ([], given[:-1], [*given, 1], [10**400] * len(given)):
        read = Release.from_json(json.dumps({**document, "rounded": integers}))
        assert (read.count is None) == (len(integers) != len(given))
        assert not verify(read).passed


def test_other_numbers_of_answers_do_not_verify():
    made = private_median(
        np.zeros((5, 2)), Ball(Euclidean(2), [0.0, 0.0], 1.0), GDP(1.0), adjacency="add-remove"
    )
    document = json.loads(made.to_json())
    for steps in (1, -2):
        document["header"]["statistic"]["statistic"]["steps"] += steps
        assert not verify(document).passed
        with pytest.raises(InvalidParameterError, match="queries must be a list of"):
            Release.from_json(json.dumps(document))


ROWS = np.random.default_rng(0).normal(0.0, 0.05, (300, 2))
PLANE = Ball(Euclidean(2), [0.0, 0.0], 5.0)


def documents(folder):
    """Write documents of several kinds, and return their files."""
    pair = Product(Euclidean(1), Sphere(1))
    box = ProductBall(pair, pair.origin, rms_radius=1.0, radii=(1.0, 0.5))
    mean = private_mean(ROWS, PLANE, GDP(1.0))
    texts = {
        "mean": mean,
        "free": private_mean(ROWS[:2], PLANE, GDP(0.1)),
        "curved": release_of(),
        "options": release_of(mechanism="tangent-laplace"),
        "people": private_mean(
            ROWS, PLANE, GDP(1.0), users=np.arange(300) // 2, adjacency="add-remove"
        ),
        "moments": private_moments(ROWS, PLANE, GDP(1.0), second="matrix"),
        "median": private_statistic(GeometricMedian(steps=2), ROWS, PLANE, GDP(1.0)),
        "found": private_mean(ROWS, PLANE, GDP(4.0), method="adaptive"),
        "box": private_mean([pair.origin] * 3, box, GDP(1.0)),
        "charged": replace(mean, anchor=Anchor("study", 3, "c" * 32, "0" * 64, 2)),
        "groups": private_means({"a": ROWS, 2: ROWS + 0.1}, PLANE, GDP(1.0)),
    }
    files = [folder / f"{name}.json" for name in texts]
    for file, release in zip(files, texts.values(), strict=True):
        file.write_text(release.to_json(), encoding="utf-8")
    assert "search" in json.loads((folder / "found.json").read_text(encoding="utf-8"))
    release_of().save(folder / "certificate.json", container=True)
    return [*files, folder / "certificate.json"]


def verifies(file):
    """Whether a document is read and verifies."""
    try:
        means = PrivateMeans.from_json(file.read_text(encoding="utf-8"))
    except InvalidParameterError:
        try:
            return verify(file).passed
        except InvalidParameterError:
            return False
    return all(found.passed for found in means.verify().values())


def objects_of(document):
    """Every object of a document: itself, and all that are in it."""
    if isinstance(document, dict):
        yield document
    parts = document.values() if isinstance(document, dict) else document
    for part in parts if isinstance(document, (dict, list)) else ():
        yield from objects_of(part)


def test_an_unknown_key_fails_wherever_it_is(tmp_path):
    for file in documents(tmp_path):
        assert verifies(file), file
        text = file.read_text(encoding="utf-8")
        places = len(list(objects_of(json.loads(text))))
        assert places > 3
        for place in range(places):
            document = json.loads(text)
            changed = list(objects_of(document))[place]
            changed["ethics board"] = "approved"
            file.write_text(json.dumps(document), encoding="utf-8")
            assert not verifies(file), (file, changed)


def test_proofs_are_those_that_are_known_and_no_others():
    release = release_of()
    proofs = release.proofs
    for name in proofs:
        for stated in (None, "docs/proofs/other.md"):
            assert failed(replace(release, stated_proofs=(*{**proofs, name: stated}.items(),))) == {
                "proof"
            }
    more = replace(release, stated_proofs=(*proofs.items(), ("ethics board", "approved")))
    (check,) = (check for check in verify(more).checks if check.name == "proof")
    assert not check.passed
    assert "a proof is stated for 'ethics board'" in check.detail
    assert not more.proven


@pytest.mark.parametrize("stated", [("ethics board", "approved"), ("numpy", "approved by a board")])
def test_versions_are_version_numbers_of_what_draws(stated):
    with pytest.raises(InvalidParameterError, match="version numbers of riemdp, numpy"):
        replace(release_of(), stated_versions=(stated,))
