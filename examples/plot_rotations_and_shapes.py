"""
Rotations and shapes: means up to a sign, a turn or a rotation
==============================================================

Two opposite unit quaternions are one rotation, and landmarks have the same shape wherever and
however they lie. Private means of both are released below; that of shapes in two ways, as the
Fréchet mean of their own space, and after alignment to a public template.
"""

# %%
# **Rotations.** 500 orientations that scatter about one by some 20 degrees, as a camera or a joint
# would give them: unit quaternions, with the scalar last. Their signs mean nothing, and are random
# here.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import riemdp

# Every seeded release warns, and all of this page are seeded.
warnings.filterwarnings("ignore", ".*the noise was seeded", riemdp.PublicWarning)

random = np.random.default_rng(0)
true = Rotation.from_euler("zyx", [20.0, -15.0, 10.0], degrees=True)
records = true * Rotation.from_rotvec(np.radians(12.0) * random.normal(size=(500, 3)))
quaternions = records.as_quat() * random.choice([-1.0, 1.0], size=(500, 1))

space = riemdp.Rotations()
ball = riemdp.Ball(space, np.eye(3), np.radians(60.0))  # public: within 60 degrees of upright
budget = riemdp.GDP(mu=1.0)
release = riemdp.private_mean(quaternions, ball, budget, generator=np.random.default_rng(1))
free = riemdp.private_rotation_mean(records.as_matrix(), budget, generator=np.random.default_rng(2))


def degrees(rotation):
    """Angle to the exact mean."""
    return np.degrees((records.mean().inv() * Rotation.from_matrix(np.array(rotation))).magnitude())


print(f"released            {release.statistic.name}, a matrix of shape {release.value.shape}")
print(f"expected distance   {np.degrees(release.expected_distance):.2f} degrees")
print(f"actual distance     {degrees(release.value):.2f} degrees")
print(f"without a ball      {degrees(free.value.rotation):.2f} degrees, within a bound of")
print(f"                    {np.degrees(free.value.rotation_bound):.2f} degrees that it states")

# %%
# What a larger ball costs. With ``mean="aligned"`` quaternions take the sign that is nearer to the
# centre's, and the ball may reach half a turn instead of a quarter; where both exist the two means
# are the same. The tangent mean costs less in each.

angles = np.arange(20.0, 171.0, 10.0)
mechanisms = {"Fréchet mean": "riemannian-gaussian", "tangent mean": "tangent-gaussian"}
figure, axes = plt.subplots(layout="constrained")
for label, mechanism in mechanisms.items():
    found = []
    for angle in angles:
        wide = riemdp.QuotientBall(space, np.eye(3), np.radians(angle), mean="aligned")
        table = riemdp.plan(wide.manifold, wide.radius, 500, budget, mechanisms=[mechanism])
        found.append(np.degrees(table.best.expected_distance))
    axes.semilogy(angles, found, "o-", label=label)
axes.axvline(90.0, color="0.7", linestyle="--", label="limit of intrinsic balls")
axes.set(xlabel="radius in degrees", ylabel="expected distance in degrees, n = 500")
axes.legend()
plt.show()

# %%
# **Shapes in the plane.** 600 outlines of 12 landmarks, each at its own place, in its own size
# and turned: complex numbers. The template is a plain public drawing, an ellipse; the mean of the
# records is not one.

k = 12
turns = 2.0 * np.pi * np.arange(k) / k
ellipse = np.cos(turns) + 0.6j * np.sin(turns)
bent = ellipse + 0.1 * np.cos(2.0 * turns) * 1j
noise = 0.08 * (random.normal(size=(600, k)) + 1j * random.normal(size=(600, k)))
place = random.normal(size=(600, 1)) + 1j * random.normal(size=(600, 1))
size_and_turn = np.exp(
    0.3 * random.normal(size=(600, 1)) + 2j * np.pi * random.uniform(size=(600, 1))
)
outlines = place + size_and_turn * (bent + noise)

shapes = riemdp.PlanarShapes(k)
exact, released = {}, {}
print("mean        radius  n Delta  expected  actual")
for mean, radius in (("intrinsic", 0.4), ("aligned", 0.4), ("intrinsic", 0.7), ("aligned", 0.7)):
    ball = riemdp.QuotientBall(shapes, ellipse, radius, mean=mean)
    manifold = ball.manifold
    release = riemdp.private_mean(
        outlines,
        ball,
        budget,
        mechanism="riemannian-gaussian",
        generator=np.random.default_rng(4),
    )
    exact[mean] = riemdp.frechet_mean(manifold, ball.project(outlines), ball=ball).value
    released[mean] = release.value
    delta = 600 * release.sensitivity
    actual = float(shapes.dist(exact[mean], release.value))
    print(f"{mean:<10}  {radius:6}  {delta:7.3f}  {release.expected_distance:8.4f}  {actual:6.4f}")

# %%
# The two exact means are nearly one point: much less apart than the error of sampling. The
# sensitivity of the intrinsic one, :math:`\tan(2r)/n`, grows without bound towards
# :math:`r = \pi/4`; that of the aligned one, :math:`2\tan(r)/n`, only towards :math:`\pi/2`.

apart = float(shapes.dist(exact["intrinsic"], exact["aligned"]))
spread = np.sqrt(np.mean(np.square(shapes.dist(exact["aligned"], ball.project(outlines)))))
print(f"intrinsic to aligned mean  {apart:.5f}")
print(f"error of sampling          {spread / np.sqrt(600):.5f}")


def drawn(shape, onto):
    """Landmarks of a shape, closed, turned to those of another."""
    found, fixed = shapes.present(shapes.validate(shape)), shapes.present(shapes.validate(onto))
    product = np.vdot(found, fixed)
    return np.append(found, found[0]) * product / abs(product)


figure, axes = plt.subplots(layout="constrained")
for label, shape, style in (
    ("template", ellipse, "0.7"),
    ("exact, aligned mean", exact["aligned"], "k"),
    ("released, aligned 0.7", released["aligned"], "C0o-"),
    ("released, intrinsic 0.7", released["intrinsic"], "C1s:"),
):
    line = drawn(shape, ellipse)
    axes.plot(line.real, line.imag, style, label=label)
axes.set_aspect("equal")
axes.legend()
plt.show()
