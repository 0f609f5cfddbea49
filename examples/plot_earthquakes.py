"""
The mean place of earthquakes
=============================

Places on the Earth are points of a sphere. The mean epicentre of a region is released every year,
and on the whole; noise on the sphere is compared with noise on the vectors in space.
"""

# %%
# With the environment variable ``RIEMDP_DATA`` naming a folder that holds
# ``sphere_earthquakes.npz`` (``xyz`` unit vectors, ``year``), real epicentres are used; without it,
# made-up ones. The output says which.

import os
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import riemdp
from riemdp import research

# Every seeded release warns, and all of this page are seeded.
warnings.filterwarnings("ignore", ".*the noise was seeded", riemdp.PublicWarning)

EARTH = 6371.0  # mean radius in km: distances on the unit sphere times this


def unit_vectors(longitude, latitude):
    """Points of the unit sphere, from degrees."""
    lon, lat = np.radians(longitude), np.radians(latitude)
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1)


sphere = riemdp.Sphere(2)
region = riemdp.Ball(sphere, unit_vectors(140.0, 38.0), np.radians(15.0))
folder = os.environ.get("RIEMDP_DATA")
path = Path(folder) / "sphere_earthquakes.npz" if folder else None
if path is not None and path.exists():
    catalogue = np.load(path)
    points, years = catalogue["xyz"], catalogue["year"].astype(int)
    source = "real epicentres (USGS/NEIC catalogue, magnitude 5.5 and more)"
else:
    rng = np.random.default_rng(1)
    years = np.repeat(np.arange(1965, 2017), rng.integers(20, 200, size=52))
    east, north = 4.0 * rng.normal(size=(2, len(years)))
    points = unit_vectors(140.0 + east, 37.0 + north)
    source = "MADE-UP epicentres: RIEMDP_DATA names no folder with sphere_earthquakes.npz"
points = points / np.linalg.norm(points, axis=1, keepdims=True)
inside = region.contains(points) & (years >= 1965)
points, years = points[inside], years[inside]
print(f"{source}: {len(points)} within 15 degrees of 38° N, 140° E")

# %%
# **What is assumed.** Which records lie in the region, and how many there are in each year, is
# public; where in the region each of them lies is what is protected. (Earthquakes are no secret.
# They play the part of homes or of sightings of a rare animal.)

budget = riemdp.PureDP(epsilon=1.0)
release = riemdp.private_mean(points, region, budget, generator=np.random.default_rng(0))
exact = riemdp.frechet_mean(sphere, points, ball=region).value


def place(point):
    """Latitude and longitude in degrees."""
    return f"{np.degrees(np.arcsin(point[2])):.3f} N {np.degrees(np.arctan2(*point[1::-1])):.3f} E"


print(f"exact mean    {place(exact)}")
print(f"private mean  {place(release.value)}, {release.guarantee}")
print(
    f"{EARTH * float(sphere.dist(release.value, exact)):.2f} km apart, "
    f"expected {EARTH * release.expected_distance:.2f} km"
)

# %%
# A mean for every year: a record belongs to one year, so the years compose in parallel and all of
# them together are 1-differentially private. Together with the mean of all years above they spend
# ε = 2. Years with few records get more noise.

generator = np.random.default_rng(1)
counted = np.unique(years)
distances, expected, sizes = [], [], []
for year in counted:
    of_year = points[years == year]
    yearly = riemdp.private_mean(of_year, region, budget, generator=generator)
    mean = riemdp.frechet_mean(sphere, of_year, ball=region).value
    distances.append(EARTH * float(sphere.dist(yearly.value, mean)))
    expected.append(EARTH * yearly.expected_distance)
    sizes.append(len(of_year))

# %%
# The other way: average the unit vectors in space, add Laplace noise there, and go back to the
# sphere. Two points of the region are at most ``2 sin(radius)`` apart in space. The noise has three
# dimensions then instead of two, one of which normalising removes. Each way is measured from its
# own mean without noise.

embedded = riemdp.RiemannianLaplace.calibrate(
    riemdp.Euclidean(3), 2.0 * np.sin(region.radius) / len(points), budget
)
noisy = research.sample(embedded, points.mean(axis=0), 20_000, generator)
noisy /= np.linalg.norm(noisy, axis=1, keepdims=True)
direction = points.mean(axis=0) / np.linalg.norm(points.mean(axis=0))
outside = EARTH * float(np.mean(sphere.dist(noisy, direction)))
on_sphere = EARTH * release.expected_distance
print(f"expected error: {on_sphere:.2f} km on the sphere, {outside:.2f} km by the embedding")
print(f"the sphere saves {1.0 - on_sphere / outside:.0%}")

figure, axes = plt.subplots(layout="constrained")
axes.loglog(sizes, distances, ".", label="one release for each year")
order = np.argsort(sizes)
axes.loglog(np.array(sizes)[order], np.array(expected)[order], "k", label="expected")
axes.set(xlabel="records in the year", ylabel="distance to the exact mean in km")
ticks = [size for size in (25, 50, 100, 200, 400, 800) if min(sizes) <= size <= max(sizes)]
axes.set_xticks(ticks, [f"{size}" for size in ticks])
axes.xaxis.minorticks_off()
axes.legend()
plt.show()
