"""The warning that a fit was not private."""

from __future__ import annotations


class NotPrivateWarning(UserWarning):
    """The release of a fit is not private, since its noise did not come of the secure generator.

    ``random_state`` was set: by the caller, for a test, or by an ensemble of scikit-learn, such as
    ``BaggingClassifier``, which sets it in every estimator that it fits.
    """
