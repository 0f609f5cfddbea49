"""Options that several commands share, and what they stand for."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from riemdp._errors import InvalidBudgetError, InvalidParameterError, NotOnManifoldError
from riemdp._part_document import from_text
from riemdp.cli._io import read_point
from riemdp.mechanisms import MECHANISMS
from riemdp.privacy import GDP, ZCDP, ApproxDP, Budget, PureDP, RaoDP
from riemdp.release import relation
from riemdp.spaces import (
    Euclidean,
    Hyperbolic,
    Manifold,
    SPDAffineInvariant,
    SPDLogCholesky,
    SPDLogEuclidean,
    SPDPower,
    Sphere,
)
from riemdp.statistics import Neighbours

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.spaces import FloatArray


#: The manifolds that the command line knows by a short name, of a dimension or a size.
MANIFOLDS: dict[str, Any] = {
    "euclidean": Euclidean,
    "sphere": Sphere,
    "hyperbolic": Hyperbolic,
    "spd-log-euclidean": SPDLogEuclidean,
    "spd-log-cholesky": SPDLogCholesky,
    "spd-power": SPDPower,
    "spd-affine-invariant": SPDAffineInvariant,
}


class Method(StrEnum):
    """How a mean is released."""

    AUTO = "auto"
    ONE_SHOT = "one-shot"
    ADAPTIVE = "adaptive"
    REFINED = "refined"


#: How an option names a part that the registry knows.
_AS_PART = "name:field=value,... as riemdp parts lists them"

ManifoldOption = Annotated[
    str,
    typer.Option("--manifold", help=f"Space of the data: {', '.join(MANIFOLDS)}, or {_AS_PART}."),
]
MechanismOption = Annotated[
    str,
    typer.Option(
        "--mechanism",
        help=f"One of auto, {', '.join(MECHANISMS)} or of an installed package; auto takes the one "
        "with the least expected distance.",
    ),
]
StatisticOption = Annotated[
    str | None,
    typer.Option("--statistic", help=f"What is released, {_AS_PART}; a mean by default."),
]
AdjacencyOption = Annotated[
    str | None,
    typer.Option(
        "--adjacency",
        help="replace-one: one record (or person) is replaced, and their number public; "
        "add-remove: added or removed, and the number private; replace-point: labels are public; "
        "or another relation as riemdp parts lists them, such as groups:records=2.",
    ),
]
MethodOption = Annotated[
    Method,
    typer.Option(
        "--method",
        help="How the mean is released: once; on a smaller ball that is looked for first; or in "
        "two rounds whose noise follows the spread of the records.",
    ),
]
BudgetOption = Annotated[
    str | None,
    typer.Option("--budget", help=f"Any privacy definition, {_AS_PART}, such as GDP:mu=1."),
]
RadiusOption = Annotated[
    float, typer.Option(help="Radius of the public ball, in geodesic distance.")
]
AlignedOption = Annotated[
    bool,
    typer.Option(
        "--aligned",
        help="Take the mean of records that are aligned to the centre, of shapes, rotations, axes "
        "or angles: the only one of shapes in space.",
    ),
]
CurvatureOption = Annotated[
    float | None,
    typer.Option(help="Sectional curvature: sphere (default 1) or hyperbolic (default -1)."),
]
DimOption = Annotated[
    int | None, typer.Option(help="Dimension: euclidean, sphere (2 is the usual one), hyperbolic.")
]
SizeOption = Annotated[int | None, typer.Option(help="Rows of a matrix: the spd spaces.")]
EpsilonOption = Annotated[
    float | None, typer.Option(help="Pure DP, or with --delta (epsilon, delta).")
]
DeltaOption = Annotated[
    float | None, typer.Option(help="delta of (epsilon, delta) differential privacy.")
]
MuOption = Annotated[float | None, typer.Option(help="mu of Gaussian differential privacy.")]
RhoOption = Annotated[float | None, typer.Option(help="rho of zero-concentrated DP.")]
MaxNumbersOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Most numbers that a file of data may hold. [default: 67108864, fewer for a small "
        "compressed file]",
    ),
]
ThetaOption = Annotated[float | None, typer.Option(help="theta of Rao DP, with --distance.")]


class DistanceName(StrEnum):
    """The two distances of Rao DP."""

    ANGLE = "angle"
    PARAMETRIC = "parametric"


DistanceOption = Annotated[
    DistanceName | None, typer.Option(help="Which distance the theta of Rao DP is.")
]


def budget_of(
    epsilon: float | None,
    delta: float | None,
    mu: float | None,
    rho: float | None,
    *,
    theta: float | None = None,
    distance: DistanceName | None = None,
    budget: str | None = None,
) -> Budget:
    """Return the one budget that the options name, or raise :class:`InvalidParameterError`.

    (No ``InvalidBudgetError``, which is for budgets that a mechanism cannot use.)
    """
    if sum(value is not None for value in (epsilon, mu, rho, theta, budget)) != 1:
        raise InvalidParameterError(
            "give one budget: --epsilon, --epsilon with --delta, --mu, --rho, --theta, or --budget"
        )
    if (theta is None) != (distance is None):
        raise InvalidParameterError("--theta needs --distance, and --distance goes with --theta")
    if delta is not None and epsilon is None:
        raise InvalidParameterError("--delta goes with --epsilon")
    try:
        if budget is not None:
            found: Budget = from_text(budget, Budget.sort)
            return found
        if mu is not None:
            return GDP(mu)
        if rho is not None:
            return ZCDP(rho)
        if theta is not None and distance is not None:
            return RaoDP(theta, distance=distance.value)
        assert epsilon is not None
        return PureDP(epsilon) if delta is None else ApproxDP(epsilon, delta)
    except InvalidBudgetError as error:
        raise InvalidParameterError(str(error)) from None


def relation_of(
    adjacency: str | None, budget: Budget, *, has_users: bool, people: int | None = None
) -> Neighbours:
    """Return the relation that an option names, or the one of records or people by default."""
    named: Any = adjacency
    if adjacency is not None and ":" in adjacency:
        named = from_text(adjacency, Neighbours.sort)
    return relation(named, budget, has_users=has_users, people=people)


def manifold_of(text: str, dim: int | None, size: int | None, curvature: float | None) -> Manifold:
    """Return the manifold that the options name, with the dimension that it needs."""
    if text not in MANIFOLDS:
        return _registered(text, dim, size, curvature)
    wanted, number, other = ("--size", size, dim) if _is_spd(text) else ("--dim", dim, size)
    if number is None or other is not None:
        raise InvalidParameterError(f"{text} needs {wanted}, and no other dimension")
    if curvature is not None and text not in ("sphere", "hyperbolic"):
        raise InvalidParameterError("--curvature is for sphere and hyperbolic")
    numbers = (number,) if curvature is None else (number, curvature)
    manifold: Manifold = MANIFOLDS[text](*numbers)
    return manifold


def _is_spd(name: str) -> bool:
    """Whether points are symmetric positive definite matrices."""
    return name.startswith("spd")


def _registered(text: str, dim: int | None, size: int | None, curvature: float | None) -> Manifold:
    """Return the manifold that a text names in full."""
    if (dim, size, curvature) != (None, None, None):
        raise InvalidParameterError(
            f"--dim, --size and --curvature are for {', '.join(MANIFOLDS)}; other spaces have "
            "their fields in the name: name:field=value,..."
        )
    manifold: Manifold = from_text(text, Manifold.sort)
    return manifold


def records_of(
    array: NDArray[Any],
    path: Path,
    text: str,
    curvature: float | None,
    *,
    may_be_none: bool = False,
    flat: bool | None = None,
) -> tuple[Manifold, NDArray[Any]]:
    """Return the manifold whose dimension fits the array, and the array as its records.

    Flat rows, by default those of a ``.csv``, are flattened matrices on the spd spaces. Where the
    number of records is private there may be none of them.
    """
    if array.size == 0 and not (may_be_none and array.ndim > 0 and math.prod(array.shape[1:]) > 0):
        raise NotOnManifoldError(f"{path.name} holds no records")
    flat = path.suffix.lower() == ".csv" if flat is None else flat
    if text not in MANIFOLDS:
        manifold = _registered(text, None, None, curvature)
        if flat and array.ndim == 2 and array.shape[1] == math.prod(manifold.point_shape):
            array = array.reshape(-1, *manifold.point_shape)
        return manifold, array
    size = array.shape[-1] if array.ndim else 0
    if _is_spd(text):
        if flat and array.ndim == 2:
            size = math.isqrt(size)
            if size * size != array.shape[1]:
                raise NotOnManifoldError(
                    f"a row of {path.name} must be a flattened square matrix, "
                    f"got {array.shape[1]} numbers"
                )
            array = array.reshape(-1, size, size)
        if array.ndim != 3 or array.shape[1] != size:
            raise NotOnManifoldError(
                f"{text} data must have shape (n, k, k), got {_shape(array)} in {path.name}"
            )
        return manifold_of(text, None, size, curvature), array
    is_flat = text == "euclidean"
    if array.ndim != 2 or (not is_flat and size < 2):
        columns = "d" if is_flat else "d + 1"
        raise NotOnManifoldError(
            f"{text} data must have shape (n, {columns}), got {_shape(array)} in {path.name}"
        )
    return manifold_of(text, size if is_flat else size - 1, None, curvature), array


def _shape(array: NDArray[Any]) -> str:
    """Write the shape of records, whose number may be private."""
    if array.ndim == 0:
        return "()"
    return f"({', '.join(map(str, ('n', *array.shape[1:])))}{',' if array.ndim == 1 else ''})"


def center_of(center: str, manifold: Manifold, most: int | None = None) -> FloatArray:
    """Return the centre of the ball: the space's own named point, or the one in a file."""
    name = manifold.origin_name
    if center == name:
        return manifold.origin
    if center in ("origin", "north-pole", "identity"):
        raise InvalidParameterError(f"--center {center} is not of this space; its own is {name}")
    return manifold.validate(read_point(Path(center), manifold.point_shape, most))
