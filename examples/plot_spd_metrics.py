r"""
Two metrics on covariance matrices
==================================

The log-Euclidean metric is flat, the affine-invariant one curved. What each mean says, and what its
privacy costs at the same budget, radius and number of records.
"""

# %%
# Two 2 x 2 matrices with one bright axis each, 45 degrees apart. Between them the arithmetic mean
# swells: its determinant is larger than that of both. The determinant of the two Fréchet means
# is the geometric mean of the determinants.

import os
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import riemdp
from riemdp import research

# Every seeded release warns, and all of this page are seeded.
warnings.filterwarnings("ignore", ".*the noise was seeded", riemdp.PublicWarning)

angle = np.pi / 4
turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
first = np.diag([8.0, 0.5])
pair = np.stack([first, turn @ first @ turn.T])
print("determinants      ", np.round(np.linalg.det(pair), 3))
print("arithmetic mean   ", round(float(np.linalg.det(pair.mean(axis=0))), 3))
for metric in (riemdp.SPDLogEuclidean(2), riemdp.SPDAffineInvariant(2)):
    mean = riemdp.frechet_mean(metric, pair).value
    print(f"{type(metric).__name__:<18}", round(float(np.linalg.det(mean)), 3))

# %%
# Change the unit of one coordinate, or mix the channels: the affine-invariant mean goes along, the
# log-Euclidean one does not (it goes along with rotations and one unit for all).

mix = np.array([[1.0, 0.7], [0.0, 3.0]])
for metric in (riemdp.SPDLogEuclidean(2), riemdp.SPDAffineInvariant(2)):
    before = mix @ riemdp.frechet_mean(metric, pair).value @ mix.T
    after = riemdp.frechet_mean(metric, mix @ pair @ mix.T).value
    gap = float(riemdp.SPDAffineInvariant(2).dist(before, after))
    print(f"{type(metric).__name__:<18} distance between mean of mixed and mixed mean {gap:.1e}")

# %%
# The price at equal budget. Half of the records play the public part: their Fréchet mean is the
# centre and the 95 % quantile of their distances the radius of the ball, in each metric by itself.
# The other half is released. The error is measured from the mean of the records themselves in the
# same metric, what the ball cuts off included; the last two columns measure it with both distances.
# All rows of a data set release the same records: choose one beforehand, and publish no error.


def wishart(k, n, freedom):
    """Sample covariances of one population, with ``freedom`` samples each."""
    generator = np.random.default_rng(k)
    root = np.linalg.qr(generator.normal(size=(k, k)))[0] * np.geomspace(1.0, 10.0, k)
    samples = generator.normal(size=(n, freedom, k)) @ root.T
    return np.swapaxes(samples, 1, 2) @ samples / freedom


def data_sets():
    """Return names and matrices; recorded ones too where the environment names their folder."""
    found = {
        "Wishart, k=3": wishart(3, 1000, 15),
        "Wishart, k=10": wishart(10, 1000, 60),
    }
    folder = os.environ.get("RIEMDP_DATA")
    if folder and (path := Path(folder) / "dti_dipy.npz").exists():
        with np.load(path) as arrays:
            tensors = arrays["tensors"]
            found["diffusion tensors, k=3"] = tensors[arrays["source"] == 1]
    if folder and (path := Path(folder) / "eeg_eegmmidb_s001.npz").exists():
        with np.load(path) as arrays:
            epochs = arrays["cov8_1s"].astype(float)
            found["EEG epochs, k=8"] = 0.5 * (epochs + np.swapaxes(epochs, 1, 2))
    return found


def errors(metric, matrices, budget, mechanism, repeats=400):
    """Radius, records, scale of the noise, and median errors with both distances."""
    shuffled = np.random.default_rng(1).permutation(matrices)
    public, private = np.array_split(shuffled, 2)
    center = riemdp.frechet_mean(metric, public).value
    ball = riemdp.Ball(metric, center, float(np.quantile(metric.dist(center, public), 0.95)))
    target = riemdp.frechet_mean(metric, private).value
    release = riemdp.private_mean(
        private, ball, budget, mechanism=mechanism, generator=np.random.default_rng(0)
    )
    mean = riemdp.frechet_mean(metric, ball.project(private), ball=ball).value
    footpoints = np.broadcast_to(mean, (repeats, *mean.shape))
    draws = ball.project(
        research.sample(release.mechanism, footpoints, generator=np.random.default_rng(2))
    )
    rulers = (riemdp.SPDLogEuclidean(metric.k), riemdp.SPDAffineInvariant(metric.k))
    totals = [float(np.median(ruler.dist(target, draws))) for ruler in rulers]
    return ball.radius, len(private), release.mechanism.sigma, *totals


budgets = {
    "epsilon = 1": (riemdp.PureDP(1.0), "riemannian-laplace"),
    "mu = 1": (riemdp.GDP(1.0), "riemannian-gaussian"),
}
print("| data | n | budget | metric | radius | sigma | log-Euclidean error | affine error |")
print("| --- | --- | --- | --- | --- | --- | --- | --- |")
bars = {}
for name, matrices in data_sets().items():
    k = matrices.shape[-1]
    for label, (budget, mechanism) in budgets.items():
        for metric in (riemdp.SPDLogEuclidean(k), riemdp.SPDAffineInvariant(k)):
            radius, n, sigma, flat, affine = errors(metric, matrices, budget, mechanism)
            short = "log-Euclidean" if isinstance(metric, riemdp.SPDLogEuclidean) else "affine"
            print(
                f"| {name} | {n} | {label} | {short} | {radius:.3f} | {sigma:.6f} | "
                f"{flat:.4f} | {affine:.4f} |"
            )
            bars.setdefault(metric.name, []).append((f"{name}\n{label}", affine))

# %%
# The last column as a figure: for each set of data and budget what either metric leaves.

rows = np.arange(len(bars["SPDLogEuclidean"]))
figure, axes = plt.subplots(figsize=(5.6, 0.7 * len(rows) + 1.2), layout="constrained")
for place, (name, found) in zip((-0.2, 0.2), bars.items(), strict=True):
    axes.barh(rows + place, [error for _, error in found], height=0.38, label=name)
axes.set_yticks(rows, [name for name, _ in found])
axes.invert_yaxis()
axes.set_xlabel("median distance to the mean")
axes.legend()
plt.show()
