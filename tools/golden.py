"""Seeded releases of every kind, kept to show what a change of the code changes.

`python tools/golden.py` draws them again and writes `tests/data/golden.json.xz`; `--check` draws
them and says which differ. Inputs are read from that file, so that no generator of test data is
part of the comparison; `--new-inputs` makes others.
"""

from __future__ import annotations

import argparse
import functools
import json
import lzma
import math
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_info

import riemdp
from riemdp import statistics
from riemdp.statistics import Records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FILE = Path(__file__).resolve().parents[1] / "tests" / "data" / "golden.json.xz"
#: Largest difference of an integer on another processor, in steps of the grid: 2^-40 of the noise.
STEPS = 8
#: Number of records of small inputs, and of inputs of a search for a ball.
FEW, MANY = 9, 120
USERS = [0, 0, 1, 2, 2, 2, 3, 4, 4]
PEOPLE = 5
LABELS = ["a", "b", "a", "a", "b", "b", "a", "b", "a"]
USER_LABELS = ["a", "a", "b", "a", "a", "a", "b", "b", "b"]
COVARIATES = [0.0, 0.1, 0.3, 0.35, 0.5, 0.6, 0.8, 0.9, 1.2]
WEIGHTS = [1.0, 0.5, 0.25, 1.0, 0.75, 0.0, 0.3, 1.0, 0.9]

GDP, PURE = riemdp.GDP(1.0), riemdp.PureDP(1.0)
APPROX = riemdp.ApproxDP(1.0, 1e-6)
BUDGETS = {
    "gdp": GDP,
    "pure": PURE,
    "approx": APPROX,
    "zcdp": riemdp.ZCDP(0.3),
    "rdp": riemdp.RDP(2.0, 0.5),
    "kl": riemdp.KLDP(0.5),
    "mean-cdp": riemdp.MeanCDP(1.0, 0.5),
    "rao": riemdp.RaoDP(0.5, distance="angle"),
}
GAUSSIAN = ("riemannian-gaussian", "tangent-gaussian", "wrapped-gaussian")
LAPLACE = ("riemannian-laplace", "tangent-laplace", "wrapped-laplace")


def _spd(diagonal: list[float]) -> np.ndarray:
    return np.diag(diagonal)


@functools.cache
def balls() -> dict[str, riemdp.Ball]:
    """Public balls, by the names of their spaces."""
    square = np.array([1.0, 1.0j, -1.0, -1.0j])
    return {
        "R1": riemdp.Ball(riemdp.Euclidean(1), [0.5], 1.0),
        "R3": riemdp.Ball(riemdp.Euclidean(3), [0.1, 0.2, -0.3], 2.0),
        "S1": riemdp.Ball(riemdp.Sphere(1), [1.0, 0.0], 1.0),
        "S2": riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0),
        "S3": riemdp.Ball(riemdp.Sphere(3, curvature=4.0), [0.5, 0.0, 0.0, 0.0], 0.5),
        "H2": riemdp.Ball(riemdp.Hyperbolic(2), [1.0, 0.0, 0.0], 1.0),
        "H3": riemdp.Ball(riemdp.Hyperbolic(3), [1.0, 0.0, 0.0, 0.0], 1.5),
        "LE2": riemdp.Ball(riemdp.SPDLogEuclidean(2), _spd([1.0, 2.0]), 1.5),
        "LE3": riemdp.Ball(riemdp.SPDLogEuclidean(3), np.eye(3), 2.0),
        "AI2": riemdp.Ball(riemdp.SPDAffineInvariant(2), _spd([1.0, 2.0]), 1.0),
        "AI3": riemdp.Ball(riemdp.SPDAffineInvariant(3), np.eye(3), 1.0),
        "LC2": riemdp.Ball(riemdp.SPDLogCholesky(2), np.eye(2), 1.0),
        "PE2": riemdp.Ball(riemdp.SPDPower(2, alpha=0.5), np.eye(2), 0.5),
        "SO3": riemdp.Ball(riemdp.Rotations(), np.eye(3), 0.7),
        "RP2": riemdp.Ball(riemdp.ProjectiveSpace(2), [0.0, 0.0, 1.0], 0.5),
        "T2": riemdp.Ball(riemdp.Torus(2), [0.0, 1.0], 1.0),
        "shapes": riemdp.Ball(riemdp.PlanarShapes(4), square, 0.4),
        "G24": riemdp.Ball(riemdp.Grassmann(2, 4), np.eye(4)[:, :2], 0.4),
        "S2^3": riemdp.ProductBall(
            riemdp.Power(riemdp.Sphere(2), 3), np.tile([0.0, 0.0, 1.0], (3, 1)), radii=1.0
        ),
        "LE2^3": riemdp.ProductBall(
            riemdp.Power(riemdp.SPDLogEuclidean(2), 3), np.tile(np.eye(2), (3, 1, 1)), radii=1.0
        ),
        "SO3-aligned": riemdp.QuotientBall(riemdp.Rotations(), np.eye(3), 2.0, mean="aligned"),
    }


