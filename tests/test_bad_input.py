"""What newcomers get wrong: each input has an error whose words tell the way out."""

from pathlib import Path

import numpy as np
import pytest

import riemdp
from riemdp import (
    GDP,
    Accountant,
    ApproxDP,
    Ball,
    BudgetExceededError,
    Hyperbolic,
    InvalidBudgetError,
    InvalidParameterError,
    NotOnManifoldError,
    Power,
    Product,
    ProductBall,
    PureDP,
    Records,
    Release,
    RiemannianLaplace,
    Rotations,
    SPDLogEuclidean,
    Sphere,
    Torus,
    UnsupportedBallError,
    UnsupportedError,
    advise_ball,
    audit,
    combine,
    frechet_mean,
    plan,
    plan_grid,
    private_directional_summary,
    private_mean,
    private_means,
    private_median,
    private_moments,
    private_rotation_mean,
    private_statistic,
    rayleigh_test,
    two_sample_test,
    verify,
)

EYE = np.eye(3)
TENSORS = np.stack([EYE * (1.0 + 0.1 * i) for i in range(20)])
SPACE, DIRECTIONS, TURNS = SPDLogEuclidean(3), Sphere(2), Rotations()
BALL = Ball(SPACE, EYE, 1.0)
CAP = Ball(DIRECTIONS, [0.0, 0.0, 1.0], 0.7)
POLES = np.tile([0.0, 0.0, 1.0], (20, 1))
BUDGET = GDP(1.0)
FLAT = np.random.default_rng(0).normal(size=(20, 3, 2))


def mean(points, ball=BALL, budget=BUDGET, **options):
    return private_mean(points, ball, budget, **options)


def marked(entry):
    """Tensors of which row 3 has one entry that is no number."""
    points = TENSORS.copy()
    points[3, 0, 1] = points[3, 1, 0] = entry
    return points


def model(name, *arguments, **options):
    """An estimator, where scikit-learn is."""
    pytest.importorskip("sklearn")
    from riemdp import estimators

    return getattr(estimators, name)(*arguments, **options)


def field(shape):
    """Mean of the tensors of five voxels, of an array of this shape."""
    many, entries = Power(SPACE, 5), EYE if shape[-1] == 3 else 1.0
    return mean(np.broadcast_to(entries, shape), Ball(many, many.origin, 2.0))


def twice():
    accountant = Accountant(BUDGET)
    for _ in range(2):
        mean(TENSORS, accountant=accountant)


