import contextlib
import math

import numpy as np
import pytest

import riemdp
from riemdp import (
    GDP,
    ZCDP,
    ApproxDP,
    Ball,
    Euclidean,
    Hyperbolic,
    PureDP,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    plan,
    private_mean,
)
from riemdp.privacy import KLDP, RDP, MeanCDP, RaoDP
from riemdp.release._plan import crossing
from riemdp.statistics import Groups


@pytest.mark.fast("manifold0-budget0", "manifold3-budget3", "manifold6-budget6")
@pytest.mark.parametrize(
    ("manifold", "budget"),
    [
        (SPDLogEuclidean(3), ApproxDP(1.0, 1e-6)),
        (Sphere(2), PureDP(0.5)),
        (Sphere(3), ApproxDP(1.0, 1e-6)),
        (Sphere(1), ZCDP(0.1)),
        (Hyperbolic(3), GDP(1.0)),
        (Hyperbolic(2), ZCDP(0.1)),
        (SPDAffineInvariant(1), GDP(0.7)),
        (SPDAffineInvariant(2), PureDP(1.0)),
        (SPDAffineInvariant(3), ApproxDP(1.0, 1e-6)),
        (SPDAffineInvariant(30), PureDP(0.1)),
    ],
)
def test_plan_is_what_private_mean_does(manifold, budget):
    table = plan(manifold, 0.8, 200, budget)
    ball = Ball(manifold, manifold.origin, 0.8)
    points = np.broadcast_to(manifold.origin, (200, *manifold.point_shape))
    for row in table:
        if row.summary == "refined-mean":
            options = {"method": "refined", "mechanism": row.mechanism}
            with contextlib.suppress(riemdp.UnsupportedError):
                release = private_mean(points, ball, budget, **options)
                assert release.expected_distance <= row.expected_distance  # an upper end
                assert release.sigma == row.sigma
        elif row.problem is None:
            release = private_mean(points, ball, budget, mechanism=row.mechanism)
            assert release.sigma == row.sigma
            assert release.sensitivity == row.sensitivity
            assert release.mechanism.expected_distance_in(ball) == row.expected_distance
            if row.expected_distance == release.expected_distance:
                assert release.error_quantile(0.95) == row.quantile_95
            else:
                assert manifold.curvature_floor < 0.0
                assert row.quantile_95 is None
            assert release.statistic.name == row.summary
        else:
            with pytest.raises(riemdp.RiemdpError):
                private_mean(points, ball, budget, mechanism=row.mechanism)
    assert private_mean(points, ball, budget).mechanism.name == table.best.mechanism


def test_every_mechanism_has_a_row_or_a_reason():
    table = plan(Sphere(2), 0.8, 100, PureDP(1.0))
    assert len(table) == 7
    assert table.rows[-1].summary == "refined-mean"
    assert table["tangent-gaussian"].problem
    assert table["riemannian-laplace"].problem is None
    assert table["riemannian-laplace"].expected_distance < table["riemannian-laplace"].quantile_95
    with pytest.raises(KeyError):
        table["magic"]


@pytest.mark.fast("PureDP(epsilon=1.0)")
@pytest.mark.parametrize("budget", [PureDP(1.0), ApproxDP(1.0, 1e-6), GDP(0.5), ZCDP(0.1)], ids=str)
def test_target_error_is_solved_tightly(budget):
    manifold, radius, n, target = SPDLogEuclidean(3), 1.0, 50, 0.05
    row = plan(manifold, radius, n, budget, target_error=target)["riemannian-laplace"]
    reached = plan(manifold, radius, row.required_n, budget)["riemannian-laplace"]
    missed = plan(manifold, radius, row.required_n - 1, budget)["riemannian-laplace"]
    assert reached.expected_distance <= target < missed.expected_distance
    with_budget = plan(manifold, radius, n, row.required_budget)["riemannian-laplace"]
    assert target * (1 - 1e-4) < with_budget.expected_distance <= target
    assert type(row.required_budget) is type(budget)