def budget_for(kind: str) -> riemdp.PureDP | riemdp.GDP:
    """Return the plainest budget of a kind of noise."""
    return PURE if "laplace" in kind else GDP


@dataclass(frozen=True)
class Case:
    """A release by name: what draws it, given the inputs and a seeded generator."""

    name: str
    draw: Callable[[dict[str, Any], np.random.Generator], Any]


def make_inputs() -> dict[str, Any]:
    """Make records of every space, a few of them outside the ball."""
    rng = np.random.default_rng(2026)
    found = {}
    for name, ball in balls().items():
        reach = min(ball.radius * 1.2, 1.5) / math.sqrt(ball.manifold.dim)
        for size, number in (("few", FEW), ("many", MANY)):
            spread = 0.6 if size == "few" else 0.05
            coordinates = spread * reach * rng.normal(size=(number, ball.manifold.dim))
            found[f"{name}/{size}"] = ball.point(coordinates)
    return found


def cases() -> Iterator[Case]:
    """All releases. What the library refuses is left out by whoever draws them."""
    yield from _means()
    yield from _budgets()
    yield from _adjacencies()
    yield from _weights()
    yield from _steps_and_moments()
    yield from _records_with_more()
    yield from _without_a_ball()
    yield from _searches()
    yield from _streams()


def _mean(space: str, size: str = "few", **options: Any) -> Callable[..., Any]:
    return lambda inputs, source: riemdp.private_mean(
        inputs[f"{space}/{size}"], balls()[space], generator=source, **options
    )


def _means() -> Iterator[Case]:
    for space in balls():
        for kind in (*GAUSSIAN, *LAPLACE):
            draw = _mean(space, budget=budget_for(kind), mechanism=kind)
            yield Case(f"mean/{space}/{kind}", draw)
        yield Case(f"mean/{space}/auto", _mean(space, budget=APPROX))
    for space in ("S2", "H2", "LE3"):
        yield Case(f"mean/{space}/projected", _mean(space, budget=GDP))


def _budgets() -> Iterator[Case]:
    for space in ("R3", "S2", "H2", "AI2"):
        for name, budget in BUDGETS.items():
            for kind in (*GAUSSIAN, *LAPLACE):
                draw = _mean(space, budget=budget, mechanism=kind)
                yield Case(f"budget/{name}/{space}/{kind}", draw)


#: Whom a guarantee is about: options of any release.
ADJACENCIES: dict[str, dict[str, Any]] = {
    "add-remove": {"adjacency": "add-remove"},
    "people": {"users": USERS, "people": PEOPLE},
    "private-people": {"users": USERS},
}


def _adjacencies() -> Iterator[Case]:
    for space in balls():
        for name, options in ADJACENCIES.items():
            for budget in (GDP, PURE):
                label = f"{name}/{space}/{type(budget).__name__}"
                yield Case(f"adjacency/{label}", _mean(space, budget=budget, **options))
        for name in ("people", "private-people"):
            draw = _mean(space, budget=GDP, contribution=2, **ADJACENCIES[name])
            yield Case(f"contribution/{name}/{space}", draw)


def _weights() -> Iterator[Case]:
    for space in balls():
        yield Case(f"weights/public/{space}", _mean(space, budget=GDP, weights=WEIGHTS))
        private: dict[str, Any] = {"weights": WEIGHTS, "private_weights": True}
        yield Case(f"weights/private/{space}", _mean(space, budget=GDP, **private))
        draw = _mean(space, budget=GDP, adjacency="add-remove", **private)
        yield Case(f"weights/private/add-remove/{space}", draw)


