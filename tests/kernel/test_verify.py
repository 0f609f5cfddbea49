"""Stored documents of every kind of release, checked from names and public numbers alone."""

import copy
import json
import lzma
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import riemdp
from riemdp import statistics
from riemdp._part import registered
from riemdp.kernel import _verify
from riemdp.kernel._verify import FOLLOWED, STATED, check_document, check_release, stated_in

DATA = Path(__file__).resolve().parents[1] / "data"
with lzma.open(DATA / "golden.json.xz", "rt", encoding="utf-8") as file:
    DOCUMENTS = json.load(file)["documents"]
OWN = [name for name in DOCUMENTS if "generalized-gaussian" not in name]
#: Answers are vectors, about whose centre no number here is computed.
VECTORS = {
    "moments",
    "class-moments",
    "tangent-regression",
    "directional-moments",
    "mean-rotation",
    "procrustes-mean",
    "direct-variance",
    "variance",
    "recentred",
}
#: The value may not follow an integer, or a length.
SEVERAL = {
    "refined-mean",
    "geometric-median",
    "huber-mean",
    "recentred",
    "variance",
}


def releases(document):
    return document.get("releases", [document])


def sample():
    """Return one document a statistic and adjacency, and one a budget, space or noise."""
    found = {}
    for name in OWN:
        for one in releases(DOCUMENTS[name]):
            stated = one["header"]
            statistic = stated["statistic"]
            inner = statistic.get("statistic") or {}
            noise = stated["mechanism"]["type"]
            for key in (
                (statistic["type"], inner.get("type"), stated["neighbours"]["type"]),
                ("groups" in name, "search" in one),
                (stated["guarantee"]["type"], noise),
                (stated["manifold"]["type"], noise.startswith("riemannian")),
            ):
                found.setdefault(key, name)
    return list(dict.fromkeys(found.values()))


def failed(document):
    return [check.name for check in check_document(document) if not check.passed]


def leaves(value, path=()):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list) and value:
        for place, inner in enumerate(value):
            yield from leaves(inner, (*path, place))
    else:
        yield path, value


