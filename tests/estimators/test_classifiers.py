"""Labels, and the public classes that they are of."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import DataConversionWarning

from riemdp import GDP, InvalidParameterError, UnsupportedError
from riemdp.estimators import PrivateMDM, PrivateTangentLDA
from riemdp.statistics import ReplacePoint

both = pytest.mark.parametrize("kind", [PrivateMDM, PrivateTangentLDA])


@both
def test_classes_are_sorted_whatever_their_order(kind, plane, budget, blobs):
    points, labels = blobs
    one, two = (
        kind(plane, budget, classes, random_state=1).fit(points, labels)
        for classes in (["a", "b"], ["b", "a"])
    )
    assert one.classes_.tolist() == two.classes_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(one.means_, two.means_)
    assert one.score(points, labels) > 0.9
    assert (one.means_[0] < one.means_[1]).all()


@both
def test_a_class_that_does_not_occur(kind, plane, budget, blobs):
    points, labels = blobs
    found = kind(plane, budget, ["a", "b", "c"], random_state=1).fit(points, labels)
    assert found.classes_.tolist() == ["a", "b", "c"]
    assert abs(found.counts_[2]) < 20.0
    assert found.predict_proba(points).shape == (240, 3)


@both
def test_labels_outside_the_classes_are_refused(kind, plane, budget, blobs):
    points, labels = blobs
    labels = labels.copy()
    labels[5] = "z"
    with pytest.raises(InvalidParameterError, match="row 5: its label is not among") as caught:
        kind(plane, budget, ["a", "b"]).fit(points, labels)
    assert "'z'" not in str(caught.value)
    for classes in (["a"], [], "ab", None, ["a", "a"], [1.5, 2.5]):
        with pytest.raises(InvalidParameterError, match="classes"):
            kind(plane, budget, classes).fit(*blobs)


@both
def test_labels_are_integers_or_texts(kind, plane, budget, blobs):
    points, labels = blobs
    numbers = (labels == "b").astype(int)
    model = kind(plane, budget, [0, 1], random_state=0).fit(points, numbers)
    assert model.predict(points).dtype.kind == "i"
    for wrong in (numbers.astype(float), numbers.astype(bool), numbers + 0.5):
        with pytest.raises(InvalidParameterError, match="Unknown label type"):
            kind(plane, budget, [0, 1]).fit(points, wrong)
    with pytest.raises(InvalidParameterError, match="requires y"):
        kind(plane, budget, [0, 1]).fit(points, None)
    with pytest.raises(InvalidParameterError, match="one for each point"):
        kind(plane, budget, [0, 1]).fit(points, numbers[:-1])
    with pytest.warns(DataConversionWarning):
        column = kind(plane, budget, [0, 1], random_state=0).fit(points, numbers[:, None])
    np.testing.assert_array_equal(column.means_, model.means_)


@both
@pytest.mark.parametrize("text", ["a", "a label of sixteen"])
def test_errors_do_not_tell_the_longest_label(kind, plane, budget, blobs, text):
    points, labels = blobs
    wrong = np.where(labels == "a", text, "b").astype("S")
    with pytest.raises(InvalidParameterError, match="Unknown label type") as caught:
        kind(plane, budget, ["a", "b"]).fit(points, wrong)
    assert str(caught.value) == (
        "Unknown label type: labels must be integers or texts, got byte strings; continuous "
        "targets are for a regression"
    )


@both
def test_public_labels(kind, plane, blobs):
    points, labels = blobs
    options = {"sizes": [120, 120], "adjacency": ReplacePoint(), "base": "public"}
    model = kind(plane, GDP(1.0), ["b", "a"], random_state=0, **options).fit(points, labels)
    assert model.counts_.tolist() == [120.0, 120.0]
    assert model.release_.neighbours == ReplacePoint()
    assert model.score(points, labels) > 0.9
    # sizes go with their classes when these are sorted
    uneven = kind(plane, GDP(1.0), ["b", "a"], **{**options, "sizes": [100, 140]})
    assert uneven._class_moments().classes == ("a", "b")
    assert uneven._class_moments().sizes == (140, 100)
    with pytest.raises(InvalidParameterError, match="sizes"):
        uneven.fit(points, labels)
    with pytest.raises(UnsupportedError, match="public class sizes"):
        kind(plane, GDP(1.0), ["a", "b"], sizes=[120, 120], base="public").fit(points, labels)


@pytest.mark.fast(1)
@both
def test_counts_have_noise(kind, plane, blobs):
    points, labels = blobs
    found = np.array(
        [
            kind(plane, GDP(1.0), ["a", "b"], random_state=i).fit(points, labels).counts_
            for i in range(30)
        ]
    )
    release = kind(plane, GDP(1.0), ["a", "b"], random_state=0).fit(points, labels).release_
    expected = 240 * release.value.shares_sd
    assert 0.6 * expected < np.std(found) < 1.5 * expected
    assert abs(np.mean(found) - 120.0) < expected