def _of(statistic: statistics.Statistic) -> Callable[..., Any]:
    return functools.partial(riemdp.private_statistic, statistic)


def _steps_and_moments() -> Iterator[Case]:
    releases: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
        "refined": (riemdp.private_mean, {"method": "refined"}),
        "refined-3": (_of(statistics.RefinedMean(3, alpha=1.5)), {}),
        "median": (_of(statistics.GeometricMedian(4)), {}),
        "huber": (_of(statistics.HuberMean(3, threshold=0.3, clip=0.8)), {}),
        "moments": (riemdp.private_moments, {}),
        "moments-matrix": (riemdp.private_moments, {"second": "matrix"}),
        "moments-recentred": (riemdp.private_moments, {"base": "recentred"}),
        "variance": (riemdp.private_variance, {}),
        "variance-public": (riemdp.private_variance, {"base": "public"}),
    }
    for space in ("R3", "S2", "H2", "LE3", "SO3", "S2^3"):
        for name, (release, options) in releases.items():
            for who, more in {"records": {}, **ADJACENCIES}.items():
                draw = functools.partial(_release, release, space, **options, **more)
                yield Case(f"{name}/{space}/{who}", draw)
    for space in ("R3", "S2"):
        for name, (release, options) in releases.items():
            draw = functools.partial(_release, release, space, budget=PURE, **options)
            yield Case(f"{name}/{space}/pure", draw)
        statistic = statistics.DirectVariance()
        draw = functools.partial(_statistic, statistic, space)
        yield Case(f"direct-variance/{space}", draw)


def _release(
    release: Callable[..., Any],
    space: str,
    inputs: dict[str, Any],
    source: np.random.Generator,
    *,
    budget: Any = GDP,
    **options: Any,
) -> Any:
    points = inputs[f"{space}/few"]
    return release(points, balls()[space], budget, generator=source, **options)


def _statistic(
    statistic: Any,
    space: str,
    inputs: dict[str, Any],
    source: np.random.Generator,
    *,
    budget: Any = GDP,
    extras: dict[str, Any] | None = None,
    **options: Any,
) -> Any:
    records = Records(inputs[f"{space}/few"], **(extras or {}))
    return riemdp.private_statistic(
        statistic, records, balls()[space], budget, generator=source, **options
    )


def _records_with_more() -> Iterator[Case]:
    public = {"adjacency": statistics.ReplacePoint()}
    for space in ("R3", "S2", "LE2"):
        for second in ("none", "scalar", "matrix"):
            classes = statistics.ClassMoments(["a", "b"], second=second)
            for who, more in {"records": {}, **ADJACENCIES}.items():
                labels = LABELS if "users" not in more else USER_LABELS
                extras = {"labels": labels}
                draw = functools.partial(_statistic, classes, space, extras=extras, **more)
                yield Case(f"classes-{second}/{space}/{who}", draw)
        sizes = statistics.ClassMoments(["a", "b"], sizes=[5, 4])
        draw = functools.partial(_statistic, sizes, space, extras={"labels": LABELS}, **public)
        yield Case(f"classes-public/{space}", draw)
        extras = {"covariates": COVARIATES}
        line = statistics.TangentRegression(0.0, 1.0)
        for who, more in {"records": {}, **ADJACENCIES}.items():
            draw = functools.partial(_statistic, line, space, extras=extras, **more)
            yield Case(f"regression/{space}/{who}", draw)
        design = statistics.TangentRegression(0.0, 1.2, design=COVARIATES)
        draw = functools.partial(_statistic, design, space, extras=extras, **public)
        yield Case(f"regression-public/{space}", draw)
        for budget in (GDP, PURE):
            for adjacency in ("replace-one", "add-remove"):
                label = f"{space}/{adjacency}/{type(budget).__name__}"
                draw = functools.partial(_groups, space, budget=budget, adjacency=adjacency)
                yield Case(f"groups/{label}", draw)


def _groups(space: str, inputs: dict[str, Any], source: np.random.Generator, **options: Any) -> Any:
    points = inputs[f"{space}/few"]
    groups = {"first": points[:4], "second": points[4:]}
    return riemdp.private_means(groups, balls()[space], generator=source, **options)


