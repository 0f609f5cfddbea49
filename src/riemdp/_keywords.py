"""Keywords that other libraries have, and what they are called here."""

from __future__ import annotations

import functools
import inspect
import math
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

P = ParamSpec("P")
R = TypeVar("R")

_BUDGETS = "epsilon eps delta mu rho privacy_budget budget epsilons"
_SEEDS = "random_state seed rng random generator"
_RECORDS = "X data x samples path points covmats covs images"
_PLACES = "center centre ball bounds"
_NUMBERS = "n_samples num_samples size N n_trials trials"
_SCALES = "sigma scale noise noise_multiplier sensitivity"
_OBJECTS = "such as riemdp.PureDP(epsilon), ApproxDP(epsilon, delta), GDP(mu)"
_BALL = "the space and its public ball are one object: riemdp.Ball(manifold, center, radius)"
#: Names, parameters that a function must have, and what to write instead; the first that fits.
_ADVICE = [
    (_BUDGETS, "claim", f"the claim is an object, {_OBJECTS}"),
    (_BUDGETS, "budgets", "budgets are objects, such as [riemdp.GDP(0.5), riemdp.GDP(1.0)]"),
    (_BUDGETS, "budget", f"the budget is an object, {_OBJECTS}"),
    (_SEEDS, "random_state", "a seed is called random_state, for tests alone"),
    (
        _SEEDS,
        "generator ball budget",
        "noise comes from a new secure generator for each draw; in a test "
        "generator=numpy.random.default_rng(seed), and the release is not private then",
    ),
    (_SEEDS, "generator", "generator=numpy.random.default_rng(seed) makes it reproducible"),
    (_SEEDS, "", "nothing is drawn here"),
    (f"{_PLACES} manifold space radius", "ball", _BALL),
    (_PLACES, "radius", "radius is a number, or a riemdp.Ball where the centre counts too"),
    (
        f"{_PLACES} radius",
        "points manifold",
        "centre and radius are what is advised, from public points",
    ),
    ("space", "manifold", "the space is called manifold"),
    (_RECORDS, "groups", "records are given by group: {'a': points_a, 'b': points_b}"),
    (_RECORDS, "random_state", "data go to fit(X)"),
    (_RECORDS, "points", "the records are called points"),
    (_RECORDS, "public_points", "points of public data are called public_points"),
    (_RECORDS, "dataset", "two data sets are compared, dataset and neighbour"),
    (_RECORDS, "radius", "a plan takes public numbers alone, and no data"),
    (_NUMBERS, "samples", "the number of outputs is called samples"),
    (_NUMBERS, "ns", "numbers of records are called ns"),
    (_NUMBERS, "n", "the number of records is called n"),
    ("n", "ns", "numbers of records are a sequence, ns=[...]"),
    (_SCALES, "budget", "noise is calibrated to the budget"),
    ("labels y targets", "points", "labels go with the points: riemdp.Records(points, labels=...)"),
    ("sample_weight", "weights", "it is called weights"),
    ("neighbors", "neighbours", "it is spelled neighbours"),
    ("neighbor", "neighbour", "it is spelled neighbour"),
    ("groups", "users", "whose record each is is called users"),
    ("people", "cv users", "a public list of people goes to cv=HashedFold(5, ids=everybody)"),
    ("metric", "ball", "the metric is that of the ball's manifold"),
    ("metric", "manifold", "the metric is that of the manifold"),
    ("axis", "points", "records lie along the first axis"),
    ("max_iter maxiter", "tol", "solvers go on until tol is met"),
    (
        "n_jobs client",
        "points budget",
        "riemdp.workers has the functions that several processes work on",
    ),
    (
        "verbose progress progress_bar show_progress",
        "",
        "with riemdp.progress(): shows how far it is",
    ),
]


def with_advice(function: Callable[P, R]) -> Callable[P, R]:
    """Answer a keyword that there is not with what to write instead: the text of the ``TypeError``.

    Constructors may be given, too; a function that passes keywords on leaves the answer to what
    gets them.
    """
    known = inspect.signature(function).parameters
    kinds = {each.kind for each in known.values()}
    if inspect.Parameter.VAR_KEYWORD in kinds:
        return function
    name = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
    keyword_only = inspect.Parameter.KEYWORD_ONLY
    places = [each for each, kind in known.items() if kind.kind is not keyword_only]
    most = math.inf if inspect.Parameter.VAR_POSITIONAL in kinds else len(places)

    @functools.wraps(function)
    def called(*arguments: P.args, **keywords: P.kwargs) -> R:
        if len(arguments) > most:
            raise TypeError(_too_many(name, [each for each in places if each != "self"], arguments))
        for keyword in keywords:
            if keyword not in known:
                raise TypeError(f"{name}() takes no keyword {keyword!r}{_advice(keyword, known)}")
        return function(*arguments, **keywords)

    return called


def _too_many(name: str, places: list[str], arguments: tuple[object, ...]) -> str:
    has_ball = any(hasattr(each, "radius") and hasattr(each, "manifold") for each in arguments)
    ball = "it takes no ball; " if has_ball and "ball" not in places else ""
    return f"{name}() takes {', '.join(places)} by place; {ball}give all else by its name"


def _advice(keyword: str, known: Collection[str]) -> str:
    for names, needed, text in _ADVICE:
        if keyword in names.split() and set(needed.split()) <= set(known):
            return f"; {text}"
    import difflib

    near = difflib.get_close_matches(keyword, [name for name in known if name != "self"], 1)
    return f"; did you mean {near[0]}?" if near else ""