@pytest.mark.slow
@pytest.mark.parametrize("manifold", [Sphere(2), Hyperbolic(2)], ids=str)
def test_gaussian_target_on_curved_spaces(manifold):
    row = plan(manifold, 0.8, 50, GDP(1.0), target_error=0.02)["riemannian-gaussian"]
    reached = plan(manifold, 0.8, row.required_n, GDP(1.0))["riemannian-gaussian"]
    missed = plan(manifold, 0.8, row.required_n - 1, GDP(1.0))["riemannian-gaussian"]
    assert reached.expected_distance <= 0.02 < missed.expected_distance
    best = "tangent-gaussian" if manifold.curvature_bound > 0.0 else "riemannian-gaussian"
    assert plan(manifold, 0.8, 50, GDP(1.0)).best.mechanism == best


def test_a_floor_is_the_reason_shown():
    table = plan(Hyperbolic(3), 2.0, 3, GDP(0.5))
    for name in ("riemannian-gaussian", "riemannian-laplace"):
        assert "not to 0" in table[name].problem
        assert f"{name}: the Riemannian" in str(table)
    assert table.best.mechanism == "wrapped-gaussian"


@pytest.mark.parametrize("root", [1.0, 7.3, 1e4, 123456.5, 9.9e14])
@pytest.mark.parametrize("power", [0.3, 1.0, 4.0])
def test_crossing_finds_the_least_argument(root, power):
    calls = []

    def excess(x):
        calls.append(x)
        return np.inf if x < 0.01 * root else power * np.log(root / x)

    up = crossing(excess, 0.5, 10**15, lambda x, up: np.ceil(x) if up else np.floor(x))
    assert up == np.ceil(root)
    assert len(calls) < 60
    near = crossing(excess, 1e-6, 1e15, lambda x, up: x * (1.0 + (3e-7 if up else -3e-7)))
    assert root <= near <= root * (1.0 + 1e-6)
    assert crossing(excess, 0.5, 0.9 * root, lambda x, _: x) is None


def test_numbers_of_records_are_looked_for_up_to_a_thousand_million_millions():
    def needed(target):
        crowd = Groups(10**6)
        return plan(Euclidean(1), 1.0, 10**8, PureDP(1.0), target_error=target, adjacency=crowd)[
            "riemannian-laplace"
        ].required_n

    assert 4.9e14 < needed(4e-9) < 5.1e14
    assert needed(1e-9) is None


def test_target_error_beyond_reach_is_none():
    row = plan(Sphere(2), 0.5, 10, PureDP(1.0), target_error=1e-30)["riemannian-laplace"]
    assert row.required_n is None
    assert row.required_budget is None


def test_noise_that_several_mechanisms_share_has_one_line():
    flat = plan(Euclidean(2), 1.0, 500, ApproxDP(1.0, 1e-6))
    assert [row.mechanism for row in flat.distinct if row.summary != "refined-mean"] == [
        "riemannian-laplace",
        "riemannian-gaussian",
    ]
    text = str(flat)
    assert "wrapped-laplace" not in text
    assert "not listed" in text
    curved = plan(Sphere(2), 1.0, 500, ApproxDP(1.0, 1e-6))
    assert curved.distinct == curved.rows
    assert flat["wrapped-laplace"].sigma == flat["riemannian-laplace"].sigma


def test_text_is_a_table():
    text = str(plan(Hyperbolic(2), 1.0, 100, PureDP(1.0), target_error=0.1))
    assert "tangent-laplace" in text
    assert "n needed" in text
    assert "riemannian-gaussian: " in text


@pytest.mark.slow
def test_affine_invariant_matrices_have_every_row():
    table = plan(SPDAffineInvariant(3), 1.0, 100, ApproxDP(1.0, 1e-6))
    assert all(row.problem is None for row in table)
    means = [*2 * ["frechet-mean"], *2 * ["tangent-mean"], *2 * ["frechet-mean"], "refined-mean"]
    assert [row.summary for row in table] == means
    for each in (table, plan(SPDAffineInvariant(10), 1.0, 100, GDP(1.0))):
        assert each.best.summary == "frechet-mean"
        assert each.best.expected_distance <= 1.001 * min(row.expected_distance for row in each)


# epsilon at which sigma has this share of the limit that the Laplace law exists under
@pytest.mark.parametrize(
    ("share", "words"),
    [
        pytest.param(0.8, "seconds", marks=pytest.mark.slow),
        (0.985, "seconds"),
        (1.01, "pure epsilon above"),
    ],
)
def test_what_has_no_law_or_no_draws_is_said_in_the_plan(share, words):
    limit = np.sqrt(12.0 / (30 * (30**2 - 1)))
    table = plan(SPDAffineInvariant(30), 1.0, 100, PureDP(0.02 / (share * limit)))
    assert words in table["riemannian-laplace"].problem
    assert table.best.mechanism == "wrapped-laplace"


