"""Warnings that a fit was not private, or protects less than it may seem to."""

from __future__ import annotations


class NotPrivateWarning(UserWarning):
    """The release of a fit is not private, since its noise did not come of the secure generator.

    ``random_state`` was set: by the caller, for a test, or by an ensemble of scikit-learn, such as
    ``BaggingClassifier``, which sets it in every estimator that it fits.
    """


class RecordLevelWarning(UserWarning):
    """``groups`` was given without ``users``: the fits protect single records, and no person."""
