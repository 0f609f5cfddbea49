"""
Directions: how the radius of the ball drives the noise
=======================================================

On a sphere the sensitivity of the Fréchet mean grows faster than the radius of the ball, because
the sphere is curved. Three bounds are compared, then a private mean direction is released.
"""

# %%
# The exact constant on the unit sphere is :math:`2\tan(r)/n`, for every radius under
# :math:`\pi/2`. The two other bounds come from the literature and stop at :math:`\pi/4`:
# ``"theorem"`` is Theorem 2 of Reimherr, Bharath and Soto (NeurIPS 2021), ``"tight"`` replaces one
# of its steps by a sharp one. The tangent mean has :math:`2r/n`, without a curvature factor.

import warnings

import matplotlib.pyplot as plt
import numpy as np

import riemdp

# Every seeded release warns, and all of this page are seeded.
warnings.filterwarnings("ignore", ".*the noise was seeded", riemdp.PublicWarning)

sphere = riemdp.Sphere(2)
pole = np.array([0.0, 0.0, 1.0])
n = 1000


def sensitivities(radii, bound):
    """Sensitivity times n for each radius."""
    balls = [riemdp.Ball(sphere, pole, radius) for radius in radii]
    return [n * riemdp.frechet_mean_sensitivity(ball, n, bound=bound) for ball in balls]


small = np.linspace(0.02, 0.75, 60)
large = np.linspace(0.02, 1.3, 100)
figure, axes = plt.subplots(layout="constrained")
axes.plot(small, sensitivities(small, "theorem"), label="theorem")
axes.plot(small, sensitivities(small, "tight"), label="tight")
axes.plot(large, sensitivities(large, "exact"), "k", label="exact")
axes.plot(large, 2 * large, "k:", label="tangent mean")
axes.axvline(np.pi / 4, color="0.7", linestyle="--")
axes.set(xlabel="radius", ylabel="sensitivity times n", ylim=(0, 8))
axes.legend()
plt.show()

# %%
# In numbers, for :math:`r = \pi/8` and :math:`n = 10`:

ball = riemdp.Ball(sphere, pole, np.pi / 8)
for bound in ("theorem", "tight", "exact"):
    print(f"{bound:>8}  {riemdp.frechet_mean_sensitivity(ball, 10, bound=bound):.7f}")

# %%
# A release: 1000 directions that scatter about one, and a public ball that is known to be in the
# right place. Pure differential privacy, so Laplace noise.

data_generator = np.random.default_rng(3)
points = np.array([0.2, -0.1, 1.0]) + 0.15 * data_generator.normal(size=(n, 3))
points /= np.linalg.norm(points, axis=1, keepdims=True)

ball = riemdp.Ball(sphere, pole, 0.7)
budget = riemdp.PureDP(epsilon=0.5)
release = riemdp.private_mean(points, ball, budget, generator=np.random.default_rng(0))
exact = riemdp.frechet_mean(sphere, ball.project(points), ball=ball).value

print(f"mechanism          {release.mechanism.name} ({release.statistic.name})")
print(f"sensitivity        {release.sensitivity:.6f}")
print(f"expected distance  {np.degrees(release.expected_distance):.3f} degrees")
print(f"95 % quantile      {np.degrees(release.error_quantile(0.95)):.3f} degrees")
print(f"actual distance    {np.degrees(float(sphere.dist(release.value, exact))):.3f} degrees")

# %%
# What a larger ball costs. The data are the same; only the public radius changes.

radii = np.linspace(0.3, 1.4, 45)
figure, axes = plt.subplots(layout="constrained")
for bound, style in (("exact", "k"), ("theorem", "C0")):
    usable = radii[radii < np.pi / 4] if bound == "theorem" else radii
    errors = [
        riemdp.RiemannianLaplace.calibrate(
            sphere,
            riemdp.frechet_mean_sensitivity(riemdp.Ball(sphere, pole, radius), n, bound=bound),
            budget,
        ).expected_distance()
        for radius in usable
    ]
    axes.plot(usable, np.degrees(errors), style, label=f"{bound} sensitivity")
axes.set(xlabel="radius", ylabel="expected distance in degrees", ylim=(0, 3))
axes.legend()
plt.show()