def test_a_gaussian_without_a_proof_is_said_in_the_plan():
    table = plan(SPDAffineInvariant(30), 3.0, 2, GDP(1.0))
    assert "at least sensitivity sqrt(k/3)" in table["riemannian-gaussian"].problem
    assert table.best.mechanism == "wrapped-gaussian"


@pytest.mark.fast(1)
@pytest.mark.parametrize(
    ("manifold", "budget", "said"),
    [
        (Sphere(2), PureDP(1.0), True),
        (Sphere(2), ApproxDP(1.0, 1e-6), False),
        (SPDAffineInvariant(2), PureDP(1.0), False),
    ],
    ids=str,
)
def test_conformal_mechanisms_are_named_where_they_work(manifold, budget, said):
    table = plan(manifold, 0.5, 100, budget)
    assert ("ConformalLaplace" in str(table)) == said
    assert bool(table.notes) == said


def test_bad_input():
    with pytest.raises(riemdp.UnsupportedBallError):
        plan(Sphere(2), 4.0, 10, PureDP(1.0))
    with pytest.raises(riemdp.InvalidParameterError):
        plan(Sphere(2), 0.5, 0, PureDP(1.0))
    with pytest.raises(riemdp.InvalidParameterError, match="budget"):
        plan(Sphere(2), 0.5, 10, 1.0)
    with pytest.raises(riemdp.InvalidParameterError, match="manifold"):
        plan("sphere", 0.5, 10, PureDP(1.0))
    with pytest.raises(riemdp.InvalidParameterError, match="target_error"):
        plan(Sphere(2), 0.5, 10, PureDP(1.0), target_error=-1.0)
    for target in ("x", True, np.inf, [1.0]):
        with pytest.raises(riemdp.InvalidParameterError, match="target_error"):
            plan(Sphere(2), 0.5, 10, PureDP(1.0), target_error=target)
    for n in (10**400, "x", 2.5):
        with pytest.raises(riemdp.InvalidParameterError, match="n, the number of points"):
            plan(Sphere(2), 0.5, n, PureDP(1.0))
    with pytest.raises(riemdp.InvalidParameterError, match="got ndarray"):
        plan(np.array([271828.0]), 0.5, 10, PureDP(1.0))


@pytest.mark.parametrize(
    "budget",
    [
        PureDP(0.5),
        ApproxDP(0.5, 1e-6),
        GDP(0.5),
        ZCDP(0.5, 0.1),
        KLDP(0.5),
        MeanCDP(0.25, 0.5),
        RDP(3.0, 0.5),
        RaoDP(0.5, distance="angle"),
        RaoDP(0.5, distance="parametric"),
    ],
    ids=str,
)
def test_a_family_of_budgets_keeps_what_is_not_searched_for(budget):
    family = budget.at
    assert family(0.5) == budget
    assert type(family(1.0)) is type(budget)
    if isinstance(budget, MeanCDP):
        assert family(1.0) == MeanCDP(0.5, 1.0)


@pytest.mark.parametrize(
    ("function", "most"),
    [
        (lambda x: math.log(37.0 / x), 4),
        (lambda x: math.log(37.0 / x) if x > 5.0 else math.inf, 5),
        (lambda x: 2.0 * math.log(3e4 / x), 8),
    ],
)
def test_crossing_asks_few_times(function, most):
    asked = []
    found = crossing(
        lambda x: asked.append(x) or function(x),
        1.0,
        1e12,
        lambda x, up: math.ceil(x) if up else math.floor(x),
    )
    assert found in (37.0, 3e4)
    assert len(asked) <= most


def test_how_far_budgets_are_searched():
    """Up to epsilon = 1e6: what needs more is said to need what is not there."""
    line = riemdp.Euclidean(1)
    one = plan(line, 0.5, 10, PureDP(1.0))["riemannian-laplace"].expected_distance
    for epsilon, found in ((999_999.6, True), (1_000_001.0, False)):
        row = plan(line, 0.5, 10, PureDP(1.0), target_error=one / epsilon)["riemannian-laplace"]
        assert (row.required_budget is not None) == found


