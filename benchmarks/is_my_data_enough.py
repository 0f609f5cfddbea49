"""Which real data are enough for a private mean: the table of docs/is_my_data_enough.md.

    RIEMDP_DATA=folder python benchmarks/is_my_data_enough.py [--draws 20]

Records are split by chance into two halves: one plays public data, from which ``advise_ball``
chooses the ball, the other one is private. The error that was measured is the root mean square
distance from a release to the mean of all private records, clipping included.
"""

from __future__ import annotations

import argparse
import math
import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import riemdp

if TYPE_CHECKING:
    from collections.abc import Iterator

BUDGETS = {"μ = 1": riemdp.GDP(1.0), "ε = 1": riemdp.PureDP(1.0)}
#: Errors as a share of the spread up to which a release is useful, and borderline.
USEFUL, BORDERLINE = 0.1, 0.5
HEAD = "| data | a record is | n | d | spread | sampling | budget | c | said | measured | verdict |"


def cases(folder: Path) -> Iterator[tuple[str, str, Any, Any]]:
    """Name, unit, space and records of each."""
    sphere, turns = riemdp.Sphere(2), riemdp.Rotations()
    quakes = np.load(folder / "sphere_earthquakes.npz")
    yield "earthquakes, all", "an earthquake", sphere, quakes["xyz"]
    yield "earthquakes of 2016", "an earthquake", sphere, quakes["xyz"][quakes["year"] == 2016]
    places = np.load(folder / "sphere_natural_earth_places.npz")
    for name, code in (("India", "IND"), ("Germany", "DEU")):
        yield f"places in {name}", "a place", sphere, places["xyz"][places["country"] == code]
    drill = np.load(folder / "rotations_drill_nickel.npz")
    matrices = _rotations(drill["drill_quat_wxyz"])
    wrist = drill["drill_joint"] == "Wrist"
    yield "drill, wrist", "a measurement", turns, matrices[wrist]
    people = drill["drill_subject"][wrist]
    each = [_mean(turns, matrices[wrist][people == one]) for one in np.unique(people)]
    yield "the same, a mean of each", "a person", turns, np.array(each)
    tensors = np.load(folder / "dti_dipy.npz")
    yield "DTI", "a voxel", riemdp.SPDLogEuclidean(3), tensors["tensors"][tensors["source"] == 1]
    eeg = np.load(folder / "eeg_eegmmidb_s001.npz")
    for size, name in ((8, "cov8_4s"), (22, "cov22_4s")):
        text = f"EEG of one person, {size} channels"
        yield text, "an epoch of 4 s", riemdp.SPDLogEuclidean(size), eeg[name].astype(float)
    images = np.load(folder / "pneumoniamnist.npz")["x"]
    found = riemdp.covariance_descriptors(images, 0.01)
    yield "chest X-rays, descriptors", "an image", riemdp.SPDLogEuclidean(9), found


def _rotations(wxyz: Any) -> Any:
    w, x, y, z = wxyz.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    left, _, right = np.linalg.svd(np.moveaxis(np.array(rows), -1, 0))
    return left @ right


def _mean(space: Any, points: Any) -> Any:
    """Point about which the coordinates have mean zero."""
    center = points[0]
    for _ in range(200):
        step = space.coordinates(center, points).mean(axis=0)
        center = space.validate(space.point(center, step))
        if np.linalg.norm(step) < 1e-9:
            break
    return center


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--draws", type=int, default=20)
    chosen = parser.parse_args()
    print(HEAD, "|" + "---|" * (HEAD.count("|") - 1), sep="\n")
    for name, unit, space, records in cases(Path(os.environ["RIEMDP_DATA"])):
        order = np.random.default_rng(zlib.crc32(name.encode())).permutation(len(records))
        public, private = np.array_split(np.asarray(records)[order], 2)
        center, n = _mean(space, private), len(private)
        spread = math.sqrt(np.mean(space.dist(center, private) ** 2))
        for text, budget in BUDGETS.items():
            advice = riemdp.advise_ball(public, n, budget, manifold=space)
            rng = np.random.default_rng(zlib.crc32(f"{name} {budget}".encode()))
            far = [
                space.dist(
                    center, riemdp.private_mean(private, advice.ball, budget, generator=rng).value
                )
                for _ in range(chosen.draws)
            ]
            measured = math.sqrt(np.mean(np.square(far)))
            share = measured / spread
            verdict = "useful" if share <= USEFUL else "borderline" if share <= BORDERLINE else None
            print(
                f"| {name} | {unit} | {n} | {space.dim} | {spread:.2g} "
                f"| {spread / math.sqrt(n):.2g} | {text} | {advice.ball.radius / spread:.2g} "
                f"| {advice.best.error:.2g} | {measured:.2g} | {verdict or '**hopeless**'} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
