"""Nothing in a pipeline learns from the records but private estimators."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    Normalizer,
    PolynomialFeatures,
    StandardScaler,
)

from riemdp import GDP, Accountant, Ball, Euclidean, InvalidParameterError, Sphere, secure_generator
from riemdp.estimators import (
    PrivateFrechetMean,
    PrivateMDM,
    PrivateTangentLDA,
    PrivateTangentSpace,
    check_pipeline,
    make_private_pipeline,
)
from riemdp.estimators._pipeline import PER_RECORD


@pytest.fixture
def last(plane, budget):
    return PrivateMDM(plane, budget, ["a", "b"])


@pytest.mark.parametrize(
    "step",
    [
        StandardScaler(),
        PCA(2),
        FunctionTransformer(lambda X: X - X.mean(axis=0)),  # no fit, and yet not one by one
        FeatureUnion([("all", Normalizer())]),
        ColumnTransformer([("all", Normalizer(), [0, 1])]),
        make_pipeline(Normalizer(), StandardScaler()),
    ],
    ids=lambda step: type(step).__name__,
)
def test_steps_that_may_learn_are_refused(step, last):
    with pytest.raises(InvalidParameterError, match="may learn from the records"):
        make_private_pipeline(step, last)
    with pytest.raises(InvalidParameterError, match="may learn from the records"):
        check_pipeline(Pipeline([("first", step), ("last", last)]))


def test_steps_that_treat_records_one_by_one_pass(last):
    check_pipeline(Pipeline([("first", Normalizer()), ("none", "passthrough"), ("last", last)]))
    check_pipeline(Pipeline([("inner", make_pipeline(Binarizer(), None)), ("last", last)]))
    check_pipeline(Pipeline([("last", last)]))


def test_the_caller_vouches_by_name_or_class(last):
    scaler = StandardScaler()
    for name in ("standardscaler", StandardScaler):
        assert make_private_pipeline(scaler, last, per_record=[name])[0] is scaler
        make_private_pipeline(scaler, last, per_record=name)
    check_pipeline(
        Pipeline([("inner", Pipeline([("deep", scaler)])), ("last", last)]), per_record=["deep"]
    )
    with pytest.raises(InvalidParameterError, match="no step"):
        make_private_pipeline(scaler, last, per_record=["scaler"])
    with pytest.raises(InvalidParameterError, match="StandardScaler"):
        make_private_pipeline(scaler, Normalizer(), last, per_record=[Normalizer])


def test_names_inside_a_step_are_paths(last):
    def halves():
        return Pipeline([("half", FunctionTransformer()), ("norm", Normalizer())])

    model = Pipeline([("a", halves()), ("b", halves()), ("last", last)])
    check_pipeline(model, per_record=["a__half", "b__half"])
    with pytest.raises(InvalidParameterError, match="2 steps are called: a__half, b__half"):
        check_pipeline(model, per_record=["half"])
    with pytest.raises(InvalidParameterError, match="the step b__half "):
        check_pipeline(model, per_record=["a__half"])
    with pytest.raises(InvalidParameterError, match="no step"):
        check_pipeline(model, per_record=["half__half"])
    # a whole name is of its step alone, not of those inside others
    outer = Pipeline([("half", FunctionTransformer()), ("b", halves()), ("last", last)])
    check_pipeline(outer, per_record=["half", "b__half"])
    with pytest.raises(InvalidParameterError, match="the step b__half "):
        check_pipeline(outer, per_record=["half"])


def test_subclasses_of_pipeline_are_refused(last):
    class Resampling(Pipeline):
        per_record = True

    model = Resampling([("norm", Normalizer()), ("last", last)])
    with pytest.raises(InvalidParameterError, match=r"the pipeline is of a subclass .*Resampling"):
        check_pipeline(model)
    for wrong in ("", "Resampling"):
        with pytest.raises(InvalidParameterError, match="no step"):
            check_pipeline(model, per_record=[wrong])
    check_pipeline(model, per_record=[Resampling])
    inner = Pipeline([("first", Resampling([("norm", Normalizer())])), ("last", last)])
    with pytest.raises(InvalidParameterError, match="the step first is of a subclass"):
        check_pipeline(inner)
    for vouched in ("first", Resampling):
        check_pipeline(inner, per_record=[vouched])
    learns = Resampling([("scale", StandardScaler()), ("last", last)])
    with pytest.raises(InvalidParameterError, match="the step scale "):
        check_pipeline(learns, per_record=[Resampling])


@pytest.mark.parametrize("source", [0, np.random.default_rng(0), np.random.RandomState(0)])
def test_seeded_noise_is_refused(last, source):
    last.random_state = source
    with pytest.raises(InvalidParameterError, match=r"\(PrivateMDM\) has a random_state"):
        make_private_pipeline(Normalizer(), last)
    with pytest.raises(InvalidParameterError, match="the step inner__last "):
        check_pipeline(Pipeline([("inner", Pipeline([("last", last)]))]))
    # negative control
    last.random_state = secure_generator()
    make_private_pipeline(Normalizer(), last)


def test_own_transformers_may_say_so(last):
    class Halves(FunctionTransformer):
        per_record = True

    class Claims(FunctionTransformer):
        per_record = "yes"

    make_private_pipeline(Halves(lambda X: X / 2.0), last)
    with pytest.raises(InvalidParameterError, match="Claims"):
        make_private_pipeline(Claims(), last)
    with pytest.raises(InvalidParameterError, match="Below"):  # a subclass may learn
        make_private_pipeline(type("Below", (Normalizer,), {})(), last)


def test_what_learns_behind_a_private_step_is_refused(plane, budget):
    space = PrivateTangentSpace(plane, budget)
    with pytest.raises(InvalidParameterError, match="LogisticRegression"):
        make_private_pipeline(space, LogisticRegression())
    with pytest.raises(InvalidParameterError, match="nothing in this pipeline is private"):
        make_private_pipeline(Normalizer())
    for wrong in (space, [space], None):
        with pytest.raises(InvalidParameterError, match="must be a sklearn"):
            check_pipeline(wrong)


def test_two_private_steps_have_one_account(plane, blobs):
    account = Accountant(GDP(1.0))
    space = PrivateTangentSpace(plane, GDP(0.6), accountant=account)
    ball = Ball(Euclidean(2), np.zeros(2), 2.0)
    lda = PrivateTangentLDA(ball, GDP(0.8), ["a", "b"], accountant=account)
    model = make_private_pipeline(space, lda)
    space.random_state = lda.random_state = 0  # after the check, which refuses it
    model.fit(*blobs)
    assert [entry.guarantee for entry in account.ledger] == [GDP(0.6), GDP(0.8)]
    assert account.remaining is None
    assert model.score(*blobs) > 0.9


def test_pyriemann_in_front(budget, cone):
    """Signals to covariances to classes; of classes of signals whose power differs."""
    estimation = pytest.importorskip("pyriemann.estimation")
    rng = np.random.default_rng(1)
    labels = np.repeat([3, 7], 60)
    signals = rng.normal(size=(120, 3, 30))
    signals[:60, 0] *= 2.5
    mdm = PrivateMDM(cone[2], GDP(3.0), [3, 7])
    model = make_private_pipeline(estimation.Covariances("oas"), mdm)
    mdm.random_state = 0
    assert model.fit(signals, labels).score(signals, labels) > 0.9
    with pytest.raises(InvalidParameterError, match="may learn"):
        make_private_pipeline(estimation.ERPCovariances(), mdm)


def known_steps():
    found = {"sklearn": [Binarizer(), Normalizer(), PolynomialFeatures()], "pyriemann": []}
    try:
        from pyriemann.estimation import Covariances, Shrinkage
    except ImportError:
        return found
    return {**found, "pyriemann": [Covariances(), Covariances("oas"), Shrinkage()]}


def test_known_steps_treat_records_one_by_one():
    """Neither other records in the fit nor in the batch change what becomes of one."""
    rng = np.random.default_rng(0)
    given = {
        "Covariances": [rng.normal(size=(9, 3, 20)) for _ in range(2)],
        "Shrinkage": [rng.normal(size=(9, 3, 3)) for _ in range(2)],
    }
    given["Shrinkage"] = [m @ m.transpose(0, 2, 1) for m in given["Shrinkage"]]
    tested = set()
    for package, steps in known_steps().items():
        for step in steps:
            name = type(step).__name__
            first, second = given.get(name, [rng.normal(size=(9, 3)) for _ in range(2)])
            whole = step.fit(first).transform(first)
            alone = step.fit(np.concatenate([second, first])).transform(first[4:5])
            np.testing.assert_allclose(alone[0], whole[4], rtol=1e-12)
            kept = [value for value in vars(step).values() if isinstance(value, np.ndarray)]
            assert not any(np.isin(first, value).any() for value in kept)
            tested.add(f"{package}.{name}")
    assert tested == PER_RECORD or "pyriemann.Covariances" not in tested
    # negative control
    scaler = StandardScaler()
    first, second = (rng.normal(size=(9, 3)) for _ in range(2))
    assert not np.allclose(scaler.fit(first).transform(first), scaler.fit(second).transform(first))


def test_records_normed_onto_a_sphere(budget):
    rng = np.random.default_rng(0)
    labels = np.repeat(["a", "b"], 200)
    points = rng.normal([0.0, 0.0, 1.0], 0.3, (400, 3))
    points[:, 0] += np.where(labels == "a", 0.5, -0.5)
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.5)
    model = make_private_pipeline(Normalizer(), PrivateMDM(ball, budget, ["a", "b"]))
    model.set_params(privatemdm__random_state=0)
    assert model.fit(points, labels).score(points, labels) > 0.85
    mean = make_private_pipeline(Normalizer(), PrivateFrechetMean(ball, budget)).fit(points)
    assert mean[-1].private_
