"""
An atlas: one mean tensor for every voxel
=========================================

Diffusion tensors of many subjects in one space of voxels: the mean tensor of every voxel, all of
them as one release. **All subjects are simulated**, around a smooth field that is simulated too:
nothing in the pictures is anatomy.
"""

# %%
# **Subjects.** A ring of fibres in a slice of 32 by 32 voxels. Each of 200 subjects has that field,
# and a part of its own on top.

import matplotlib.pyplot as plt
import numpy as np

import riemdp

random = np.random.default_rng(0)
shape, n = (32, 32), 200
y, x = np.meshgrid(*(np.linspace(-1.0, 1.0, size) for size in shape), indexing="ij")
far = np.hypot(x, y)
along = np.stack([-y, x, 0.0 * x], axis=-1) / np.maximum(far, 1e-9)[..., None]
ring = 1.2 * np.exp(-(((far - 0.6) / 0.3) ** 2))[..., None, None]
logs = (ring * (along[..., :, None] * along[..., None, :] - np.eye(3) / 3.0)).reshape(-1, 3, 3)

space = riemdp.SPDLogEuclidean(3)
template = np.eye(3)  # public, the same round tensor in every voxel
field = space.exp(template, logs)
own = 0.15 * random.normal(size=(n, len(field), 3, 3))
subjects = space.exp(template, logs + own + np.swapaxes(own, -1, -2))

# %%
# **Before any data are touched**: what is to be expected. Each subject is clipped as a whole, at a
# root mean square distance of 1 from the template over all voxels. The guesses are public: how far
# subjects are from their mean in a voxel, and how far the means are from the template.

atlas = riemdp.Power(space, len(field))
ball = riemdp.ProductBall(atlas, template, rms_radius=1.0)
budget = riemdp.GDP(1.0)
choice = ["tangent-gaussian"]
print(riemdp.plan(atlas, ball, n, budget, mechanisms=choice, spread=0.7, signal=0.5))

# %%
# Per voxel the noise is as large as what is looked for. That is what a release of so many means
# costs; means of regions and denoising bring it down, both after the release and at no cost.

release = riemdp.private_mean(
    subjects, ball, budget, mechanism="tangent-gaussian", generator=np.random.default_rng(1)
)
denoised = release.denoise("wiener", grid=shape)
for warning in release.warnings:
    print("release: ", warning)
print("denoised:", denoised.warnings[0])


def error(values):
    """Root mean square distance to the field, which is known here alone."""
    return np.sqrt(np.square(space.dist(field, values)).mean())


print(f"error per voxel of the template   {error(np.broadcast_to(template, field.shape)):.3f}")
print(f"error per voxel of the release    {error(release.value):.3f}")
print(f"stated by the release             {release.noise_per_mean:.3f}")
print(f"error per voxel after denoising   {error(denoised.value):.3f}")

# %%
# Fractional anisotropy and, as lines, the principal directions in the plane.


def anisotropy(tensors):
    """0 where water diffuses alike in all directions, towards 1 along a single one."""
    values = np.linalg.eigvalsh(tensors)
    spread = np.linalg.norm(values - values.mean(axis=-1, keepdims=True), axis=-1)
    return np.sqrt(1.5) * spread / np.linalg.norm(values, axis=-1)


panels = {"simulated field": field, "private release": release.value, "denoised": denoised.value}
figure, axes = plt.subplots(1, 3, figsize=(11.0, 4.0), layout="constrained")
for axis, (title, tensors) in zip(axes, panels.items(), strict=True):
    image = axis.imshow(anisotropy(tensors).reshape(shape), vmin=0.0, vmax=0.8, cmap="magma")
    first = np.linalg.eigh(tensors)[1][..., -1].reshape(*shape, 3)[::2, ::2]
    rows, columns = np.mgrid[0 : shape[0] : 2, 0 : shape[1] : 2]
    options = {"headwidth": 0, "headlength": 0, "headaxislength": 0, "pivot": "mid"}
    axis.quiver(
        columns, rows, first[..., 0], first[..., 1], angles="xy", scale=20.0, color="w", **options
    )
    axis.set(title=title, xticks=[], yticks=[])
figure.colorbar(image, ax=axes, label="fractional anisotropy", shrink=0.8)
figure.suptitle("simulated subjects: no anatomy")
plt.show()

# %%
# **Means of regions** are taken of the release, not of the denoised field, which is biased. Here
# that of the ring: the part of the logarithm along the fibres.


def along_fibres(tensors):
    """Coordinate along the simulated fibres, averaged over the ring."""
    directions = along.reshape(-1, 3)
    values = np.einsum("vi,vij,vj->v", directions, space.log(template, tensors), directions)
    return values[np.abs(far.ravel() - 0.6) < 0.1].mean()


print(f"of the field      {along_fibres(field):.3f}")
print(f"of the release    {along_fibres(release.value):.3f}")
print(f"of the denoised   {along_fibres(denoised.value):.3f}")
