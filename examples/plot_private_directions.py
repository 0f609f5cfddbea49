"""
Directions, axes and rotations without a ball
=============================================

Unit vectors can be averaged in the space around the sphere, where no record moves the mean by more
than 2/n, wherever it lies. So no ball has to be chosen: directions may come from everywhere, and
so may axes and rotations, whose sign or quaternion does not matter.
"""

# %%
# With the environment variable ``RIEMDP_DATA`` naming a folder that holds
# ``sphere_earthquakes.npz`` (``xyz`` unit vectors), real epicentres are used; without it, made-up
# ones. The output says which.

import os
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import riemdp

# Every seeded release warns, and all of this page are seeded.
warnings.filterwarnings("ignore", ".*the noise was seeded", riemdp.PublicWarning)

generator = np.random.default_rng(0)
folder = os.environ.get("RIEMDP_DATA")
path = Path(folder) / "sphere_earthquakes.npz" if folder else None
if path is not None and path.exists():
    points = np.load(path)["xyz"]
    source = "real epicentres (USGS/NEIC catalogue, magnitude 5.5 and more)"
else:
    points = generator.normal([-0.8, 0.3, 0.1], 1.0, size=(20_000, 3))
    source = "MADE-UP epicentres: RIEMDP_DATA names no folder with sphere_earthquakes.npz"
points = points / np.linalg.norm(points, axis=1, keepdims=True)
points = generator.permutation(points)[:2000]
print(f"{source}: {len(points)} of them")

# %%
# **Mean direction.** The resultant and the scatter matrix come in one release, and the second costs
# the first nothing. Every part of the value is computed from what was released, also the angle that
# the exact direction is within with probability .95: so the reader sees whether it means anything.

budget = riemdp.GDP(0.5)
release = riemdp.private_directional_summary(points, budget, order=(1, 2), generator=generator)
value = release.value
exact = points.mean(axis=0)


def degrees_between(one, other):
    """Angle between two vectors."""
    cosine = one @ other / (np.linalg.norm(one) * np.linalg.norm(other))
    return np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))


print(f"mean direction  {degrees_between(value.direction, exact):.2f} degrees from the exact one,")
print(f"                within {np.degrees(value.direction_bound):.2f} degrees with p = .95")
print(f"mean length     {value.corrected_length:.3f} (exact {np.linalg.norm(exact):.3f})")
print(f"concentration   {value.kappa:.2f}")
print(f"uniform?        p = {riemdp.rayleigh_test(release).pvalue:.2g} (Rayleigh)")
print(f"first axis      {'significant' if value.axis_significant else 'means nothing'}: ")
print(f"                gap {value.gap:.3f}, noise alone {value.gap_limit:.3f} at most (p = .95)")

# %%
# **Mean rotation.** Joint angles that spread over all of SO(3): a mean in a ball would have to clip
# many of them. The leading eigenvector of the mean of :math:`q q^\top` over unit quaternions needs
# no ball. What its error depends on is the gap between the first two eigenvalues, which is small
# where rotations spread, and is released.

n, draws = 220, 25
spreads, errors, bounds = np.linspace(0.2, 1.6, 8), [], []
for spread in spreads:
    turns = Rotation.from_rotvec(spread * generator.normal(size=(n, 3)))
    mean = turns.mean()
    found = [
        riemdp.private_rotation_mean(turns.as_matrix(), riemdp.GDP(1.0), generator=generator).value
        for _ in range(draws)
    ]
    # what was released is read-only, which older versions of SciPy do not take
    turned = [Rotation.from_matrix(each.rotation.copy()) for each in found]
    angles = [(mean.inv() * each).magnitude() for each in turned]
    errors.append(np.degrees(np.mean(angles)))
    bounds.append(np.degrees(np.mean([each.rotation_bound for each in found])))

figure, axes = plt.subplots(layout="constrained")
axes.semilogy(spreads, errors, "k.-", label="mean error")
axes.semilogy(spreads, bounds, "C0.--", label="released bound (p = .95)")
axes.set(xlabel="spread of the rotations in radians per axis", ylabel="degrees")
axes.set_title(f"mean rotation, n = {n}, μ = 1, no ball")
axes.legend()
plt.show()

# %%
# **Planar shapes.** Landmarks are compared up to translation, scale and rotation.

triangle = np.array([0.0, 1.0, 0.3 + 0.8j])
shapes = triangle + 0.1 * (generator.normal(size=(n, 3)) + 1j * generator.normal(size=(n, 3)))
shapes *= np.exp(2j * np.pi * generator.random((n, 1)))
mean_shape = riemdp.private_procrustes_mean(shapes, riemdp.GDP(1.0), generator=generator).value
wanted = triangle - triangle.mean()
overlap = abs(np.vdot(mean_shape.shape, wanted)) / np.linalg.norm(wanted)
print(f"Procrustes distance to the template {np.degrees(np.arccos(overlap)):.2f} degrees,")
print(f"to the exact mean at most {np.degrees(mean_shape.shape_bound):.2f} with p = .95")
