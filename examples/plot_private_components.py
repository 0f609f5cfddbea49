"""
Mean, spread and components of diffusion tensors in one release
===============================================================

A mean says where records lie, a covariance how they spread. Under Gaussian noise the second is
free beside the first. From both come principal components, a confidence region for the mean, and a
test of whether two groups have one mean; all of that is computed from what was released.
"""

# %%
# With the environment variable ``RIEMDP_DATA`` naming a folder that holds ``dti_dipy.npz``
# (``tensors``, in µm²/ms, and their ``source``), real tensors are used; without it, made-up ones.
# The output says which.

import os
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import riemdp

# Every seeded release warns, and all of this page are seeded.
warnings.filterwarnings("ignore", ".*the noise was seeded", riemdp.PublicWarning)

folder = os.environ.get("RIEMDP_DATA")
path = Path(folder) / "dti_dipy.npz" if folder else None
if path is not None and path.exists():
    with np.load(path) as file:
        tensors, scan = file["tensors"], file["source"]
    source = "real tensors (dipy's test scans)"
else:
    rng = np.random.default_rng(1)
    scan = np.repeat([0, 1], [600, 972])
    frames = np.linalg.qr(2.0 * np.eye(3) + rng.normal(size=(1572, 3, 3)))[0]
    diffusivities = np.exp(np.log([0.5, 0.7, 1.1]) + 0.5 * rng.normal(size=(1572, 3)))
    diffusivities[scan == 1] *= 1.3
    tensors = (frames * diffusivities[:, None, :]) @ np.swapaxes(frames, 1, 2)
    tensors = 0.5 * (tensors + np.swapaxes(tensors, 1, 2))
    source = "MADE-UP tensors: RIEMDP_DATA names no folder with dti_dipy.npz"
print(f"{source}: n = {len(tensors)}")

# %%
# The ball is the one of the example on means: about water in tissue, as far as free water. One
# voxel is protected. The seeded generator is for this page alone: without it a release is private.

space = riemdp.SPDLogEuclidean(3)
ball = riemdp.Ball(space, 0.7 * np.eye(3), 6.0)
generator = np.random.default_rng(0)
release = riemdp.private_moments(
    tensors, ball, riemdp.GDP(1.0), second="matrix", base="recentred", generator=generator
)
value = release.value
print("mean tensor\n", np.round(value.mean, 3))
print(f"standard deviation {np.sqrt(value.variance):.3f}, records clipped at {value.clip:.3f}")
print(f"noise: {value.mean_sd:.4f} in a coordinate of the mean")

# %%
# **Components.** Eigenvalues of the released covariance, beside those of the tensors themselves,
# which only their holder sees. The line is the largest eigenvalue of noise alone: smaller ones say
# nothing.

exact = np.linalg.eigvalsh(np.cov(ball.coordinates(tensors).T))[::-1]
found = np.linalg.eigvalsh(value.covariance)[::-1]
noise = value.second_moment_sd * np.sqrt(2 * space.dim)

figure, axes = plt.subplots(figsize=(5.6, 4.0))
axes.plot(range(1, 7), exact, "o-", label="exact, not published")
axes.plot(range(1, 7), found, "s--", label="released, μ = 1")
axes.axhline(noise, color="0.6", linewidth=1, label="largest that noise alone has")
axes.set(xlabel="component", ylabel="variance")
axes.legend(frameon=False)
figure.tight_layout()
plt.show()

# %%
# **A region for the mean** of the law of the tensors: sampling and noise are both in it. It is
# about clipped records in the tangent space at the base that was released, and asymptotic.

region = release.confidence_region(0.95)
print(f"95 % region: semi-axes {np.round(region.semi_axes, 4)}")
print(region.note)

# %%
# **Two groups.** Which scan a voxel is from is public, and no voxel is in both, so each release has
# its own guarantee. They have to be seen from one base: the public one.

first, second = (
    riemdp.private_moments(
        tensors[scan == k], ball, riemdp.GDP(1.0), second="matrix", generator=generator
    )
    for k in (0, 1)
)
test = riemdp.two_sample_test(first, second)
print(f"difference {np.linalg.norm(test.difference):.3f}, p-value {test.pvalue:.2g}")