def _without_a_ball() -> Iterator[Case]:
    directions: dict[str, dict[str, Any]] = {
        "directions": {},
        "directions-2": {"order": 2},
        "directions-1-2": {"order": (1, 2)},
        "axes": {"order": 2, "axial": True},
    }
    for who, more in {"records": {}, **ADJACENCIES}.items():
        for budget in (GDP, PURE):
            label = f"{who}/{type(budget).__name__}"
            for name, options in directions.items():
                summary = riemdp.private_directional_summary
                draw = functools.partial(_no_ball, summary, "S2", budget, **options, **more)
                yield Case(f"{name}/{label}", draw)
            for name, release, space in (
                ("rotation", riemdp.private_rotation_mean, "SO3"),
                ("procrustes", riemdp.private_procrustes_mean, "shapes"),
            ):
                draw = functools.partial(_no_ball, release, space, budget, **more)
                yield Case(f"{name}/{label}", draw)


def _no_ball(
    release: Callable[..., Any],
    space: str,
    budget: Any,
    inputs: dict[str, Any],
    source: np.random.Generator,
    **options: Any,
) -> Any:
    return release(inputs[f"{space}/few"], budget, generator=source, **options)


def _searches() -> Iterator[Case]:
    for space in ("R3", "S2", "H2", "LE3", "AI2", "SO3"):
        for name in ("gdp", "approx", "zcdp"):
            draw = _mean(space, "many", budget=BUDGETS[name], method="adaptive")
            yield Case(f"adapt/{space}/{name}", draw)
        strong = _mean(space, "many", budget=riemdp.PureDP(4.0), method="adaptive")
        yield Case(f"adapt/{space}/pure", strong)
        either = riemdp.GDP(2.0)
        draw = _mean(space, "many", budget=either, method="adaptive", adjacency="add-remove")
        yield Case(f"adapt/{space}/add-remove", draw)
        for name, release in (
            ("median", riemdp.private_median),
            ("moments", riemdp.private_moments),
        ):
            yield Case(f"found/{space}/{name}", functools.partial(_found, release, space))


def _found(
    release: Callable[..., Any], space: str, inputs: dict[str, Any], source: np.random.Generator
) -> Any:
    points = inputs[f"{space}/many"]
    ball = riemdp.private_ball(points, balls()[space], riemdp.GDP(2.0), generator=source)
    return release(points, ball, generator=source)


def _streams() -> Iterator[Case]:
    for space in balls():
        for kind in ("tangent-gaussian", "riemannian-gaussian"):
            for sized in (True, False):
                name = "sized" if sized else "unsized"
                draw = functools.partial(_chunks, space, kind, sized=sized)
                yield Case(f"chunks-{name}/{space}/{kind}", draw)
    for space in ("R3", "S2", "LE3"):
        private = {"adjacency": "add-remove"}
        draw = functools.partial(_chunks, space, "tangent-gaussian", sized=False, more=private)
        yield Case(f"chunks-add-remove/{space}", draw)


def _chunks(
    space: str,
    kind: str,
    inputs: dict[str, Any],
    source: np.random.Generator,
    *,
    sized: bool,
    more: dict[str, Any] | None = None,
) -> Any:
    points = inputs[f"{space}/few"]
    parts = [points[:5], points[5:]]
    number = {} if more else {"n": FEW}
    sizes = {"sizes": [5, 4]} if sized else number
    chunks = riemdp.Chunks(parts, **sizes)
    options = {"mechanism": kind, **(more or {})}
    return riemdp.private_mean(chunks, balls()[space], GDP, generator=source, **options)


