"""Means of curved data beside their peers, and how accurate the logarithms under them are.

    python benchmarks/kernels.py [--quick] [--only TEXT]

A line is a mean of 1e4 records, ours and the peer's in microseconds a record, medians of calls in
turn on one thread, and the peer's time over ours with its quartiles; for spheres and hyperboloids
ours over the peer's, which there is the least that a pass could be: two products and an arc
tangent of that size. Lines "plain" are without the compiled extension.
Affine-invariant means end within 1e-9 of a much closer one, both sides.

Errors of logarithms are the largest of a sample, against 40 digits, in units of
eps cond sqrt(k): spectra of that condition number about a geometric mean between 1/e and e. Rows
that a method leaves to eigenvectors are counted, and not in its error.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import statistics
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    FloatArray = NDArray[Any]
    Row = dict[str, str]

SIZES = (3, 9, 22)
RECORDS = 10_000
#: What a mean on a sphere or hyperboloid may take, in products and arc tangents.
MOST = 3.0
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
HEAD = {"name": "", "ours": "ours", "peer": "peer", "ratio": "ratio [quartiles]", "held": ""}


def row(name: str, ours: list[float], peer: list[float], records: int, *, least: bool) -> Row:
    """Return a line; a ratio is of two calls one after the other."""
    pairs = zip(ours, peer, strict=True)
    ratios = [one / other if least else other / one for one, other in pairs]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return {
        "name": name,
        **{
            side: f"{1e6 * statistics.median(taken) / records:.3g}"
            for side, taken in (("ours", ours), ("peer", peer))
        },
        "ratio": f"{middle:.2f} [{low:.2f}, {high:.2f}]",
        "held": f"at most {MOST:g}: {'yes' if middle <= MOST else 'no'}" if least else "",
    }


# Means, in a process of their own.


def records(k: int, quick: bool) -> int:
    """Return how many matrices."""
    return min(RECORDS, 2**15 // k) if quick else RECORDS


def log_euclidean(quick: bool) -> Iterator[Row]:
    """Log-Euclidean means beside pyriemann's."""
    from test_means import covariances, pyriemann_mean

    from conftest import Report
    from riemdp import SPDLogEuclidean, frechet_mean

    peer = pyriemann_mean("mean_logeuclid")
    for k in SIZES:
        manifold, n = SPDLogEuclidean(k), records(k, quick)
        points = covariances(manifold)[:n]
        assert manifold.dist(frechet_mean(manifold, points).value, peer(points)) < 1e-10
        ours, theirs = Report.times(
            lambda m=manifold, x=points: frechet_mean(m, x),
            lambda x=points: peer(x),
            rounds=7 if quick else {3: 51, 9: 21, 22: 9}[k],
        )
        yield row(f"log-Euclidean mean, k = {k}", ours, theirs, n, least=False)


def affine_invariant(quick: bool) -> Iterator[Row]:
    """Affine-invariant means beside pyriemann's, both within 1e-9 of a closer one."""
    from test_means import covariances, pyriemann_mean

    from conftest import Report
    from riemdp import SPDAffineInvariant, frechet_mean

    peer, asked = pyriemann_mean("mean_riemann"), 1e-9
    for k in SIZES:
        manifold, n = SPDAffineInvariant(k), records(k, quick)
        points = covariances(manifold)[:n]
        reference = closest(manifold, points)
        ours = frechet_mean(manifold, points, tol=asked)
        assert manifold.dist(ours.value, reference) <= asked
        tolerance = next(
            tol
            for tol in (10.0**-power for power in range(5, 14))
            if manifold.dist(peer(points, tol=tol, maxiter=200), reference) <= asked
        )
        times = Report.times(
            lambda m=manifold, x=points: frechet_mean(m, x, tol=asked),
            lambda x=points, tol=tolerance: peer(x, tol=tol, maxiter=200),
            rounds=3 if quick else {3: 9, 9: 5, 22: 3}[k],
        )
        name = f"affine-invariant mean, k = {k}, {ours.passes} passes, their tol {tolerance:g}"
        yield row(name, *times, n, least=False)


def closest(manifold: Any, points: FloatArray) -> FloatArray:
    """Return the mean to the least of some tolerances that rounding allows."""
    from riemdp import ConvergenceError, frechet_mean

    for tol in (1e-12, 3e-12, 1e-11, 3e-11):
        try:
            return frechet_mean(manifold, points, tol=tol).value
        except ConvergenceError:
            continue
    return frechet_mean(manifold, points, tol=1e-10).value


def space_forms(quick: bool) -> Iterator[Row]:
    """Whole calls on spheres and hyperboloids beside two products and an arc tangent."""
    import numpy as np
    from test_means import points_in_ball

    from conftest import Report
    from riemdp import Hyperbolic, Sphere, frechet_mean

    n = RECORDS
    sine, cosine, weights = np.random.default_rng(3).normal(size=(3, n))
    for manifold, radius in (
        (Sphere(2), 0.7),
        (Sphere(9), 0.7),
        (Hyperbolic(2), 1.0),
        (Hyperbolic(9), 2.0),
    ):
        ball, points = points_in_ball(manifold, manifold.origin, radius, n)
        given = {"ball": ball} if manifold.curvature > 0.0 else {}
        point = frechet_mean(manifold, points, **given)
        times = Report.times(
            lambda m=manifold, x=points, of=given: frechet_mean(m, x, **of),
            lambda x=points, p=point.value: (x @ p, weights @ x, np.arctan2(sine, cosine)),
            rounds=51 if quick else 301,
        )
        name = f"{type(manifold).__name__}({manifold.dim}), whole call, {point.passes} passes"
        yield row(name, *times, n, least=True)


