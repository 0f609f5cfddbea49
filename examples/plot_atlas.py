"""
An atlas: one mean tensor for every voxel
=========================================

Diffusion tensors of many subjects in one space of voxels: the mean tensor of every voxel, all of
them as one release, and the same after denoising. **All subjects are simulated.** They vary around
one field of tensors, and how well the release finds that field again can be seen here alone.
"""

# %%
# **The field.** With the environment variable ``RIEMDP_DATA`` naming a folder that holds
# ``dti_dipy.npz``, it is a block of 6 x 10 x 10 voxels of one real scan; without it a made-up one,
# two bundles of fibres that cross, in which nothing is anatomy. The output says which.

import os
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import riemdp

# Every seeded release warns, and all of this page are seeded.
warnings.filterwarnings("ignore", ".*the noise was seeded", riemdp.PublicWarning)

random = np.random.default_rng(0)
space = riemdp.SPDLogEuclidean(3)
template = 0.7 * np.eye(3)  # in µm²/ms; public, the same round tensor in every voxel


def bundles(shape):
    """Return two bundles of fibres: a ring in the plane of the picture, and a column across it."""
    x, y, z = np.meshgrid(*(np.linspace(-1.0, 1.0, size) for size in shape), indexing="ij")
    far = np.hypot(y, z)
    around = np.stack([0.0 * x, -z, y], axis=-1) / np.maximum(far, 1e-9)[..., None]
    through = np.array([1.0, 0.0, 0.0]) + 0.0 * around
    logs = np.zeros((*shape, 3, 3))
    for directions, near in ((around, (far - 0.65) / 0.28), (through, far / 0.3)):
        outer = directions[..., :, None] * directions[..., None, :]
        logs += 1.3 * np.exp(-(near**2))[..., None, None] * (outer - np.eye(3) / 3.0)
    coordinates = space.tangent_coordinates(np.eye(3), logs.reshape(-1, 3, 3))
    return space.point(template, coordinates)


folder = os.environ.get("RIEMDP_DATA")
path = Path(folder) / "dti_dipy.npz" if folder else None
if path is not None and path.exists():
    with np.load(path) as data:
        field = data["tensors"][data["source"] == 0]
    shape, source = (6, 10, 10), "a block of one real scan (dipy's small_101D)"
else:
    shape, source = (6, 24, 24), "a MADE-UP field, no anatomy"
    field = bundles(shape)
print(f"{source}: {shape} = {len(field)} voxels")

# %%
# **The subjects.** Each of 300 has the field, and on top a part that is the same in all voxels, as
# brains differ, and one in every voxel, as scans have it.

n = 300
middle = space.to_chart(field)
whole = 0.1 * random.normal(size=(n, 1, 6))
own = 0.13 * random.normal(size=(n, len(field), 6))
subjects = space.from_chart(middle + whole + own)

# %%
# **Before any data are touched**: what is to be expected. Each subject is clipped as a whole, at a
# root mean square distance of 1 from the template over all voxels. The guesses are public: how far
# subjects are from their mean in a voxel, and how far the means are from the template.

atlas = riemdp.Power(space, len(field))
ball = riemdp.ProductBall(atlas, template, rms_radius=1.0)
budget = riemdp.GDP(1.0)
choice = ["tangent-gaussian"]
print(riemdp.plan(atlas, ball, n, budget, mechanisms=choice, spread=0.4, signal=0.75))

# %%
# The noise per voxel is what a release of so many means costs. Means of regions and denoising bring
# it down, both after the release and at no cost of privacy.

release = riemdp.private_mean(
    subjects, ball, budget, mechanism="tangent-gaussian", generator=np.random.default_rng(1)
)
denoised = release.denoise("wiener", grid=shape)
for warning in release.warnings:
    print("release: ", warning)
print("denoised:", denoised.warnings[0])


def anisotropy(tensors):
    """0 where water diffuses alike in all directions, towards 1 along a single one."""
    values = np.linalg.eigvalsh(tensors)
    spread = np.linalg.norm(values - values.mean(axis=-1, keepdims=True), axis=-1)
    return np.sqrt(1.5) * spread / np.linalg.norm(values, axis=-1)


