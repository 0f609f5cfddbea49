"""How much a private ball gains over the public one, at equal total budget.

    RIEMDP_DATA=folder python benchmarks/adaptive_noise.py [--draws 40] [--only TEXT]

A gain is the mean distance of the released mean to the exact mean of the records in the public
ball, over that of an adaptive release, clipping bias included, both projected. Beside
each stands the gain that a prototype had when the method was chosen (12 to 24 draws; its public
ball took noise of one kind, ``mechanism="auto"`` here may take less, and its public balls are not
recorded: those of real data here are of the same kind). Without the folder only made-up data are
measured.
"""

from __future__ import annotations

import argparse
import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.stats

import riemdp
from riemdp import GDP, ZCDP, ApproxDP, Ball, PureDP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from riemdp.privacy import Budget

BUDGETS: dict[str, Budget] = {
    "mu=.5": GDP(0.5),
    "mu=1": GDP(1.0),
    "mu=2": GDP(2.0),
    "rho=.5": ZCDP(0.5),
    "(1,1e-6)": ApproxDP(1.0, 1e-6),
    "eps=.25": PureDP(0.25),
    "eps=1": PureDP(1.0),
    "eps=4": PureDP(4.0),
}
#: Spread of the cluster and distance from the centre, over the public radius.
SHAPES = ((0.01, 0.5), (0.1, 0.5), (0.3, 0.3), (1.0, 0.0))
#: Gains of the prototype in R^d, by budget, dimension and n; one for each shape.
FLAT = {
    ("eps=1", 2, 200): (2.8, 1.5, 1.2, 0.84),
    ("eps=1", 2, 1000): (29, 4.9, 2.1, 0.97),
    ("eps=1", 2, 10_000): (39, 4.4, 1.5, 0.85),
    ("eps=1", 6, 1000): (30, 4.1, 1.6, 0.87),
    ("eps=1", 36, 360): (1.2, 1.2, 1.2, 0.9),
    ("eps=1", 36, 2000): (11, 3.7, 1.2, 0.96),
    ("eps=1", 253, 360): (1.5, 1.5, 1.9, 1),
    ("eps=4", 2, 50): (4.5, 2.5, 1.2, 0.82),
    ("eps=4", 36, 360): (8.4, 2.9, 1.6, 0.96),
    ("eps=.25", 2, 1000): (5.1, 2.3, 1.4, 0.9),
    ("mu=.5", 2, 200): (41, 8.7, 2.9, 1.1),
    ("mu=.5", 253, 360): (8.4, 3.2, 1.8, 1),
    ("mu=2", 2, 50): (36, 5.3, 2.3, 0.9),
    ("mu=2", 36, 360): (61, 7, 1.9, 0.96),
    ("mu=2", 253, 360): (61, 7.3, 2.5, 0.96),
    ("rho=.5", 6, 200): (46, 5.8, 2.3, 0.9),
    ("rho=.5", 253, 360): (41, 5.8, 2.4, 0.9),
    ("(1,1e-6)", 2, 1000): (65, 5.6, 1.9, 1.1),
    ("(1,1e-6)", 36, 2000): (68, 7, 2.3, 0.9),
    ("(1,1e-6)", 253, 360): (1.4, 1.4, 1.6, 1),
}
#: The same on curved spaces, n = 1000: of the second shape and the last.
CURVED = {
    ("S^2", "mu=1"): (11.0, 1.07),
    ("S^2", "eps=1"): (9.9, 1.02),
    ("S^9", "mu=1"): (14.5, 0.94),
    ("S^9", "eps=1"): (8.6, 0.89),
    ("H^3", "mu=1"): (3.4, 0.94),
    ("H^3", "eps=1"): (3.6, 1.15),
}
SPACES = {
    "S^2": (riemdp.Sphere(2), 1.2),
    "S^9": (riemdp.Sphere(9), 1.2),
    "H^3": (riemdp.Hyperbolic(3), 2.0),
}
#: Gains of the prototype on real data.
REAL: dict[str, dict[str, float]] = {
    "EEG 22 channels": {"mu=.5": 4.7, "mu=1": 8.3, "mu=2": 8.5, "(1,1e-6)": 2.0, "eps=1": 2.1},
    "EEG 8 channels": {"mu=.5": 7.2, "mu=1": 8.8, "mu=2": 8.5, "(1,1e-6)": 4.3, "eps=1": 1.5},
    "EEG 8 channels, affine": {"mu=1": 7.4, "eps=1": 2.4},
    "DTI": {"mu=.5": 1.2, "mu=1": 1.4, "mu=2": 1.5, "(1,1e-6)": 2.3, "eps=1": 2.7, "eps=4": 1.5},
    "DTI, affine": {"mu=1": 1.3, "eps=1": 2.3},
    "MNIST 0, 1000": {"mu=.5": 8.5, "mu=1": 9.7, "(1,1e-6)": 9.9, "eps=.25": 1.6, "eps=1": 2.9},
    "MNIST 0, 200": {"mu=.5": 4.0, "mu=1": 7.7, "(1,1e-6)": 1.9, "eps=1": 1.1, "eps=4": 2.4},
    "places, India": {"mu=1": 7.1, "mu=2": 9.1, "eps=.25": 1, "eps=1": 3.9, "eps=4": 4.3},
    "places, Germany": {"mu=1": 10, "mu=2": 30, "eps=1": 0.94, "eps=4": 7.1},
    "earthquakes": {"mu=1": 0.85, "mu=2": 0.87, "eps=1": 1.07, "eps=4": 0.93},
}


