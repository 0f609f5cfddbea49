"""Whether two releases come from groups with one mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from riemdp import statistics
from riemdp._checks import shown
from riemdp._errors import InvalidParameterError
from riemdp._keywords import with_advice
from riemdp._progress import work
from riemdp.release._release import Release

if TYPE_CHECKING:
    from riemdp.statistics import TwoSampleTest


@with_advice
@work("two_sample_test")
def two_sample_test(a: Release, b: Release) -> TwoSampleTest:
    """Test whether the laws of two groups' clipped records have one mean.

    Sampling and noise are both in the law of the statistic. It is post-processing: it costs no
    privacy. Who belongs to which group is public and no record is in both, so that each guarantee
    is about its own group; each release has its own noise.

    Parameters
    ----------
    a, b : Release
        Of :func:`riemdp.private_moments` with ``second="matrix"``, on the same ball, with Gaussian
        noise.

    Returns
    -------
    TwoSampleTest
        Its ``pvalue`` is valid asymptotically in both numbers of records, as ``note`` says.

    Raises
    ------
    InvalidParameterError
        If an argument is no release, or they are about different balls, statistics or bases.
    UnsupportedError
        If one has no matrix of second moments, was projected or shrunk, or its noise is not
        Gaussian.
    InsufficientSamplesError
        If a group has one record only.

    References
    ----------
    docs/proofs/confidence-regions.md, claim 5

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (500, 2)))
    >>> a, b = (
    ...     riemdp.private_moments(half, ball, riemdp.GDP(1.0), second="matrix")
    ...     for half in (points[:250], points[250:])
    ... )
    >>> riemdp.two_sample_test(a, b).pvalue > 1e-9  # both are from one law
    True
    """
    for release in (a, b):
        if not isinstance(release, Release):
            raise InvalidParameterError(f"both must be a riemdp.Release, got {shown(release)}")
    first, second = a.released_moments(), b.released_moments()
    alike = a.ball == b.ball and a.statistic == b.statistic
    if not alike or not all(np.array_equal(a.value[name], b.value[name]) for name in _SEEN):
        raise InvalidParameterError(
            "means are comparable where records were seen from one base and clipped to one length: "
            "release both with the same statistic on the same ball, and with a public base"
        )
    return statistics.two_sample_test(first, second)


#: What two values have to have alike.
_SEEN = ("base", "clip")
