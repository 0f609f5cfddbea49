"""Pipelines in which nothing learns from the records but private estimators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from riemdp._checks import kind_of
from riemdp._errors import InvalidParameterError
from riemdp.estimators._base import PrivateEstimator, draws_secretly
from riemdp.estimators._scikit_learn import Pipeline, make_pipeline

#: Classes of other packages whose ``fit`` learns nothing but the number of features, and whose
#: ``transform`` treats each record by itself and keeps none, whatever their parameters are.
PER_RECORD = frozenset(
    {
        "sklearn.Binarizer",
        "sklearn.Normalizer",
        "sklearn.PolynomialFeatures",
        "pyriemann.Covariances",
        "pyriemann.Shrinkage",
    }
)


def make_private_pipeline(
    *steps: Any, per_record: Iterable[str | type] = (), memory: Any = None, verbose: bool = False
) -> Any:
    """Make a pipeline in which nothing learns from the records but private estimators.

    Parameters
    ----------
    *steps : estimators
        As in :func:`sklearn.pipeline.make_pipeline`.
    per_record : iterable of str or type
        See :func:`check_pipeline`.
    memory, verbose
        As in :func:`sklearn.pipeline.make_pipeline`. What ``memory`` keeps on the disk is private.

    Returns
    -------
    sklearn.pipeline.Pipeline

    Raises
    ------
    InvalidParameterError
        If a step may learn from the records.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp import Ball, GDP, Sphere
    >>> from riemdp.estimators import PrivateMDM, make_private_pipeline
    >>> from sklearn.preprocessing import Normalizer, StandardScaler
    >>> ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.5)
    >>> mdm = PrivateMDM(ball, GDP(1.0), classes=["a", "b"])
    >>> [name for name, _ in make_private_pipeline(Normalizer(), mdm).steps]
    ['normalizer', 'privatemdm']
    >>> make_private_pipeline(StandardScaler(), mdm)
    Traceback (most recent call last):
        ...
    riemdp._errors.InvalidParameterError: the step standardscaler (StandardScaler) may learn ...
    """
    made = make_pipeline(*steps, memory=memory, verbose=verbose)
    check_pipeline(made, per_record=per_record)
    return made


def check_pipeline(pipeline: Any, *, per_record: Iterable[str | type] = ()) -> None:
    """Refuse a pipeline in which something else than a private estimator may learn from records.

    What a step learns of all records gets into each of them, and the next step's proof, which is
    about one record that changes, is void. A step cannot see what comes before it: hence this.

    A step passes that is a private estimator, which pays for what it learns; that has an attribute
    ``per_record = True``, such as :class:`PublicProjection`; that is of one of a few classes of
    scikit-learn and pyRiemann that are known to treat each record by itself; or that the caller
    vouches for. scikit-learn's tag ``requires_fit=False`` is not enough: it says that nothing is
    kept of a fit, not that records are treated one by one.

    Parameters
    ----------
    pipeline : sklearn.pipeline.Pipeline
        Pipelines inside it are checked step by step. A subclass, which may do anything between
        its steps, is refused unless the caller vouches for it, and its steps are checked as well.
    per_record : iterable of str or type
        Names or classes of steps which, to the caller's knowledge, treat each record by itself and
        have learned, if anything, of public data. The name of a step inside another is
        ``"outer__inner"``, as in ``set_params``; its last part alone will do where no other step
        has it. ``pipeline`` itself has no name: its class stands for it.

    Raises
    ------
    InvalidParameterError
        If a step may learn from the records, none is private, the noise of a private one is seeded
        by ``random_state``, a name is of no step or of several, or it is no pipeline.

    Notes
    -----
    The pipeline is checked as it is: what ``set_params`` changes later is not.

    Examples
    --------
    >>> from sklearn.pipeline import Pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from riemdp import InvalidParameterError
    >>> from riemdp.estimators import check_pipeline
    >>> try:
    ...     check_pipeline(Pipeline([("scale", StandardScaler())]))
    ... except InvalidParameterError as error:
    ...     print(str(error)[:43])
    the step scale (StandardScaler) may learn f
    """
    if not isinstance(pipeline, Pipeline):
        raise InvalidParameterError(
            f"pipeline must be a sklearn.pipeline.Pipeline, got {kind_of(pipeline)}"
        )
    given = (per_record,) if isinstance(per_record, (str, type)) else tuple(per_record)
    steps = tuple(steps_of(pipeline, ()))
    vouched = [index for each in given for index in _meant(each, steps)]
    private = False
    for index, (path, step) in enumerate(steps):
        name = "__".join(path)
        if isinstance(step, PrivateEstimator):
            private = True
            _check_noise(name, step)
        elif index not in vouched and not _is_per_record(step):
            raise InvalidParameterError(_refusal(name, step))
    if not private:
        raise InvalidParameterError("nothing in this pipeline is private: end it with an estimator")


def steps_of(step: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Paths and estimators of the steps, those of pipelines inside too."""
    if isinstance(step, Pipeline):
        if type(step) is not Pipeline:
            yield path, step
        for name, each in step.steps:
            yield from steps_of(each, (*path, name))
    elif step is not None and step != "passthrough":
        yield path, step


def _meant(given: str | type, steps: tuple[tuple[tuple[str, ...], Any], ...]) -> list[int]:
    """Return which steps a caller vouches for: all of a class, or the one of a name."""
    if isinstance(given, type):
        found = [i for i, (_, step) in enumerate(steps) if type(step) is given]
    else:
        found = [i for i, (path, _) in enumerate(steps) if path and "__".join(path) == given]
        found = found or [i for i, (path, _) in enumerate(steps) if path[-1:] == (given,)]
        if len(found) > 1:
            paths = ", ".join("__".join(steps[i][0]) for i in found)
            raise InvalidParameterError(
                f"per_record names {given!r}, which {len(found)} steps are called: {paths}"
            )
    if not found:
        raise InvalidParameterError(
            f"per_record names {given!r}, which is no step of this pipeline"
        )
    return found


def _check_noise(name: str, step: PrivateEstimator) -> None:
    """Refuse a private step whose noise is seeded."""
    if not draws_secretly(step.random_state):
        raise InvalidParameterError(
            f"the step {name} ({type(step).__name__}) has a random_state, and its fit would not be "
            "private: leave random_state=None"
        )


def _is_per_record(step: Any) -> bool:
    """Whether it is known, or says itself, that a step treats each record by itself."""
    kind = type(step)
    known = f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}" in PER_RECORD
    return known or (getattr(kind, "per_record", False) is True and not isinstance(step, Pipeline))


def _refusal(name: str, step: Any) -> str:
    """Return why a step is refused, and the way out."""
    kind = type(step).__name__
    if isinstance(step, Pipeline):
        where = f"the step {name}" if name else "the pipeline"
        return (
            f"{where} is of a subclass of Pipeline ({kind}), which may do more to the records than "
            "its steps do: use sklearn.pipeline.Pipeline, or, if it treats each record by itself, "
            f"say per_record=[{kind}]"
        )
    return (
        f"the step {name} ({kind}) may learn from the records, and each of them then depends on "
        "all: fit it on public data, replace it by a private estimator, or, if it treats each "
        f"record by itself, say per_record=[{name!r}]"
    )