def edits(value):
    """Return other values for a leaf, beyond what rounding explains."""
    if isinstance(value, bool):
        return [not value, int(value)]
    if isinstance(value, int):
        few = abs(value) < 10**6
        return (
            [value + 1, value - 1] if few else [value + abs(value) // 100, value // 2, str(value)]
        )
    if isinstance(value, float):
        step = 0.01 * max(abs(value), 0.1)
        return [value + step, value - step, None]
    if isinstance(value, str):
        others = "replace-point", "tangent-laplace", "Euclidean", "moments", "PureDP"
        return [f"{value}x", 1, *(other for other in others if other != value)]
    return [1, "x"]


def with_header(document, **given):
    return {**document, "header": {**document["header"], **given}}


def changed(document, path, value):
    found = copy.deepcopy(document)
    place = found
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return found


def may_pass(path, release, value):
    """Whether an edit may pass, by the lists of what is stated or followed."""
    keys = [key for key in path if isinstance(key, str) and key != "header"]
    header = release["header"]
    outer, last = header["statistic"], keys[-1]
    around = outer["type"] in ("counted", "weighted")
    statistic = (outer["statistic"] if around else outer)["type"]
    if keys[0] == "projected":
        return len(header["queries"]) == 1
    if keys[0] in ("reason", "private"):
        return isinstance(value, (str, bool))
    if keys[0] == "versions":
        return isinstance(value, str)
    if last in ("classes", "low", "high", "design"):
        return True
    if keys == ["n"]:
        return outer["type"] == "weighted" or outer.get("weighs", False)
    if keys[0] == "ball":
        product = "radii" in header["ball"]
        return (last == "center" and statistic in VECTORS) or (
            last in ("radius", "radii") and (product or header["ball"]["radius"] == "infinity")
        )
    if keys[0] == "rounded":
        flat = header["manifold"].get("dim") == 1
        count = outer["type"] == "counted" and path[-1] == len(release["rounded"]) - 1
        return statistic in SEVERAL or flat or (count and statistic == "tangent-mean")
    if keys[0] == "statistic":
        names = "alpha", "threshold", "clip", "eta", "last", "weight"
        shortened = last == "weight" and statistic == "tangent-mean"
        return last == "weighs" or shortened or (last in names and statistic in SEVERAL)
    if keys[0] == "neighbours":
        return last == "contribution" and header["neighbours"]["contribution"] > 1
    if keys[0] == "guarantee":
        return (header["guarantee"]["type"], last) in {("MeanCDP", "mu"), ("ZCDP", "xi")}
    if keys == ["search", "axis"]:
        return "axis" not in [step["query"] for step in release["search"]["steps"]]
    return keys[:2] == ["search", "steps"] and last in ("place", "rounded")


SAMPLE = sample()


@pytest.mark.fast(40)
@pytest.mark.parametrize("name", [*SAMPLE[:40], *(n for n in OWN if n not in SAMPLE[:40])])
def test_a_stored_document_verifies(name):
    assert failed(DOCUMENTS[name]) == []


@pytest.mark.fast("adapt/R3/gdp", "moments/R3/people", "mean/R1/riemannian-gaussian")
@pytest.mark.parametrize("name", SAMPLE)
def test_every_edit_of_a_recomputed_number_fails(name):
    document = DOCUMENTS[name]
    tried = 0
    for path, value in leaves(document):
        place = path[2:] if path[0] == "releases" else path
        release = document["releases"][path[1]] if path[0] == "releases" else document
        for other in edits(value):
            tried += 1
            if not failed(changed(document, path, other)):
                stated = path[:2] == ("header", "names") or may_pass(place, release, other)
                assert stated, (path, value, other)
    assert tried > 40


@pytest.mark.parametrize("name", ["mean/S2/auto", "groups/R3/add-remove/GDP", "found/R3/moments"])
def test_keys_that_are_missing_or_unknown_fail(name):
    def places(value, path=()):
        if isinstance(value, dict):
            yield path
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(inner, (dict, list)):
                yield from places(inner, (*path, key))

    document = DOCUMENTS[name]
    for path in places(document):
        more = copy.deepcopy(document)
        place = more
        for key in path:
            place = place[key]
        place["more"] = "docs/proofs/index.md"
        assert failed(more), path
        for key in list(place):
            if key == "more" or path[-1:] == ("versions",):
                continue
            less = copy.deepcopy(document)
            place = less
            for step in path:
                place = place[step]
            del place[key]
            assert failed(less), (path, key)


PUBLIC = {"type": "class-moments", "classes": [0, 1], "second": "none", "sizes": [1, 1]}
DESIGN = {"type": "tangent-regression", "low": 0.0, "high": 1.0, "design": [0.5]}
#: What is no sum over the records, or says how many there are.
NO_SUMS = [
    None,
    [],
    "moments",
    {"type": "frechet-mean"},
    {"type": "weighted", "statistic": {"type": "tangent-mean"}, "share": 1.0},
    {"type": "direct-variance"},
    {"type": "counted", "statistic": {"type": "tangent-mean"}, "weight": 1.0, "weighs": False},
    PUBLIC,
    DESIGN,
    {"type": "recentred", "statistic": PUBLIC, "share": 0.2, "alpha": 2.0},
    {"type": "recentred", "statistic": DESIGN, "share": 0.2, "alpha": 2.0},
    {"type": "recentred", "statistic": {"type": "counted"}, "share": 0.2, "alpha": 2.0},
]
COUNTED = [
    statistics.TangentMean(),
    statistics.ClassMoments((0, 1)),
    statistics.Recentred(statistics.Moments()),
    statistics.GeometricMedian(2),
    statistics.Variance(),
]


@pytest.mark.parametrize("weighs", [False, True])
@pytest.mark.parametrize("inner", COUNTED, ids=lambda each: each.name)
def test_forged_documents_of_a_private_number_fail(inner, weighs):
    ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 0.8)
    rng = np.random.default_rng(3)
    points = ball.point(0.2 + 0.1 * rng.normal(size=(150, 2)))
    form = statistics.weighted(inner, ball) if weighs else inner
    records = statistics.Records(points, **form.typical_extras(150, rng))
    relation = {"adjacency": statistics.AddRemove()}
    release = riemdp.private_statistic(form, records, ball, riemdp.GDP(1.0), **relation)
    document = json.loads(release.to_json())
    assert failed(document) == []
    counted, integers = document["header"]["statistic"], document["rounded"]
    free = counted["weight"] == 0.0

    def forged(**given):
        return failed(with_header(document, statistic={**counted, **given}))

    weights = [-1.0, 5.0, 2.0**-21, True, False, None, "1", [1.0], math.nan, math.inf, 10**400]
    for weight in (*weights, 1.0 if free else 0.0):
        assert forged(weight=weight), weight
    for other in NO_SUMS:
        assert forged(statistic=other), other
        if free:  # nor where the weight is one that these need
            assert forged(statistic=other, weight=1.0), other
    for wrong in (1, 0, None, "yes", [True]):
        assert forged(weighs=wrong), wrong
    assert forged(more=1.0)
    for lacking in ("statistic", "weight", "weighs"):
        left = {key: value for key, value in counted.items() if key != lacking}
        assert failed(with_header(document, statistic=left))
    assert failed(with_header(document, statistic=counted["statistic"]))
    assert failed(with_header(document, statistic={**counted, "statistic": counted}))
    for wrong in (integers[:-1], [*integers, 0], [], None, [10**400] * len(integers)):
        assert failed({**document, "rounded": wrong})
    for place, query in enumerate(document["header"]["queries"]):
        for factor in (0.99, 1.01):
            moved = {**query, "sensitivity": factor * query["sensitivity"]}
            queries = document["header"]["queries"].copy()
            queries[place] = moved
            assert "sensitivity" in failed(with_header(document, queries=queries))