# Logarithms.


def kernels(compiled: bool) -> dict[str, Callable[[FloatArray], tuple[FloatArray, Any]]]:
    """Return what takes logarithms here: the matrix, and which were left out."""
    from riemdp.spaces import _symmetric

    def eigenvectors(matrices: FloatArray) -> tuple[FloatArray, Any]:
        values, vectors = _symmetric.log_eigh(matrices)
        return _symmetric.compose(values, vectors), [False] * len(matrices)

    from riemdp.spaces import _logarithms

    def poles(matrices: FloatArray) -> tuple[FloatArray, Any]:
        found = _logarithms.logarithms(matrices)
        return _symmetric.full(found.entries, matrices.shape[1]), found.outside

    if compiled:
        return {"compiled": poles}
    return {"eigenvectors": eigenvectors, "public poles": poles}


def accuracy(quick: bool, compiled: bool) -> Iterator[Row]:
    """Errors of logarithms against 40 digits."""
    import numpy as np

    unit = float(np.finfo(np.float64).eps)
    for k in SIZES:
        number = {3: 60, 9: 12, 22: 3}[k] if quick else {3: 1000, 9: 60, 22: 8}[k]
        for power in (0, 6, 12):
            matrices = conditioned(k, 10.0**power, number)
            exact = [forty_digits(matrix) for matrix in matrices]
            for name, logarithms in kernels(compiled).items():
                logs, outside = logarithms(matrices)
                errors = [
                    difference(log, of) / (unit * 10.0**power * math.sqrt(k))
                    for log, of, out in zip(logs, exact, outside, strict=True)
                    if not out
                ]
                left = sum(map(bool, outside))
                yield {
                    "name": f"logarithm, k = {k}, cond 1e{power}: {name}",
                    "ours": f"{max(errors):.2f}" if errors else "none",
                    "peer": "",
                    "ratio": "",
                    "held": f"{left} of {number} left to eigenvectors" if left else "",
                }


def conditioned(k: int, condition: float, number: int) -> FloatArray:
    """Random symmetric matrices of a condition number."""
    import numpy as np

    random = np.random.default_rng(k)
    vectors = np.linalg.qr(random.normal(size=(number, k, k)))[0]
    places = random.uniform(-0.5, 0.5, size=(number, k))
    places[:, 0], places[:, -1] = -0.5, 0.5
    logs = math.log(condition) * places + random.uniform(-1.0, 1.0, size=(number, 1))
    found = (vectors * np.exp(logs)[:, None, :]) @ np.swapaxes(vectors, -1, -2)
    return 0.5 * (found + np.swapaxes(found, -1, -2))


def forty_digits(matrix: FloatArray) -> Any:
    """Logarithm of a float64 matrix, of which all digits count."""
    import mpmath

    with mpmath.workdps(60):  # of an eigenvalue 1e-12 times the largest 40 are left
        values, vectors = mpmath.eigsy(mpmath.matrix(matrix.tolist()))
        return vectors * mpmath.diag([mpmath.log(value) for value in values]) * vectors.T


def difference(log: FloatArray, exact: Any) -> float:
    """Frobenius norm."""
    import mpmath

    with mpmath.workdps(40):
        gap = mpmath.matrix(log.tolist()) - exact
        return float(mpmath.mnorm(gap, "f"))


# Processes: how many threads there are is settled before an import.


def child(way: str, only: str, quick: bool) -> None:
    """Write the lines of one way, in JSON; on one core, as threads of others are not counted."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if way == "plain":
        sys.modules["riemdp._lanes"] = None  # type: ignore[assignment]
    parts: dict[str, Callable[[], Iterator[Row]]] = {
        "log-Euclidean": lambda: log_euclidean(quick),
        "affine-invariant": lambda: affine_invariant(quick),
        "spheres": lambda: space_forms(quick),
        "accuracy": lambda: accuracy(quick, compiled=way == "fast"),
    }
    for name, part in parts.items():
        for line in part() if only in name else ():
            print(json.dumps(line), flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer records, and fewer calls")
    parser.add_argument("--only", default="", help="the parts whose name holds this")
    parser.add_argument("--child", choices=["plain", "fast"], help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        return child(chosen.child, chosen.only, chosen.quick)
    show("", HEAD)
    for way in ("plain", "fast"):
        if way == "fast" and importlib.util.find_spec("riemdp._lanes") is None:
            print("fast: left out, as riemdp is not compiled")
            continue
        command = [sys.executable, __file__, "--child", way, "--only", chosen.only]
        settings = os.environ | dict.fromkeys(THREADS, "1")
        command += ["--quick"] * chosen.quick
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=settings) as lines:
            for line in lines.stdout or ():
                show(way, json.loads(line))
        if lines.returncode:
            raise SystemExit(lines.returncode)
    return None


def show(way: str, line: Row) -> None:
    """Print one line."""
    print(
        f"{way:<6}{line['name']:<62}{line['ours']:>9}{line['peer']:>9}  {line['ratio']:<22}"
        f"{line['held']}",
        flush=True,
    )


if __name__ == "__main__":
    main()
