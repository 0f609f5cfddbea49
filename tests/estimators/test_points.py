"""Rows that are points: their containers, their shape, and how many features they have."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn

import laws
import riemdp
from riemdp import Euclidean, InvalidParameterError, Sphere
from riemdp.estimators import (
    NotPrivateWarning,
    PrivateFrechetMean,
    PrivateMDM,
    PrivateTangentLDA,
    PrivateTangentPCA,
    PrivateTangentRegression,
    PrivateTangentSpace,
    PublicProjection,
    _points,
)
from riemdp.estimators._points import checked_vectors, rows_of
from riemdp.ledger import Ledger


def test_containers(plane, budget, blobs):
    points, labels = blobs
    expected = PrivateMDM(plane, budget, ["a", "b"], random_state=1).fit(points, labels)
    frame = pd.DataFrame(points, columns=["x", "y"], index=np.arange(240)[::-1])
    series = pd.Series(labels, index=np.arange(1000, 1240))
    for X, y in ((points.tolist(), labels.tolist()), (frame, series), (frame, labels.astype("O"))):
        mdm = PrivateMDM(plane, budget, ["a", "b"], random_state=1).fit(X, y)
        np.testing.assert_array_equal(mdm.means_, expected.means_)
        np.testing.assert_array_equal(mdm.predict(X), expected.predict(points))
    assert mdm.feature_names_in_.tolist() == ["x", "y"]
    with pytest.raises(ValueError, match="feature names"):
        mdm.predict(frame[["y", "x"]])


def test_features_are_counted(plane, budget, blobs):
    mean = PrivateTangentSpace(plane, budget).fit(blobs[0])
    with pytest.raises(ValueError, match=r"X has 3 features, but .*Space is expecting 2"):
        mean.transform(np.zeros((4, 3)))
    with pytest.raises(riemdp.NotOnManifoldError, match="shape"):
        PrivateTangentSpace(plane, budget).fit(np.zeros((4, 3)))


def test_rows():
    assert rows_of([[1.0, 2.0]], (2,), "X").shape == (1, 2)
    for wrong in ([1.0, 2.0], 3.0, [[[1.0]]], [[1.0], [1.0, 2.0]]):
        with pytest.raises(riemdp.NotOnManifoldError, match=r"Z must have shape \(n, 2\)"):
            rows_of(wrong, (2,), "Z")
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="sparse"):
        rows_of(sparse.eye(3).tocsr(), (3,), "X")


def test_shapes_are_written_in_complex_numbers():
    random = np.random.default_rng(0)
    rows = np.array([1.0, 2.0j, -1.5, -1.0j]) + 0.1 * random.normal(size=(60, 4, 2)) @ [1.0, 1.0j]
    ball = riemdp.Ball(riemdp.PlanarShapes(4), rows[0], 0.5)
    pairs = np.stack([rows.real, rows.imag], axis=-1)
    with pytest.warns(NotPrivateWarning):
        found = [
            PrivateTangentSpace(ball, riemdp.GDP(2.0), random_state=1).fit(X) for X in (rows, pairs)
        ]
    assert found[0].reference_.tobytes() == found[1].reference_.tobytes()
    assert found[0].reference_.dtype == np.complex128
    vectors = found[0].transform(rows)
    assert vectors.shape == (60, 4)
    assert vectors.tobytes() == found[1].transform(pairs).tobytes()
    plane = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    with pytest.raises(riemdp.NotOnManifoldError, match="real numbers"):
        PrivateTangentSpace(plane, riemdp.GDP(2.0)).fit(np.ones((4, 2)) + 0j)


def test_vectors():
    assert checked_vectors([[1.0, 2.0]], 2).shape == (1, 2)
    for wrong in ([[1.0]], [1.0, 2.0], [[np.nan, 1.0]]):
        with pytest.raises(InvalidParameterError, match="X must have"):
            checked_vectors(wrong, 2)


def test_axes_of_points_are_a_tag(cone, plane, budget):
    points, _, ball = cone
    flat, matrices = PrivateFrechetMean(plane, budget), PrivateFrechetMean(ball, budget)
    assert matrices.fit(points).n_features_in_ == 3
    assert (flat._more_tags()["X_types"], matrices._more_tags()["X_types"]) == (
        ["2darray"],
        ["3darray"],
    )
    if not hasattr(sklearn.utils, "get_tags"):
        pytest.skip("before scikit-learn 1.6")
    assert sklearn.utils.get_tags(matrices).input_tags.three_d_array
    assert not sklearn.utils.get_tags(flat).input_tags.three_d_array
    assert sklearn.utils.get_tags(flat).non_deterministic
    assert not sklearn.utils.get_tags(flat.set_params(random_state=0)).non_deterministic


def transformers(ball, budget, public):
    return [
        PrivateTangentPCA(ball, budget, n_components=2, random_state=1),
        PrivateTangentSpace(ball, budget, random_state=1),
        PrivateMDM(ball, budget, ["a", "b"], random_state=1),
        PublicProjection(public, ball, 2),
    ]


@pytest.mark.fast(
    "Euclidean(dim=253)-C-2", "Euclidean(dim=253)-C-3", "Sphere(dim=20, curvature=1.0)-F-1"
)
@pytest.mark.parametrize("which", range(4))
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("space", [Euclidean(253), Sphere(20)], ids=str)
def test_what_becomes_of_a_record_does_not_depend_on_the_others(space, order, which, budget):
    """Products of one row, and of very many, add in another order than those of some rows."""
    rng = np.random.default_rng(0)
    ball = riemdp.Ball(space, space.origin, 1.0)
    points = ball.point(0.3 * rng.normal(size=(1318, space.dim)) / np.sqrt(space.dim))
    points[:, -1] *= 1.0 + 1e-9 * rng.normal(size=len(points))  # on a sphere, mended
    labels = np.where(np.arange(len(points)) % 2, "a", "b")
    made = transformers(ball, budget, points[:300])[which].fit(points, labels)
    whole = made.transform(np.asarray(points, order=order))
    for rows in (slice(0, 1317), slice(0, 2), slice(0, 1), slice(7, 8)):
        np.testing.assert_array_equal(
            made.transform(np.asarray(points[rows], order=order)), whole[rows]
        )
    assert made.transform(points[:0]).shape == (0, whole.shape[1])


def asked(ball):
    """What fitted estimators answer about records, by name; what they have learned is made up."""
    space, random = ball.manifold, np.random.default_rng(3)
    dim = space.dim
    points = ball.point(ball.reach * random.normal(size=(3, dim)) / (3.0 * np.sqrt(dim)))
    vectors = np.linalg.qr(random.normal(size=(dim, dim)))[0]
    budget, classes = riemdp.GDP(1.0), ["a", "b", "c"]
    learned = {
        "means_": points,
        "reference_": points[0],
        "base_": points[0],
        "offset_": 0.1 * vectors[0],
        "components_": vectors[: min(dim, 2)],
        "coef_": random.normal(size=(3, dim)),
        "intercept_": random.normal(size=3),
        "classes_": np.array(classes),
    }
    made = {
        "mdm": PrivateMDM(ball, budget, classes),
        "space": PrivateTangentSpace(ball, budget),
        "pca": PrivateTangentPCA(ball, budget),
        "lda": PrivateTangentLDA(ball, budget, classes),
        "projection": PublicProjection(points, ball, 1),
    }
    for each in made.values():
        each._rows(points, reset=True)
        vars(each).update(learned)
        vars(each).pop("_n_features_out", None)
    names = ("transform", "predict", "predict_proba", "predict_log_proba", "decision_function")
    return {
        f"{kind} {name}": getattr(each, name)
        for kind, each in made.items()
        for name in names
        if hasattr(each, name)
    }


def strided(rows):
    """The same rows, apart in memory."""
    wide = np.empty((2 * len(rows), *rows.shape[1:]))
    wide[::2] = rows
    return wide[::2]


#: How records may come: which of them, and how they lie in memory.
WAYS = {
    "alone": lambda rows: [(slice(i, i + 1), rows[i : i + 1]) for i in (0, 128, 256, 259)],
    "few": lambda rows: [(slice(1, 4), rows[1:4]), (slice(254, 258), rows[254:258])],
    "permuted": lambda rows: [(order := np.random.default_rng(1).permutation(260), rows[order])],
    "backwards": lambda rows: [(slice(None, None, -1), rows[::-1])],
    "strided": lambda rows: [(slice(None), strided(rows)), (slice(0, 260, 3), rows[::3])],
    "Fortran order": lambda rows: [(slice(None), np.asfortranarray(rows))],
    "lists": lambda rows: [(slice(0, 2), rows[:2].tolist())],
}


def tame(ball, size):
    """Points of which float64 holds what is asked: behind the wild ones."""
    wild = len(laws.wild_points(ball))
    return laws.points_of(ball, wild + size)[wild:]


def differences(ball):
    """Which answers about a record depend on the others, or on how they lie in memory."""
    rows = tame(ball, 260)  # more than a tile
    for name, ask in asked(ball).items():
        whole = ask(rows)
        for way, several in WAYS.items():
            if any(
                ask(given).tobytes() != whole[which].tobytes() for which, given in several(rows)
            ):
                yield name, way


@pytest.mark.fast(16)
@pytest.mark.parametrize("place", laws.BALLS)
def test_an_answer_about_a_record_depends_on_no_other_on_any_space(place):
    assert list(differences(laws.BALLS[place]())) == []


@pytest.mark.fast(8)
@pytest.mark.parametrize("place", laws.BALLS)
def test_a_point_that_is_made_depends_on_no_other(place):
    ball = laws.BALLS[place]()
    ask, dim = asked(ball), ball.manifold.dim
    line = PrivateTangentRegression(ball, riemdp.GDP(1.0), -1.0, 1.0)
    line._covariates(np.zeros(3), reset=True)
    random = np.random.default_rng(0)
    space, pca = (ask[f"{name} transform"].__self__ for name in ("space", "pca"))
    line.base_, line.intercept_ = pca.base_, np.zeros(dim)
    line.coef_ = ball.reach * np.ones(dim) / np.sqrt(dim)
    space._n_features_out = dim
    for make, given in (
        (line.predict, random.normal(size=300)),
        (space.inverse_transform, 0.2 * ball.reach * random.normal(size=(300, dim))),
        (pca.inverse_transform, 0.2 * ball.reach * random.normal(size=(300, min(dim, 2)))),
    ):
        whole = make(given)
        assert whole.shape == (300, *ball.manifold.point_shape)
        for which in (slice(0, 1), slice(255, 258), slice(None, None, -1)):
            assert make(given[which]).tobytes() == whole[which].tobytes()


@pytest.mark.fast(16)
@pytest.mark.parametrize("place", laws.BALLS)
def test_answers_are_those_of_the_space(place):
    ball = laws.BALLS[place]()
    space, ask = ball.manifold, asked(ball)
    mdm, other = ask["mdm transform"].__self__, ask["space transform"].__self__
    points = space.validate(tame(ball, 20))
    distances = np.stack([space.dist(points, mean) for mean in mdm.means_], axis=1)
    near = {"rtol": 1e-7, "atol": 1e-7 * min(ball.reach, 1.0)}
    np.testing.assert_allclose(mdm.transform(points), distances, **near)
    np.testing.assert_array_equal(mdm.predict(points), mdm.classes_[distances.argmin(axis=1)])
    vectors = space.coordinates(other.reference_, points)
    np.testing.assert_allclose(other.transform(points), vectors, **near)


def test_the_control_of_records_in_one_array(monkeypatch):
    """Where a space counts rows, and is asked about all of them at once, it is seen."""
    real = Euclidean.coordinates

    def counting(self, center, points):
        return real(self, center, points) + 1e-12 * len(np.atleast_2d(points))

    monkeypatch.setattr(Euclidean, "coordinates", counting)
    ball = laws.BALLS["euclidean"]()
    assert list(differences(ball)) == []  # tiles have as many rows, whatever comes

    def at_once(_, function, points, **__):
        return (function(points), np.zeros(len(points), bool))

    monkeypatch.setattr(_points, "of_each", at_once)
    seen = list(differences(ball))
    assert {("space transform", "alone"), ("lda predict_proba", "few")} <= set(seen)


def test_a_space_that_counts_rows_is_not_heard(plane, budget, blobs, monkeypatch):
    points, labels = blobs
    for name in ("coordinates", "dist", "validate"):
        real = getattr(Euclidean, name)

        def counting(self, *given, real=real):
            found = real(self, *given)
            return found + 1e-6 * (len(given[-1]) if np.ndim(given[-1]) > 1 else 0)

        for made in transformers(plane, budget, points):
            made.fit(points, labels)
            with monkeypatch.context() as patch:
                patch.setattr(Euclidean, name, counting)
                assert len(Euclidean(2).validate(points[:3])) == 3
                np.testing.assert_array_equal(
                    made.transform(points[:5])[:2], made.transform(points[:2])
                )


def test_a_masked_y_is_refused(plane, budget, blobs):
    points, labels = blobs
    with pytest.raises(InvalidParameterError, match="masked"):
        PrivateMDM(plane, budget, ["a", "b"]).fit(points, np.ma.array(labels, mask=labels == "a"))


@pytest.mark.parametrize("missing", [np.nan, None])
def test_a_ledger_is_charged_before_labels_and_covariates_are_looked_at(
    plane, blobs, tmp_path, missing
):
    """What one record decides is no error for free."""
    points = blobs[0]
    ledger = Ledger(tmp_path / "ledger.db")
    numbers = np.r_[np.zeros(120), np.ones(120)].astype(object)
    numbers[3] = missing
    column = numbers if missing is None else numbers.astype(float)
    for name, made, fit in (
        ("a", PrivateMDM(plane, riemdp.GDP(1.0), [0, 1]), lambda made: made.fit(points, column)),
        (
            "b",
            PrivateTangentRegression(plane, riemdp.GDP(1.0), 0.0, 1.0),
            lambda made: made.fit(column, points),
        ),
    ):
        account = ledger.register(name, riemdp.GDP(1.0), unit="record", adjacency="replace-one")
        with pytest.raises(riemdp.ReleaseFailedError):
            fit(made.set_params(accountant=account))
        assert account.remaining is None
        with pytest.raises(riemdp.RiemdpError) as caught:  # the control: without an account
            fit(made.set_params(accountant=None))
        assert not isinstance(caught.value, riemdp.ReleaseFailedError)