SCALED = [
    "refined/S2/records", "refined-3/R3/pure", "median/LE3/add-remove", "huber/H2/private-people",
    "moments-recentred/S2/people", "variance/R3/pure", "found/S2/median",
]  # fmt: skip


@pytest.mark.parametrize("name", SCALED)
def test_forged_scales_fail(name):
    document = DOCUMENTS[name]
    queries = document["header"]["queries"]
    scales = [query["sigma"] for query in queries]
    assert failed(document) == []
    assert not document["header"]["projected"]

    def forged(given, **more):
        """Other scales, each on the grid that is its own."""
        changed = [
            {**query, "sigma": sigma, "grid": 41 - math.frexp(sigma)[1]}
            for query, sigma in zip(queries, given, strict=True)
        ]
        return failed(with_header(document, queries=changed, **more))

    for place, scale in enumerate(scales):
        for factor in (0.5, 1.0 - 1e-6, 1.0 + 1e-6, 2.0):
            changed = [*scales[:place], factor * scale, *scales[place + 1 :]]
            assert "guarantee" in forged(changed), (place, factor)
        for wrong in (0.0, -scale, math.nan, math.inf, "infinity", None, True, str(scale), [scale]):
            one = {**queries[place], "sigma": wrong}
            others = [*queries[:place], one, *queries[place + 1 :]]
            assert failed(with_header(document, queries=others))
    first, last = queries[0], queries[-1]
    for wrong in (queries[:-1], queries[1:], [first, *queries], [*queries, last], []):
        assert failed(with_header(document, queries=wrong)), len(wrong)
    for wrong in (last, None, "x", {}, [queries], [last]):
        assert failed(with_header(document, queries=wrong))
    assert failed(with_header(document, projected=True))
    assert failed({**document, "shrunk": True})
    # more noise in one answer pays for nothing in another
    assert forged([100.0 * scales[0], *scales[1:-1], 0.9 * scales[-1]])
    assert forged([100.0 * scales[0], *(0.9 * scale for scale in scales[1:])])
    given = "given by the caller, calibrated"  # which a calibrated mechanism for several is not
    assert forged([0.5 * scales[0], *scales[1:]], reason=given)
    assert forged([2.0 * scales[0], *scales[1:]], reason=given)


def test_other_numbers_of_queries_of_one_answer_fail():
    document = DOCUMENTS["mean/R3/auto"]
    (query,) = document["header"]["queries"]
    for wrong in ([], [query, query], [{**query, "sigma": 2.0 * query["sigma"]}, query]):
        assert failed(with_header(document, queries=wrong)), wrong


