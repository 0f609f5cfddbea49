"""Checked sensitivities."""

from __future__ import annotations

from riemdp._checks import positive


def check_sensitivity(sensitivity: float) -> float:
    """Return a positive finite sensitivity or raise ``InvalidParameterError``.

    Parameters
    ----------
    sensitivity : float

    Returns
    -------
    float
    """
    advice = "it is the largest distance that one record can move the summary"
    return positive(sensitivity, "sensitivity", advice)
