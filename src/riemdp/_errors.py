"""Every error riemdp raises on purpose, under one base class, and its warning."""


class PublicWarning(UserWarning):
    """Something to know before a released value is used.

    Made of public numbers and of what was released, so everybody may read it. Every function that
    makes a release issues one for each text in ``warnings`` of its result, and so does ``fit`` of
    every estimator; commands print them on stderr. Tests that pass ``generator=`` get one which
    says that the release is not private.

    Attributes
    ----------
    release : object
        The result that the text is about. A filter that turns warnings into errors loses no release
        that was paid for: ``error.release`` is that.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     release = riemdp.private_mean(np.full((500, 2), 70.0), ball, riemdp.GDP(2.0))
    >>> said[0].category.__name__, said[0].message.release is release
    ('PublicWarning', True)
    >>> "check the centre, the radius and the units" in str(said[0].message)
    True
    """

    release: object = None


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
    """A release would spend more than is left, or than it may; the message names both amounts."""


class ReleaseFailedError(RiemdpError):
    """A release failed after it was charged, for a reason that may tell of the data.

    The message is always the same. The reason is for the holder of the data, who reads the logger
    ``"riemdp.data_holder"``, or finds it before a release with :func:`riemdp.check`.
    """


class WorkersFailedError(RiemdpError):
    """The workers that a computation was spread over were lost, or do not compute alike.

    Nothing was released, and what was charged before stays charged.
    """


class InsufficientSamplesError(RiemdpError, ValueError):
    """Too few samples for the statement; the message says how many are needed."""


class LedgerError(RiemdpError):
    """A durable account refuses: nothing may be drawn."""


class LedgerUnavailableError(LedgerError):
    """The database did not confirm a charge, or cannot be read: nothing may be drawn.

    Where the message says that the outcome is unknown, the budget may be spent all the same.
    """


class LedgerTamperedError(LedgerError):
    """The ledger is not what was written: its hashes do not match, or it is an older copy."""


class LedgerSchemaError(LedgerError):
    """The tables are of another version of this library, or not there yet."""


class NetworkFileSystemError(LedgerError):
    """A file of SQLite lies where locks of several machines cannot be relied on."""


class UnknownDatasetError(LedgerError, InvalidParameterError):
    """No data set of this name is registered in the ledger."""


class DatasetExistsError(LedgerError, InvalidParameterError):
    """A data set of this name is registered already; its total cannot be set again."""


class DatasetMismatchError(LedgerError, InvalidParameterError):
    """A data set was registered with another unit or adjacency than is asked for."""


class DatasetClosedError(LedgerError, BudgetExceededError):
    """The account of the data set was closed for good."""
