"""
A private mean of diffusion tensors
===================================

A diffusion tensor is a 3 x 3 symmetric positive definite matrix in each voxel of a brain scan. Its
eigenvalues say how fast water diffuses along three axes. The mean of a region is released, under
two metrics.
"""

# %%
# With the environment variable ``RIEMDP_DATA`` naming a folder that holds ``dti_dipy.npz``
# (``tensors``, in µm²/ms), real tensors are used; without it, made-up ones. The output says which.

import os
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import riemdp
from riemdp import research

# Every seeded release warns, and all of this page are seeded.
warnings.filterwarnings("ignore", ".*the noise was seeded", riemdp.PublicWarning)

folder = os.environ.get("RIEMDP_DATA")
path = Path(folder) / "dti_dipy.npz" if folder else None
if path is not None and path.exists():
    tensors = np.load(path)["tensors"]
    source = "real tensors (dipy's test scans)"
else:
    rng = np.random.default_rng(1)
    frames = np.linalg.qr(2.0 * np.eye(3) + rng.normal(size=(1700, 3, 3)))[0]
    diffusivities = np.exp(np.log([0.5, 0.7, 1.1]) + 0.5 * rng.normal(size=(1700, 3)))
    tensors = (frames * diffusivities[:, None, :]) @ np.swapaxes(frames, 1, 2)
    tensors = 0.5 * (tensors + np.swapaxes(tensors, 1, 2))
    source = "MADE-UP tensors: RIEMDP_DATA names no folder with dti_dipy.npz"
print(f"{source}: n = {len(tensors)}")

# %%
# **What is protected** is one voxel. A person is many voxels: to protect a person, make one tensor
# per person first and release the mean of those.
#
# **What is public.** Water in brain tissue diffuses at about 0.7 µm²/ms, free water at body
# temperature at about 3. The ball is about ``0.7 I``; its radius reaches an isotropic tensor of 3.

center = 0.7 * np.eye(3)
metrics = {
    "log-Euclidean": riemdp.SPDLogEuclidean(3),
    "affine-invariant": riemdp.SPDAffineInvariant(3),
}
radius = float(metrics["log-Euclidean"].dist(center, 3.0 * np.eye(3)))
print(f"radius {radius:.3f}")

# %%
# The mean tensor under either metric, exact and private, beside the arithmetic mean. The arithmetic
# mean swells: its determinant, hence its diffusion ellipsoid, is larger than the geometric mean of
# those it averages, which the two Fréchet means keep (of records inside the ball).
#
# Choose one metric and publish one release: both together spend ε = 2 and δ = 2e-6. The exact rows
# and the actual distances are for the holder of the data alone.


def fractional_anisotropy(tensor):
    """0 where water diffuses alike in all directions, towards 1 along a single one."""
    values = np.linalg.eigvalsh(tensor)
    return float(np.sqrt(1.5) * np.linalg.norm(values - values.mean()) / np.linalg.norm(values))


def describe(name, tensor):
    """One line of the table."""
    print(
        f"{name:<28} mean diffusivity {np.trace(tensor) / 3:.4f}  "
        f"anisotropy {fractional_anisotropy(tensor):.4f}  determinant {np.linalg.det(tensor):.4f}"
    )


budget = riemdp.ApproxDP(epsilon=1.0, delta=1e-6)
generator = np.random.default_rng(0)
describe("arithmetic mean", tensors.mean(axis=0))
for name, space in metrics.items():
    ball = riemdp.Ball(space, center, radius)
    exact = riemdp.frechet_mean(space, ball.project(tensors), ball=ball).value
    release = riemdp.private_mean(tensors, ball, budget, generator=generator)
    describe(f"{name}, exact", exact)
    describe(f"{name}, private", release.value)
    actual = float(space.dist(release.value, exact))
    print(
        f"{'':<28} {release.mechanism.name}, distance {actual:.4f}, "
        f"expected {release.expected_distance:.4f}"
    )

# %%
# The three eigenvalues of the private mean against the budget: twenty draws each, the exact ones as
# lines. (Twenty real releases would spend twenty budgets.)

epsilons = np.array([0.05, 0.1, 0.25, 0.5, 1.0, 2.0])
figure, panels = plt.subplots(1, 2, figsize=(5.6, 4.0), sharey=True, layout="constrained")
for axes, (name, space) in zip(panels, metrics.items(), strict=True):
    ball = riemdp.Ball(space, center, radius)
    exact = riemdp.frechet_mean(space, ball.project(tensors), ball=ball).value
    for line in np.linalg.eigvalsh(exact):
        axes.axhline(line, color="0.6", linewidth=1)
    for epsilon in epsilons:
        spent = riemdp.ApproxDP(epsilon, 1e-6)
        mechanism = riemdp.private_mean(tensors, ball, spent, generator=generator).mechanism
        draws = ball.project(
            research.sample(mechanism, np.broadcast_to(exact, (20, 3, 3)), generator=generator)
        )
        values = np.linalg.eigvalsh(draws)
        axes.plot(np.full(20, epsilon), values, ".", color="C0", markersize=3)
    axes.set(xscale="log", yscale="log", xlabel="ε at δ = 1e-6", title=name)
panels[0].set_ylabel("eigenvalues in µm²/ms")
panels[0].set_yticks([0.3, 0.5, 1.0], ["0.3", "0.5", "1"])
panels[0].yaxis.minorticks_off()
plt.show()