def test_noise_does_not_depend_on_a_number_that_is_private():
    few, many = (
        plan(Sphere(2), 0.5, n, GDP(0.5), adjacency="add-remove", target_error=0.01)
        for n in (100, 1000)
    )
    rows = few["tangent-gaussian"], many["tangent-gaussian"]
    assert rows[0].sigma == rows[1].sigma
    assert rows[0].sensitivity == rows[1].sensitivity
    assert rows[0].expected_distance == pytest.approx(10.0 * rows[1].expected_distance)
    assert rows[0].required_n == rows[1].required_n
    enough = plan(Sphere(2), 0.5, rows[0].required_n, GDP(0.5), adjacency="add-remove")
    assert enough["tangent-gaussian"].expected_distance <= 0.01
    assert few.budget == GDP(0.5, adjacency="add-remove")
    assert "n is private, and supposed here" in str(few)
    assert "supposed" not in str(plan(Sphere(2), 0.5, 100, GDP(0.5)))
    with pytest.raises(riemdp.InvalidParameterError, match="n, the number"):
        plan(Sphere(2), 0.5, 0, GDP(0.5), adjacency="add-remove")
    found = plan(Sphere(2), 0.5, 4000, GDP(0.5), adjacency="add-remove", method="adaptive").search
    assert found.if_wide > plan(Sphere(2), 0.5, 4000, GDP(0.5), method="adaptive").search.if_wide
    with pytest.raises(riemdp.UnsupportedError, match="search"):
        plan(Sphere(2), 0.5, 100, GDP(0.5), adjacency=Groups(2), method="adaptive")


def test_people_are_planned_for_by_their_number():
    people = plan(Sphere(2), 0.5, None, GDP(0.5), users=True, people=100)
    records = plan(Sphere(2), 0.5, 100, GDP(0.5))
    assert people.budget == GDP(0.5, adjacency="replace-user")
    assert people.n == 100
    assert people["tangent-gaussian"].sigma == records["tangent-gaussian"].sigma
    supposed = plan(Sphere(2), 0.5, 100, GDP(0.5), users=True)
    assert supposed.budget == GDP(0.5, adjacency="add-remove-user")
    more = plan(Sphere(2), 0.5, 200, GDP(0.5), users=True)  # noise does not follow a private number
    assert supposed["tangent-gaussian"].sigma == more["tangent-gaussian"].sigma
    for options, said in (
        ({"n": 100, "users": True, "people": 100}, "None for n"),
        ({"n": 100, "users": True, "adjacency": "replace-one"}, "people="),
        ({"n": None, "people": 100}, "users="),
        ({"n": None, "users": True}, "n, the number"),
    ):
        with pytest.raises(riemdp.InvalidParameterError, match=said):
            plan(Sphere(2), 0.5, budget=GDP(0.5), **options)


@pytest.mark.fast("1.0-500")
@pytest.mark.parametrize(("radius", "n"), [(3.0, 20), (1.0, 500)])
def test_the_best_row_is_what_auto_takes_and_no_mean_made_on_request(radius, n):
    """Where the ball is large, a refined mean has less noise; it is not what is released."""
    space, budget = riemdp.SPDAffineInvariant(3), GDP(0.3)
    table = plan(space, radius, n, budget)
    points = np.stack([np.eye(3)] * n)
    release = private_mean(points, riemdp.Ball(space, np.eye(3), radius), budget)
    best = table.best
    assert (best.mechanism, best.summary) == (release.mechanism.name, release.statistic.name)
    refined = next(row for row in table if row.summary == "refined-mean")
    assert (refined.expected_distance < best.expected_distance) == (radius == 3.0)
    asked = plan(space, radius, n, budget, statistic=riemdp.statistics.RefinedMean())
    assert asked.best.summary == "refined-mean"


def test_a_row_has_a_text_without_what_is_not_known():
    row = plan(Euclidean(2), 1.0, 100, GDP(1.0), mechanisms=["tangent-gaussian"]).best
    lines = str(row).splitlines()
    assert lines[0] == "tangent-gaussian for the frechet-mean"
    assert f"expected distance  {row.expected_distance:.4g}" in str(row)
    assert "problem" not in str(row)
    assert "0.0000" not in row._repr_html_()