def test_what_is_stated_alone_is_listed():
    for name, listed in (
        ("mean/S2/auto", ("nonce", "private", "reason", "versions")),
        ("groups/R3/add-remove/GDP", ("names", "nonce", "private", "reason", "versions")),
    ):
        assert stated_in(DOCUMENTS[name]) == listed
        assert riemdp.verify(DOCUMENTS[name]).stated == listed
    assert "not checked: nonce, private" in str(riemdp.verify(DOCUMENTS["mean/S2/auto"]))


def test_groups_state_the_digests_of_all_headers():
    document = DOCUMENTS["groups/R3/add-remove/GDP"]
    headers = document["header"]["headers"]
    for wrong in (
        headers[::-1], headers[:-1], [], None, [*headers, headers[0]],
        [headers[0][::-1], *headers[1:]], [headers[0].upper(), *headers[1:]],
    ):  # fmt: skip
        assert failed(with_header(document, headers=wrong)) == ["groups"], wrong
    first, *others = document["releases"]
    for name, value in (("nonce", "0" * 32), ("reason", "another"), ("private", False)):
        other = with_header(first, **{name: value})
        if other != first:
            assert failed({**document, "releases": [other, *others]}) == ["groups"]


@pytest.mark.parametrize("nonce", ["", "0" * 31, "0" * 33, "G" * 32, "A" * 32, 0, None])
def test_a_nonce_is_hex(nonce):
    assert failed(with_header(DOCUMENTS["mean/S2/auto"], nonce=nonce)) == ["document"]


