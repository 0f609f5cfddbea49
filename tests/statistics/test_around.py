"""What statistics around another one take over from it."""

import numpy as np
import pytest

from riemdp import InvalidParameterError
from riemdp.statistics import (
    ClassMoments,
    Counted,
    Moments,
    Recentred,
    Records,
    RefinedMean,
)

SUMS = ClassMoments(("a", "b"))
AROUND = [Counted(SUMS, 0.0), Recentred(SUMS), Counted(Recentred(SUMS), 0.5)]


@pytest.mark.parametrize("statistic", AROUND, ids=lambda each: each.name)
def test_records_are_the_business_of_the_inner_statistic(statistic):
    assert statistic.takes == SUMS.takes != Moments().takes
    assert statistic.inside == (statistic.statistic,)
    extras = statistic.typical_extras(5, np.random.default_rng(1))
    expected = SUMS.typical_extras(5, np.random.default_rng(1))
    assert list(extras["labels"]) == list(expected["labels"])
    statistic.check_records(Records(np.zeros((2, 1)), labels=["a", "b"]))
    with pytest.raises(InvalidParameterError, match="label"):
        statistic.check_records(Records(np.zeros((2, 1)), labels=["a", "c"]))


@pytest.mark.parametrize("statistic", [*AROUND, Counted(RefinedMean(), 0.5)])
def test_a_claim_needs_the_proof_of_the_inner_statistic_too(statistic, monkeypatch):
    assert statistic.proofs() == {statistic.name: statistic.proof, **statistic.statistic.proofs()}
    assert None not in statistic.proofs().values()
    monkeypatch.setattr(type(statistic.statistic), "proof", None)
    assert statistic.proofs()[statistic.statistic.name] is None


def test_what_concerns_all_records_is_the_business_of_the_inner_statistic():
    sizes = ClassMoments(("a", "b"), sizes=(2, 1))
    for statistic in (Recentred(sizes), Counted(sizes, 1.0)):
        assert statistic.by_place == ("labels",)
        right = [Records(np.zeros((1, 1)), labels=[each]) for each in ("a", "b", "a")]
        statistic.check_chunks([statistic.check_chunk(each) for each in right])
        with pytest.raises(InvalidParameterError, match="public sizes"):
            statistic.check_chunks([statistic.check_chunk(each) for each in right[:2]])
        statistic.check_size(3)
        with pytest.raises(InvalidParameterError, match="not to n = 4"):
            statistic.check_size(4)