def principal(tensors):
    """Direction along which water diffuses fastest; its sign means nothing."""
    return np.linalg.eigh(tensors)[1][..., -1]


fibres = anisotropy(field) > 0.3


def describe(name, tensors):
    """Errors against the field, which is known here alone."""
    distance = np.sqrt(np.square(space.dist(field, tensors)).mean())
    cosine = np.abs(np.einsum("vi,vi->v", principal(field), principal(tensors)))[fibres]
    turned = np.degrees(np.arccos(np.clip(cosine, 0.0, 1.0)))
    print(
        f"{name:<17} rms distance per voxel {distance:.3f}, anisotropy "
        f"{anisotropy(tensors)[fibres].mean():.3f} in fibres, their directions off by "
        f"{np.median(turned):.0f} degrees (median)"
    )


print(f"stated by the release: {release.noise_per_mean:.3f} per voxel")
panels = {"field": field, "private release": release.value, "denoised": denoised.value}
rms = np.sqrt(np.square(space.dist(field, template)).mean())
print(f"stated by the release: {release.noise_per_mean:.3f} per voxel; of the template: {rms:.3f}")
for name, tensors in panels.items():
    describe(name, tensors)

# %%
# One slice of each. First, fractional anisotropy, with lines along the principal directions where
# there is one, as long as they lie in the plane of the picture. Noise makes round tensors look
# anisotropic; denoising works on the logarithms, where it has no such bias.

# sphinx_gallery_thumbnail_number = 2
slice_of = {name: tensors.reshape(*shape, 3, 3)[shape[0] // 2] for name, tensors in panels.items()}
title = f"{n} SIMULATED subjects around\n{source}\nmean tensors, {budget}: slice {shape[0] // 2}"


def three_panels(draw):
    """One panel for the field, the release and what denoising makes of it."""
    figure, axes = plt.subplots(1, 3, figsize=(5.6, 4.0), layout="constrained")
    for axis, (name, slab) in zip(axes, slice_of.items(), strict=True):
        drawn = draw(axis, slab)
        axis.set(xticks=[], yticks=[], title=name.removesuffix(" release"))
    figure.suptitle(title, fontsize=11)
    return figure, axes, drawn


def with_lines(axis, slab):
    """Anisotropy, and lines along the principal directions."""
    fast, directions = anisotropy(slab), principal(slab)
    lines = np.where(fast[..., None] > 0.1, directions, np.nan)
    rows, columns = np.mgrid[: shape[1], : shape[2]]
    axis.quiver(
        columns, rows, lines[..., 2], lines[..., 1], angles="xy", scale_units="xy", scale=1.15,
        pivot="mid", color="w", width=0.005, headwidth=0, headlength=0, headaxislength=0,
    )  # fmt: skip
    return axis.imshow(fast, vmin=0.0, vmax=1.0, cmap="magma")


figure, axes, image = three_panels(with_lines)
figure.colorbar(image, ax=axes, label="fractional anisotropy (no unit)", location="bottom")
plt.show()

# %%
# The same directions as colours, the brighter the more anisotropic.


def as_colours(axis, slab):
    """Principal directions as colours."""
    bright = np.clip(anisotropy(slab) / 0.7, 0.0, 1.0)[..., None]
    return axis.imshow(np.abs(principal(slab))[..., [2, 1, 0]] * bright)


figure, axes, _ = three_panels(as_colours)
marks = [plt.Line2D([], [], marker="s", linestyle="", color=color) for color in ("r", "lime", "b")]
names = ["across", "down", "into the picture"]
figure.legend(marks, names, loc="outside lower center", ncols=3, frameon=False)
plt.show()

# %%
# **Means of regions** are taken of the release, not of the denoised field, which is biased. Here
# that of the first two slices, a region fixed beforehand: the distance of its mean logarithm from
# that of the field. The noise of one voxel is divided by the root of their number.

size = 2 * shape[1] * shape[2]
noise = release.noise_per_mean / np.sqrt(size)
print(f"region of {size} voxels, noise {noise:.4f} expected")
for name in ("private release", "denoised"):
    away = (space.to_chart(panels[name]) - middle)[:size].mean(axis=0)
    print(f"{name:<17} off by {np.linalg.norm(away):.4f}")
