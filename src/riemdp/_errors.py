"""Every error riemdp raises on purpose, under one base class."""


class RiemdpError(Exception):
    """Base class of all errors of this library."""


class NotOnManifoldError(RiemdpError, ValueError):
    """Data break a condition of their space: shape, finiteness, norm, symmetry, definiteness.

    The message names the first bad row and the broken condition, never the coordinates.
    """


class CutLocusError(RiemdpError, ValueError):
    """The logarithm was asked for at a cut point (the exact antipode on a sphere)."""


class UnsupportedError(RiemdpError, ValueError):
    """Not available here: another mechanism, space, ball or definition may be.

    Decided by public numbers alone. ``plan`` lists what raises it as not available, with the
    message, and ``"auto"`` takes something else.
    """


class UnsupportedManifoldError(UnsupportedError):
    """The operation is not available on this manifold; the message names what is."""


class UnsupportedBallError(UnsupportedError):
    """The ball is too large for the curvature, or does not contain what it has to contain."""


class UnsupportedNeighboursError(UnsupportedError):
    """No guarantee is known for this relation between data sets; the message names others."""


class InvalidParameterError(RiemdpError, ValueError):
    """A parameter lies outside its domain; the message names value, limit and way out."""


class InvalidBudgetError(InvalidParameterError):
    """A privacy parameter lies outside its domain."""


class UnsupportedBudgetError(UnsupportedError, InvalidBudgetError):
    """The mechanism cannot be held against this privacy definition; the message names others."""


class NotAttainableError(UnsupportedError):
    """No noise scale attains the budget, or no probability law exists at this scale."""


class NoConversionError(UnsupportedError):
    """No true conversion exists between two privacy definitions."""


class ConvergenceError(RiemdpError, ArithmeticError):
    """An iteration did not reach its public tolerance; the message says what to change."""


class UnprovenMechanismError(RiemdpError, ValueError):
    """The guarantee is not proved and the caller did not say ``allow_unproven=True``."""


class BudgetExceededError(RiemdpError, ValueError):
    """A release would spend more than what is left; the message names both amounts."""


class InsufficientSamplesError(RiemdpError, ValueError):
    """Too few samples for the statement; the message says how many are needed."""