@pytest.mark.parametrize(
    ("statistic", "shares", "moves"),
    [
        (statistics.RefinedMean(3), (0.1, 0.1, 0.8), (0.04, 0.04, 0.04)),
        (statistics.GeometricMedian(2), (0.25, 0.375, 0.375), (0.04, 0.04, 0.04)),
        (statistics.Recentred(statistics.Moments()), (0.2, 0.8), (0.04, 0.04)),
        (
            statistics.Recentred(statistics.TangentRegression(0.0, 1.0)),
            (0.2, 0.8),
            (0.04, 0.04 * math.sqrt(2.0)),
        ),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
@pytest.mark.parametrize("budget", [riemdp.GDP(0.7), riemdp.PureDP(0.7)], ids=str)
def test_scales_are_those_of_the_shares(statistic, shares, moves, budget):
    """By hand: ``sigma = move / (mu sqrt(share))``, or ``move / (epsilon share)``."""
    ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    rng = np.random.default_rng(4)
    extras = statistic.typical_extras(50, rng)
    records = statistics.Records(0.2 * rng.normal(size=(50, 2)), **extras)
    release = riemdp.private_statistic(statistic, records, ball, budget)
    document = json.loads(release.to_json())
    assert failed(document) == []
    pure = isinstance(budget, riemdp.PureDP)
    costs = [0.7 * (share if pure else math.sqrt(share)) for share in shares]
    wanted = [move / cost for move, cost in zip(moves, costs, strict=True)]
    scales = [query["sigma"] for query in document["header"]["queries"]]
    assert scales == pytest.approx(wanted, rel=1e-9)
    total = math.fsum(costs) if pure else math.hypot(*costs)
    assert total == pytest.approx(0.7)


def test_all_rows_of_people_with_labels_are_rounded():
    """Also those of the first round, which sees no labels."""
    ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    statistic = statistics.Recentred(statistics.ClassMoments((0, 1)))
    records = statistics.Records(np.zeros((8, 2)), labels=[0, 1] * 4)
    people = {"users": np.arange(8) // 2, "people": 4}
    release = riemdp.private_statistic(statistic, records, ball, riemdp.GDP(1.0), **people)
    assert failed(json.loads(release.to_json())) == []
    first, last = (each.sensitivity for each in release.offer.asked)
    assert first == pytest.approx(0.5 * (1.0 + 2.0 * 2.0**-39), rel=1e-15)
    assert last == pytest.approx(0.5 * (1.0 + 3.0 * 2.0**-39), rel=1e-15)


WEIGHTED = [
    statistics.FrechetMean(), statistics.TangentMean(), statistics.Moments("matrix"),
    statistics.RefinedMean(), statistics.RefinedMean(1), statistics.HuberMean(2),
    statistics.Variance(), statistics.Recentred(statistics.Moments()),
    statistics.DirectionalMoments(),
]  # fmt: skip


@pytest.mark.parametrize("inner", WEIGHTED, ids=lambda each: each.name)
def test_forged_weights_fail(inner):
    ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 0.8)
    rng = np.random.default_rng(3)
    weights = np.linspace(0.5, 1.0, 60)
    records = statistics.Records(ball.point(0.1 * rng.normal(size=(60, 2))), weights=weights)
    form = statistics.Weighted(inner, statistics.largest_share(weights))
    release = riemdp.private_statistic(form, records, ball, riemdp.GDP(1.0))
    document = json.loads(release.to_json())
    assert failed(document) == []
    stated = document["header"]["statistic"]

    def forged(**given):
        return failed(with_header(document, statistic={**stated, **given}))

    for factor in (0.5, 1.0 - 1e-9, 1.0 + 1e-6, 2.0):
        assert {"sensitivity", "guarantee"} & {*forged(share=factor * stated["share"])}, factor
    for wrong in (0.0, -1.0, 1.5, 1 / 61, math.nan, None, True, "1", [1.0]):
        assert forged(share=wrong), wrong
    labels = {"type": "class-moments", "classes": [0, 1], "second": "none", "sizes": []}
    line = {"type": "tangent-regression", "low": 0.0, "high": 1.0, "design": []}
    for other in (
        None, {"type": "direct-variance"}, labels, line, stated,
        {"type": "counted", "statistic": stated["statistic"], "weight": 1.0, "weighs": False},
        {"type": "recentred", "statistic": labels, "share": 0.2, "alpha": 2.0},
    ):  # fmt: skip
        assert forged(statistic=other), other
    assert forged(more=1.0)
    assert failed(with_header(document, statistic=stated["statistic"]))
    for other in ("add-remove", "replace-user", "add-remove-user"):
        contribution = {"contribution": 1} if "user" in other else {}
        assert failed(with_header(document, neighbours={"type": other, **contribution}))
        assert failed(with_header(document, neighbours={"type": other, **contribution}, n=None))


@pytest.mark.parametrize("inner", [statistics.FrechetMean(), statistics.RefinedMean(1)])
@pytest.mark.parametrize("weighs", [False, True])
def test_sums_of_means_on_flat_spaces_verify(inner, weighs):
    ball = riemdp.Ball(riemdp.SPDLogEuclidean(2), np.eye(2), 0.5)
    points = np.tile(1.2 * np.eye(2), (30, 1, 1))
    extras = {"weights": np.linspace(0.1, 1.0, 30)} if weighs else {}
    form = statistics.weighted(inner, ball) if weighs else inner
    relation = {"adjacency": statistics.ReplaceOne() if weighs else statistics.AddRemove()}
    records = statistics.Records(points, **extras)
    release = riemdp.private_statistic(form, records, ball, riemdp.GDP(1.0), **relation)
    document = json.loads(release.to_json())
    assert failed(document) == []
    curved = {"type": "Sphere", "dim": 3, "curvature": 1.0}
    assert failed(with_header(document, manifold=curved))


def test_a_wrong_formula_would_be_seen(monkeypatch):
    """Control: a sensitivity, a cost or a value that is one per cent off fails every document."""
    exact, within, number = (
        _verify._sensitivity, _verify._claim, _verify._coordinates
    )  # fmt: skip
    names = SAMPLE[:40]

    def tilted(found):  # a factor of all of them leaves quotients alone
        return found * np.linspace(0.7, 1.0, len(found))

    for attribute, wrong, check in (
        ("_sensitivity", lambda *a: 1.01 * exact(*a), "sensitivity"),
        ("_claim", lambda a, b, c, tight: within(a, 1.01 * b, c, tight=tight), "guarantee"),
        ("_claim", lambda a, b, c, tight: within(a, 0.99 * b, c, tight=tight), "guarantee"),
        ("_coordinates", lambda *a: tilted(number(*a)), "arithmetic"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(_verify, attribute, wrong)
            for name in names:
                for one in releases(DOCUMENTS[name]):
                    found = {each.name for each in check_release(one) if not each.passed}
                    assert check in found, (name, attribute)


def test_a_wrong_deviation_would_be_seen(monkeypatch):
    """Control: where a spread, a variance, or what a small weight is raised to, follows it."""
    right = _verify._deviation
    for factor, names in (
        (0.0, ("refined/R3/records", "median/R3/people", "contribution/private-people/LE2^3")),
        (1.5, ("huber/R3/add-remove", "variance/R3/people", "variance-public/R3/people")),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(_verify, "_deviation", lambda *a, by=factor: by * right(*a))
            for name in names:
                assert failed(DOCUMENTS[name]) == ["arithmetic"], name


@pytest.mark.parametrize("name", ["mean/R3/auto", "mean/S2/tangent-gaussian", "refined/S2/records"])
def test_numbers_that_are_texts_fail(name):
    document = DOCUMENTS[name]
    for path, value in leaves(document):
        if isinstance(value, float):
            assert failed(changed(document, path, str(value))), path
            assert failed(changed(document, path, "infinity")), path


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize(
    "space",
    [
        riemdp.Euclidean(1),
        riemdp.Euclidean(5),
        riemdp.Sphere(1),
        riemdp.Sphere(2),
        riemdp.Sphere(7, curvature=4.0),
        riemdp.Hyperbolic(2),
        riemdp.Hyperbolic(6, curvature=-0.25),
        riemdp.SPDAffineInvariant(2),
        riemdp.SPDAffineInvariant(3),
        riemdp.Rotations(),
        riemdp.Torus(2),
        riemdp.Power(riemdp.Sphere(2), 3),
        riemdp.Product(riemdp.Hyperbolic(2), riemdp.Euclidean(1)),
    ],
    ids=str,
)
def test_noise_costs_what_the_mechanism_says(kind, space):
    """Two derivations of the curve and of both Rao distances agree."""
    build = {"gaussian": riemdp.RiemannianGaussian, "laplace": riemdp.RiemannianLaplace}[kind]
    for sigma, ratio in ((0.05, 0.3), (0.3, 1.0)):
        own, law = _verify._Noise(kind, space, sigma), build(space, sigma)
        apart = ratio * sigma
        assert own.curve(apart).mu() == pytest.approx(law.privacy(apart).mu(), rel=1e-9)
        for distance, found in (("angle", own.angle), ("parametric", own.parametric)):
            assert found(apart) == pytest.approx(law.rao(apart, distance).theta, rel=1e-9)


@pytest.mark.parametrize("sort", ["statistic", "neighbours", "mechanism"])
def test_proofs_are_those_that_the_parts_name(sort):
    found = registered(sort).items()
    parts = {name: part.proof for name, part in found if name != "point-statistic"}
    assert parts == {name: f"docs/proofs/{_verify._PROOFS[name]}.md" for name in parts}


def test_what_is_not_checked_is_listed():
    assert set(STATED).isdisjoint(FOLLOWED)
    assert all(map(str.strip, [*STATED.values(), *FOLLOWED.values()]))


def test_nothing_that_made_the_release_is_loaded():
    program = (
        "import json, sys, riemdp\n"
        "for line in sys.stdin:\n"
        "    assert riemdp.verify(line).passed\n"
        "print(*sorted(n for n in sys.modules if n.startswith('riemdp.')))\n"
    )
    names = "mean/LE2/tangent-gaussian", "mean/S2^3/auto", "adapt/AI2/gdp", "variance/S2/people"
    lines = "\n".join(json.dumps(DOCUMENTS[name]) for name in names)
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        input=lines, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    packages = {name.split(".")[1] for name in found}
    assert packages.isdisjoint({"statistics", "mechanisms", "noise", "ledger", "auditing"})
    own = [name for name in found if name.startswith("riemdp.release.")]
    assert own == ["riemdp.release._verify"]