def cluster(ball: Ball, n: int, shape: tuple[float, float], seed: int) -> Any:
    """Draw records about a point of the ball, with 95 % of them within the spread."""
    spread, offset = shape
    dim, rng = ball.manifold.dim, np.random.default_rng(seed)
    middle = rng.normal(size=dim)
    middle *= offset * ball.radius / np.linalg.norm(middle)
    scale = spread * ball.radius / scipy.stats.chi.ppf(0.95, dim)
    center = ball.point(middle)
    return ball.project(ball.manifold.point(center, rng.normal(0.0, scale, (n, dim))))


def gain(
    points: Any, ball: Ball, budget: Budget, *, draws: int, seed: int, mechanism: str = "auto"
) -> tuple[float, float]:
    """Gain, and its standard error; another noise for every draw."""
    space = ball.manifold
    mean = riemdp.frechet_mean(space, ball.project(points), ball=ball, tol=1e-6 * ball.radius).value
    errors = np.array(
        [
            [
                space.dist(
                    mean,
                    _released(
                        points,
                        ball,
                        budget,
                        method=method,
                        seed=(seed, i, method == "adaptive"),
                        mechanism=mechanism,
                    ),
                )
                for method in ("one-shot", "adaptive")
            ]
            for i in range(draws)
        ]
    )
    means, spread = errors.mean(axis=0), errors.std(axis=0) / np.sqrt(draws)
    ratio = means[0] / means[1]
    return float(ratio), float(ratio * np.hypot(*(spread / means)))


def _released(
    points: Any, ball: Ball, budget: Budget, *, method: Any, seed: Any, mechanism: str
) -> Any:
    rng = np.random.default_rng(seed)
    release = riemdp.private_mean(
        points, ball, budget, method=method, mechanism=mechanism, generator=rng
    )
    return ball.project(release.value[None])[0]


def made_up() -> Iterator[tuple[str, Any, Ball, Budget, float]]:
    """Cells of data that need no files."""
    for (name, dim, n), before in FLAT.items():
        space = riemdp.Euclidean(dim)
        ball = Ball(space, space.origin, 1.0)
        for shape, known in zip(SHAPES, before, strict=True):
            points = cluster(ball, n, shape, seed=dim)
            yield f"R^{dim}, n={n}, s={shape[0]:g}, {name}", points, ball, BUDGETS[name], known
    for (text, name), before in CURVED.items():
        space, radius = SPACES[text]
        ball = Ball(space, space.origin, radius)
        for shape, known in zip((SHAPES[1], SHAPES[3]), before, strict=True):
            points = cluster(ball, 1000, shape, seed=1)
            yield f"{text}, n=1000, s={shape[0]:g}, {name}", points, ball, BUDGETS[name], known


def real(folder: Path) -> Iterator[tuple[str, Any, Ball, Budget, float]]:
    """Cells of real data; public balls are from units and limits, never from the data."""
    for text, (points, ball) in _data(folder).items():
        for name, known in REAL[text].items():
            yield f"{text}, {name}", points, ball, BUDGETS[name], known


def _data(folder: Path) -> dict[str, tuple[Any, Ball]]:
    eeg = np.load(folder / "eeg_eegmmidb_s001.npz")
    dti = np.load(folder / "dti_dipy.npz")["tensors"]
    mnist = np.load(folder / "mnist_part.npz")
    places = np.load(folder / "sphere_natural_earth_places.npz")
    quakes = np.load(folder / "sphere_earthquakes.npz")["xyz"]
    zeros = mnist["x_train"][mnist["y_train"] == 0]
    eta, sphere = 0.01, riemdp.Sphere(2)
    digits = riemdp.covariance_descriptors(zeros[:1000], eta)
    flat, affine = riemdp.SPDLogEuclidean, riemdp.SPDAffineInvariant

    def three_decades(space: Any) -> Ball:  # about one square microvolt, one um^2/ms
        return Ball(space, np.eye(space.k), np.sqrt(space.k) * np.log(1e3))

    described = Ball(flat(9), np.eye(9), riemdp.descriptor_radius(eta, 1))
    half = Ball(sphere, sphere.origin, 1.5)
    wide, few = eeg["cov22_4s"].astype(float), eeg["cov8_4s"].astype(float)
    return {
        "EEG 22 channels": (wide, three_decades(flat(22))),
        "EEG 8 channels": (few, three_decades(flat(8))),
        "EEG 8 channels, affine": (few, three_decades(affine(8))),
        "DTI": (dti, three_decades(flat(3))),
        "DTI, affine": (dti, three_decades(affine(3))),
        "MNIST 0, 1000": (digits, described),
        "MNIST 0, 200": (digits[:200], described),
        "places, India": (places["xyz"][places["country"] == "IND"], half),
        "places, Germany": (places["xyz"][places["country"] == "DEU"], half),
        "earthquakes": (quakes[:4000], half),
    }


def main() -> None:
    """Print one line a cell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--only", default="", help="cells whose name holds this text")
    parser.add_argument("--mechanism", default="auto")
    parser.add_argument("--markdown", action="store_true", help="lines of docs/gains.md")
    chosen = parser.parse_args()
    head, line = "{:<40} {:>7} {:>7} {:>10}", "{:<40} {:7.2f} {:7.2f} {:10.2f}"
    if chosen.markdown:
        head, line = "| {} | {} | {} | {} |\n|---|---|---|---|", "| {} | {:.2f} | {:.2f} | {:.2f} |"
    cells = [*made_up()]
    if folder := os.environ.get("RIEMDP_DATA"):
        cells = [*real(Path(folder)), *cells]
    print(head.format("cell", "gain", "± 1 se", "prototype"))
    for name, points, ball, budget, known in cells:
        if chosen.only in name:
            seed = zlib.crc32(name.encode())
            found = gain(
                points, ball, budget, draws=chosen.draws, seed=seed, mechanism=chosen.mechanism
            )
            print(line.format(name, *found, known), flush=True)


if __name__ == "__main__":
    main()