WRONG, OFF, TOO_LARGE = InvalidParameterError, NotOnManifoldError, UnsupportedBallError
TABLE = [
    # documents
    ("a file that is not there", lambda: verify("release.json"), WRONG, "path of a file that is"),
    ("the same, a path", lambda: verify(Path("none.json")), FileNotFoundError, "none.json"),
    ("the text of no document", lambda: verify('{"a": 1}'), WRONG, "must be a riemdp.Release"),
    ("a mean in place of a release", lambda: verify(EYE), WRONG, "must be a riemdp.Release"),
    ("a path for a text", lambda: Release.from_json("r.json"), WRONG, r"Release.load\(path\)"),
    ("a Path for a text", lambda: Release.from_json(Path("r")), WRONG, r"Release.load\(path\)"),
    ("a dictionary", lambda: Release.from_json({}), WRONG, "not a release written by"),
    ("other JSON", lambda: Release.from_json('{"a": 1}'), WRONG, "Release.to_json"),
    ("a list in JSON", lambda: Release.from_json("[1]"), WRONG, "Release.to_json"),
    # balls
    ("centre and manifold", lambda: Ball(EYE, SPACE, 1.0), WRONG, r"Ball\(manifold, center, rad"),
    ("radius first", lambda: Ball(1.0, SPACE, EYE), WRONG, r"Ball\(manifold, center, radius\)"),
    ("radius and centre", lambda: Ball(SPACE, 1.0, EYE), OFF, r"Ball\(manifold, center, radius\)"),
    ("identity, in words", lambda: Ball(SPACE, "identity", 1.0), OFF, "manifold.origin"),
    ("a pole, in words", lambda: Ball(DIRECTIONS, "north-pole", 1.0), OFF, "manifold.origin"),
    ("a class", lambda: Ball(SPDLogEuclidean, EYE, 1.0), WRONG, r"SPDLogEuclidean\(\.\.\.\)"),
    ("a manifold in words", lambda: Ball("spd", EYE, 1.0), WRONG, "must be a riemdp manifold"),
    ("a radius in words", lambda: Ball(SPACE, EYE, "1"), WRONG, "radius must be a real number"),
    ("no radius", lambda: Ball(SPACE, EYE, None), WRONG, "radius must be a real number"),
    ("a negative radius", lambda: Ball(SPACE, EYE, -1.0), TOO_LARGE, "positive and finite"),
    ("an infinite radius", lambda: Ball(SPACE, EYE, np.inf), TOO_LARGE, "positive and finite"),
    ("degrees", lambda: Ball(DIRECTIONS, POLES[0], 30.0), TOO_LARGE, "in radians"),
    ("another size", lambda: Ball(SPACE, np.eye(2), 1.0), OFF, r"\(\.\.\., 3, 3\), got \(2, 2\)"),
    ("many centres", lambda: Ball(SPACE, TENSORS, 1.0), OFF, "must be one point"),
    ("an indefinite centre", lambda: Ball(SPACE, np.diag([1, 1, -1.0]), 1.0), OFF, "not positive"),
    # directions, angles, rotations
    ("directions of another length", lambda: mean(2 * POLES, CAP), OFF, "row 0.*to normalise"),
    ("nearly unit", lambda: mean(1.001 * POLES, CAP), OFF, "tolerance 0.0001.*linalg.norm"),
    ("zero vectors", lambda: mean(0 * POLES, CAP), OFF, "does not have norm"),
    ("longitude, latitude", lambda: mean(POLES[:, :2], CAP), OFF, "lonlat-degrees"),
    ("angles", lambda: mean(POLES[:, 0], Ball(Sphere(1), [1.0, 0.0], 0.7)), OFF, "cos, sin"),
    ("angles of a torus", lambda: mean(POLES[:, 0], Ball(Torus(1), [0.0], 1.0)), OFF, ":, None"),
    ("a reflection", lambda: mean(-np.stack([EYE] * 9), Ball(TURNS, EYE, 0.7)), OFF, "reflection"),
    ("Euler angles", lambda: mean(0 * POLES, Ball(TURNS, EYE, 0.7)), OFF, "quaternions"),
    ("scaled rotations", lambda: mean(TENSORS, Ball(TURNS, EYE, 0.7)), OFF, "row 1.*orthonormal"),
    ("a hemisphere of all", lambda: frechet_mean(DIRECTIONS, POLES), TOO_LARGE, "pass ball=Ball"),
    # matrices
    ("flat matrices", lambda: mean(TENSORS.reshape(20, 9)), OFF, r"reshape\(-1, 3, 3\)"),
    ("six numbers", lambda: mean(np.ones((20, 6))), OFF, "riemdp.io.points_of"),
    ("one matrix", lambda: mean(EYE), OFF, r"points\[None\]"),
    ("time series", lambda: mean(np.ones((20, 3, 100))), OFF, "covariances first"),
    ("rank one", lambda: mean(FLAT @ FLAT.transpose(0, 2, 1)), OFF, "without full rank need a"),
    (
        "a zero on the diagonal",
        lambda: mean(TENSORS * [1, 1, 0]),
        OFF,
        "row 0 has a diagonal entry",
    ),
    ("negative matrices", lambda: mean(-TENSORS), OFF, "not positive"),
    ("asymmetric", lambda: mean(TENSORS + np.triu(np.ones((3, 3)), 1)), OFF, "row 0 is not symm"),
    ("not a number", lambda: mean(marked(np.nan)), OFF, "row 3.*NaN"),
    ("infinite", lambda: mean(marked(np.inf)), OFF, "row 3.*infinite"),
    ("complex", lambda: mean(TENSORS + 0j), OFF, "they are complex"),
    ("objects", lambda: mean(TENSORS.astype(object)), OFF, "dtype=float"),
    ("texts", lambda: mean(TENSORS.astype(str)), OFF, "dtype=float"),
    ("truth values", lambda: mean(TENSORS > 0), OFF, "true or false"),
    ("ragged", lambda: mean([[[1, 2], [3]], [[1]]]), OFF, "rows must all have one shape"),
    ("empty", lambda: mean(np.empty((0, 3, 3))), OFF, "at least one row"),
    ("an empty list", lambda: mean([]), OFF, "at least one row"),
    ("nothing", lambda: mean(None), OFF, "got None"),
    ("a file", lambda: mean("data.npy"), OFF, "read the file first"),
    ("a masked array", lambda: mean(np.ma.masked_array(TENSORS)), OFF, "fill or drop"),
    # keywords of other libraries
    ("epsilon=", lambda: private_mean(TENSORS, BALL, epsilon=1.0), TypeError, "riemdp.PureDP"),
    ("delta=", lambda: mean(TENSORS, delta=1e-5), TypeError, r"ApproxDP\(epsilon, delta\)"),
    ("mu=", lambda: private_median(TENSORS, BALL, mu=1.0), TypeError, r"GDP\(mu\)"),
    ("random_state=", lambda: mean(TENSORS, random_state=0), TypeError, "default_rng"),
    ("seed=", lambda: private_moments(TENSORS, BALL, BUDGET, seed=0), TypeError, "not private"),
    ("rng=", lambda: private_means({}, BALL, BUDGET, rng=0), TypeError, "generator="),
    ("radius=", lambda: private_mean(TENSORS, radius=1.0), TypeError, r"riemdp.Ball\(manifold"),
    ("X=", lambda: private_mean(X=TENSORS, ball=BALL, budget=BUDGET), TypeError, "points"),
    ("sigma=", lambda: mean(TENSORS, sigma=1.0), TypeError, "calibrated"),
    ("a typo", lambda: mean(TENSORS, metod="refined"), TypeError, "'metod'; did you mean method"),
    # arguments
    ("a number for the budget", lambda: mean(TENSORS, BALL, 1.0), WRONG, r"such as GDP\(0.5\)"),
    ("a class for it", lambda: mean(TENSORS, BALL, GDP), WRONG, r"make one of it, GDP\(\.\.\.\)"),
    ("no budget", lambda: private_mean(TENSORS, BALL), WRONG, "must be a privacy definition"),
    ("ball and budget", lambda: mean(TENSORS, BUDGET, BALL), WRONG, "ball must be a riemdp.Ball"),
    ("ball and points", lambda: mean(BALL, TENSORS), WRONG, "ball must be a riemdp.Ball"),
    ("a radius for the ball", lambda: mean(TENSORS, 1.0), WRONG, "ball must be a riemdp.Ball"),
    ("a space for the ball", lambda: mean(TENSORS, SPACE), WRONG, "got SPDLogEuclidean"),
    ("a seed", lambda: mean(TENSORS, generator=0), WRONG, r"default_rng\(seed\) in a test"),
    ("an old generator", lambda: mean(TENSORS, generator=np.random.RandomState(0)), WRONG, "leave"),
    ("half a name", lambda: mean(TENSORS, mechanism="laplace"), WRONG, "you mean riemannian-lapl"),
    (
        "a name misspelled",
        lambda: mean(TENSORS, mechanism="tangent-gausian"),
        WRONG,
        "tangent-gaus",
    ),
    ("a method", lambda: mean(TENSORS, method="median"), WRONG, "there is private_median"),
    ("an adjacency", lambda: mean(TENSORS, adjacency="add_remove"), WRONG, '"add-remove"'),
    ("a number for an account", lambda: mean(TENSORS, accountant=1.0), WRONG, "method spend"),
    ("too much", twice, BudgetExceededError, "left is nothing of"),
    ("negative weights", lambda: mean(TENSORS, weights=-np.ones(20)), OFF, "row 0.*negative"),
    ("two users for twenty", lambda: mean(TENSORS, users=[1, 2]), WRONG, "one for each point"),
    ("labels", lambda: mean(Records(TENSORS, labels=[0.5] * 20)), WRONG, "labels"),
    ("no statistic", lambda: private_statistic("mean", TENSORS, BALL, BUDGET), WRONG, "statistic"),
    ("a private n", lambda: mean(TENSORS, adjacency="add-remove", n=20), WRONG, "leave out n"),
    ("another n", lambda: mean(TENSORS, n=19), WRONG, "there are 20"),
    # definitions and spaces
    ("negative epsilon", lambda: PureDP(-1.0), WRONG, "epsilon must be positive"),
    ("epsilon in words", lambda: PureDP("1"), WRONG, "epsilon must be a real number"),
    ("delta first", lambda: ApproxDP(1e-5, 1.0), WRONG, "delta must be positive and under 1"),
    ("delta in percent", lambda: ApproxDP(1.0, 5), WRONG, "delta must be positive and under 1"),
    ("mu not a number", lambda: GDP(np.nan), WRONG, "mu must be positive and finite"),
    ("no size", lambda: SPDLogEuclidean(0), WRONG, "k must be a positive integer"),
    ("half a size", lambda: SPDLogEuclidean(2.5), WRONG, "k must be a positive integer"),
    ("a curved sphere", lambda: Sphere(2, -1.0), WRONG, "use Hyperbolic or Euclidean"),
    ("a round hyperbolic space", lambda: Hyperbolic(2, 1.0), WRONG, "use Sphere or Euclidean"),
    ("plan: half a record", lambda: plan(SPACE, 1.0, 9.5, BUDGET), WRONG, "number of points"),
    ("plan: n and budget", lambda: plan(SPACE, 1.0, BUDGET, 100), WRONG, "budget must be"),
    ("plan: a radius first", lambda: plan(1.0, SPACE, 100, BUDGET), WRONG, "riemdp manifold"),
    ("mean: data first", lambda: frechet_mean(TENSORS, SPACE), WRONG, "riemdp manifold, got ndarr"),
    (
        "plan: one name",
        lambda: plan(SPACE, 1.0, 9, BUDGET, mechanisms="laplace"),
        WRONG,
        "a text: ",
    ),
    ("plan: data", lambda: plan(SPACE, 1.0, TENSORS, BUDGET), WRONG, "number of points, must be"),
    ("plans: one n", lambda: plan_grid(SPACE, 1.0, 9, [BUDGET]), WRONG, "there is riemdp.plan"),
    ("plans: one budget", lambda: plan_grid(SPACE, 1.0, [9], BUDGET), WRONG, "one budget there is"),
    ("plan: epsilon=", lambda: plan(SPACE, 1.0, 9, epsilon=1.0), TypeError, "riemdp.PureDP"),
    ("plan: ball=", lambda: plan(SPACE, ball=BALL), TypeError, "or a riemdp.Ball where"),
    ("advice: center=", lambda: advise_ball(TENSORS, 9, BUDGET, center=EYE), TypeError, "advised"),
    (
        "advice: one point",
        lambda: advise_ball(TENSORS[:1], 9, BUDGET, manifold=SPACE),
        OFF,
        "several",
    ),
    # spaces of another size, and fields
    ("channels", lambda: mean(np.stack([np.eye(4)] * 9)), OFF, "size 4 take a space of that size"),
    (
        "the sphere of dimension 3",
        lambda: mean(POLES, Ball(Sphere(3), [0, 0, 0, 1], 0.7)),
        OFF,
        r"Sphere\(2\), Hyp",
    ),
    ("a place in degrees", lambda: Ball(DIRECTIONS, [10.0, 20.0], 0.7), OFF, "lonlat-degrees"),
    ("an image of tensors", lambda: mean(np.ones((4, 4, 4, 6))), OFF, "voxels of a public mask"),
    (
        "a field in a ball of one",
        lambda: mean(np.stack([TENSORS, TENSORS])),
        OFF,
        r"Power\(space, copies",
    ),
    ("the field of one person", lambda: field((5, 3, 3)), OFF, r"points\[None\]"),
    ("four voxels of five", lambda: field((20, 4, 3, 3)), OFF, r"take Power\(space, 4\)"),
    ("six numbers a voxel", lambda: field((20, 5, 6)), OFF, "riemdp.io.points_of"),
    ("copies first", lambda: Power(5, SPACE), WRONG, r"a power is Power\(space, copies\)"),
    ("a list of factors", lambda: Product([SPACE, DIRECTIONS]), WRONG, r"Product\(space, other"),
    ("a product of one", lambda: ProductBall(SPACE, EYE, rms_radius=1.0), WRONG, "use Ball"),
    ("scale first", lambda: RiemannianLaplace(1.0, SPACE), WRONG, r"Laplace\(manifold, sigma\)"),
    (
        "a ball for a space",
        lambda: frechet_mean(BALL, TENSORS),
        WRONG,
        "its space is ball.manifold",
    ),
    # directions and rotations
    ("angles, no vectors", lambda: private_directional_summary(POLES[:, 0], BUDGET), OFF, "cos"),
    (
        "a ball too many",
        lambda: private_directional_summary(POLES, CAP, BUDGET),
        TypeError,
        "no ball",
    ),
    ("Euler angles of all", lambda: private_rotation_mean(POLES, BUDGET), OFF, "unit quaternions"),
    ("points for a test", lambda: rayleigh_test(POLES), WRONG, "must be a riemdp.Release"),
    (
        "two sets of points",
        lambda: two_sample_test(POLES, POLES),
        WRONG,
        "must be a riemdp.Release",
    ),
    (
        "a mean for a region",
        lambda: mean(TENSORS).confidence_region(0.95),
        UnsupportedError,
        "private_moments",
    ),
    # groups, sites, accounts, audits
    ("a list of groups", lambda: private_means([TENSORS], BALL, BUDGET), WRONG, "'b': points_b"),
    (
        "a group of others",
        lambda: private_means({"a": EYE[None], "b": np.ones((9, 2, 2))}, BALL, BUDGET),
        OFF,
        "group 'b'.*size 2",
    ),
    ("one release to combine", lambda: combine(mean(TENSORS)), WRONG, r"\[first, second\]"),
    (
        "a number for a total",
        lambda: Accountant(1.0),
        InvalidBudgetError,
        "total must be a privacy",
    ),
    (
        "audit: a lambda of one",
        lambda: audit(lambda data: 0, EYE, EYE, BUDGET, samples=99),
        WRONG,
        r"\(dataset, generator\); one",
    ),
    (
        "audit: a release",
        lambda: audit(mean(TENSORS), EYE, EYE, BUDGET, samples=99),
        WRONG,
        "audit release.mechanism",
    ),
    (
        "audit: seed=",
        lambda: audit(None, EYE, EYE, BUDGET, samples=99, seed=0),
        TypeError,
        "default_rng",
    ),
    # estimators
    (
        "a space for a model",
        lambda: model("PrivateFrechetMean", SPACE, BUDGET).fit(TENSORS),
        WRONG,
        r"; Ball\(manifold",
    ),
    (
        "a metric for a model",
        lambda: model("PrivateMDM", "riemann", BUDGET, ["a", "b"]).fit(TENSORS, list("ab" * 10)),
        WRONG,
        r"; Ball\(manifold",
    ),
    (
        "a model's epsilon=",
        lambda: model("PrivateMDM", BALL, epsilon=1.0),
        TypeError,
        "riemdp.PureDP",
    ),
    (
        "a model's seed=",
        lambda: model("PrivateMedian", BALL, BUDGET, seed=0),
        TypeError,
        "called random_state",
    ),
    (
        "epochs for a model",
        lambda: model("PrivateFrechetMean", BALL, BUDGET).fit(np.ones((9, 3, 100))),
        OFF,
        "covariances first",
    ),
    (
        "no labels",
        lambda: model("PrivateMDM", BALL, BUDGET, ["a", "b"]).fit(TENSORS, None),
        WRONG,
        "a label for each record",
    ),
    (
        "points for covariates",
        lambda: model("PrivateTangentRegression", BALL, BUDGET, 0.0, 1.0).fit(TENSORS, POLES),
        WRONG,
        r"fit\(covariates, points\)",
    ),
    ("no public points", lambda: advise_ball([], 9, BUDGET, manifold=SPACE), OFF, "shape"),
]


def test_the_table_is_long():
    assert len(TABLE) >= 140
    assert len({name for name, *_ in TABLE}) == len(TABLE)


@pytest.mark.parametrize(
    ("wrong", "error", "words"), [row[1:] for row in TABLE], ids=[r[0] for r in TABLE]
)
def test_an_error_tells_the_way_out(wrong, error, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=words) as found:
        wrong()
    # entries of the data are nowhere in it
    assert "0.1" not in str(found.value).replace("0.1.0", "")
    assert issubclass(error, (riemdp.RiemdpError, TypeError, OSError))
