from __future__ import annotations

import os

import numpy as np
import pytest

from riemdp import Ball, Euclidean, InvalidParameterError, PureDP, private_mean
from riemdp.auditing import audit_streams, seeded_release_is_marked
from riemdp.auditing._streams import StreamAudit

BALL = Ball(Euclidean(2), np.zeros(2), 1.0)
POINTS = np.zeros((5, 2))
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")


def release(generator):
    return private_mean(POINTS, BALL, PureDP(1.0), generator=generator).value


@needs_fork
def test_the_secure_generator_does_not_repeat():
    result = audit_streams(release)
    assert result == StreamAudit("fresh", "refused", "refused")
    assert result.verdict == "consistent"


@needs_fork
def test_a_seeded_generator_repeats():
    result = audit_streams(release, generator=np.random.default_rng(0))
    assert result == StreamAudit("repeated", "repeated", "repeated")
    assert result.verdict == "violated"


@needs_fork
def test_any_one_of_them_is_a_violation():
    assert StreamAudit("repeated", "refused", "refused").verdict == "violated"
    assert StreamAudit("unavailable", "fresh", "refused").verdict == "consistent"


@needs_fork
def test_a_release_that_fails_in_the_child():
    parent = os.getpid()

    def fails(generator):
        if os.getpid() != parent:
            raise ValueError
        return 0.0

    with pytest.raises(InvalidParameterError, match="forked"):
        audit_streams(fails)


def test_without_fork(monkeypatch):
    monkeypatch.delattr(os, "fork", raising=False)
    assert audit_streams(release).after_fork == "unavailable"


def test_seeded_releases_are_marked():
    def whole(generator):
        return private_mean(POINTS, BALL, PureDP(1.0), generator=generator)

    class Unmarked:
        private = True

    assert seeded_release_is_marked(whole)
    assert not seeded_release_is_marked(lambda generator: Unmarked())
    with pytest.raises(InvalidParameterError, match="private"):
        seeded_release_is_marked(lambda generator: 1.0)