def drawn(case: Case, inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the document of a release, drawn from a seed of its own."""
    seed = list(case.name.encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = case.draw(inputs, np.random.default_rng(seed))
    document: dict[str, Any] = json.loads(release.to_json())
    return document


def environment() -> dict[str, str]:
    """Return what the last bits of logarithms and products depend on."""
    np.linalg.eigh(np.eye(2))
    kernels = {
        str(each.get("architecture"))
        for each in threadpool_info()
        if "openblas" in str(each.get("internal_api"))
    }
    return {"numpy": np.__version__, "kernel": ",".join(sorted(kernels))}


def differences(found: Any, stored: Any, *, bits: bool, where: str = "") -> Iterator[str]:
    """Say where two documents differ; versions, nonces and digests with these in them may.

    With ``bits`` everything has to be equal. Without it, as on another processor, integers may be
    ``STEPS`` steps of their grid apart and other numbers one part in 10^9.
    """
    if isinstance(stored, dict) and isinstance(found, dict):
        for name in sorted(set(stored) | set(found), key=str):
            if name not in ("versions", "nonce", "headers"):
                here = f"{where}.{name}"
                yield from differences(found.get(name), stored.get(name), bits=bits, where=here)
    elif isinstance(stored, list) and isinstance(found, list) and len(stored) == len(found):
        for place, pair in enumerate(zip(found, stored, strict=True)):
            yield from differences(*pair, bits=bits, where=f"{where}[{place}]")
    elif not (found == stored or (not bits and _close(found, stored))):
        yield f"{where}: {found} instead of {stored}"


def _close(found: Any, stored: Any) -> bool:
    """Whether rounding errors of another processor explain two numbers."""
    if isinstance(found, int) and isinstance(stored, int):
        return abs(found - stored) <= STEPS
    if isinstance(found, float) and isinstance(stored, float):
        return math.isclose(found, stored, rel_tol=1e-9, abs_tol=1e-11)
    return False


def read() -> dict[str, Any]:
    """Return the stored file, its inputs as arrays."""
    with lzma.open(FILE, "rt", encoding="utf-8") as file:
        stored: dict[str, Any] = json.load(file)
    stored["inputs"] = {name: _array(each) for name, each in stored["inputs"].items()}
    return stored


def _array(numbers: Any) -> np.ndarray:
    return np.array(numbers["real"]) + (1j * np.array(numbers["imag"]) if "imag" in numbers else 0)


def _written(points: np.ndarray) -> dict[str, Any]:
    imag = {"imag": points.imag.tolist()} if np.iscomplexobj(points) else {}
    return {"real": points.real.tolist(), **imag}


def main() -> int:
    """Write the file, or say what differs from it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--new-inputs", action="store_true")
    options = parser.parse_args()
    inputs = make_inputs() if options.new_inputs else read()["inputs"]
    documents, refused = {}, {}
    for case in cases():
        try:
            documents[case.name] = drawn(case, inputs)
        except riemdp.RiemdpError as error:
            refused[case.name] = f"{type(error).__name__}: {error}"
    print(f"{len(documents)} releases, {len(refused)} refused")
    if options.check:
        return _compare(documents, refused, read())
    stored = {
        "environment": environment(),
        "inputs": {name: _written(points) for name, points in inputs.items()},
        "documents": documents,
    }
    with lzma.open(FILE, "wt", encoding="utf-8", preset=9) as file:
        json.dump(stored, file, separators=(",", ":"))
    return 0


def _compare(documents: dict[str, Any], refused: dict[str, str], stored: dict[str, Any]) -> int:
    """Print what is not as it is stored, and return 1 if anything is."""
    bits = environment() == stored["environment"]
    wrong = 0
    for name, document in stored["documents"].items():
        if name not in documents:
            found = [refused.get(name, "there is no such case")]
        else:
            found = list(differences(documents[name], document, bits=bits))
        wrong += bool(found)
        for line in found[:3]:
            print(f"{name}{line}" if line.startswith(".") else f"{name}: {line}")
    _print_laws(documents, stored["documents"])
    new = len(set(documents) - set(stored["documents"]))
    print(f"{wrong} differ, {new} are new; {'same bits' if bits else 'same law'} was asked for")
    return 1 if wrong or new else 0


def _print_laws(documents: dict[str, Any], stored: dict[str, Any]) -> None:
    """Print how the noise of releases with other integers differs at most, by kind.

    ``sigma/sensitivity`` is what a record is hidden in, and has no unit.
    """
    worst: dict[str, tuple[int, float]] = {}
    for name, old in stored.items():
        new = documents.get(name)
        if new is None or new.get("rounded") == old.get("rounded") or "rounded" not in old:
            continue
        lasts = [each["header"]["queries"][-1] for each in (new, old)]
        one, other = (last["sigma"] / last["sensitivity"] for last in lasts)
        number, ratio = worst.get(name.split("/")[0], (0, 0.0))
        worst[name.split("/")[0]] = (number + 1, max(ratio, abs(one / other - 1.0)))
    for kind, (number, ratio) in worst.items():
        print(f"{kind}: {number} have other integers; sigma/sensitivity differs by {ratio:.1e}")


if __name__ == "__main__":
    sys.exit(main())
