"""
Noise that follows the density of the data
==========================================

Can a release have less noise where the data are dense? Conformal-DP bends the metric by a density
estimate of the private data. As published that is not private. This page shows by how much on a
line, where everything can be computed, and then what is private and does help.
"""

# %%
# Twenty records on [-1, 1], and the same with one record moved. Everything in the published density
# is taken from the records: the metric, the base measure, the rate.

import warnings

import matplotlib.pyplot as plt
import numpy as np

import riemdp
from riemdp_papers import PublishedConformalLaplace

# Every seeded release warns, and all of this page are seeded.
warnings.filterwarnings("ignore", ".*the noise was seeded", riemdp.PublicWarning)

space = riemdp.Euclidean(1)
ball = riemdp.Ball(space, [0.0], 1.0)
data = np.random.default_rng(0).normal(0.0, 0.1, 20)
neighbour = data.copy()
neighbour[0] = 0.9
epsilon = 0.1
grid, step = np.linspace(-1.0, 1.0, 200_001, retstep=True)


def log_density(records):
    """Log density of the published mechanism on the grid."""
    law = PublishedConformalLaplace(
        records[:, None], ball, epsilon, bandwidth=0.1, neighbours=10, kernel_width=0.5
    )
    scaling = law.log_scaling_at(grid[:, None])  # half the log of the conformal factor
    along = np.cumsum(np.exp(scaling)) * step  # length in the conformal metric
    distance = np.abs(along - np.interp(records.mean(), grid, along))
    log_weight = scaling - law.rate * distance
    return log_weight - np.log(np.sum(np.exp(log_weight)) * step)


log_p, log_q = log_density(data), log_density(neighbour)
loss = np.abs(log_p - log_q).max()
delta = np.sum(np.maximum(np.exp(log_p) - np.exp(epsilon + log_q), 0.0)) * step
print(f"nominal epsilon {epsilon}, true loss {loss:.3f}, delta at the nominal epsilon {delta:.3f}")

figure, axes = plt.subplots(layout="constrained")
axes.plot(grid, np.exp(log_p), label="20 records about 0")
axes.plot(grid, np.exp(log_q), label="one of them moved to 0.9")
axes.set(xlabel="released point", ylabel="density")
axes.legend()
plt.show()

# %%
# So it is no mechanism of riemdp. With a public factor, or one from noisy counts, the idea is
# private. But the proof pays for the normaliser and for the largest factor, and there is no gain:
# plain noise of the same epsilon is closer to the mean.

plane = riemdp.Ball(riemdp.Euclidean(2), np.zeros(2), 1.0)
rng = np.random.default_rng(1)
cluster = rng.normal([0.3, 0.2], 0.1, (200, 2))
mean = cluster.mean(axis=0)
sensitivity = riemdp.frechet_mean_sensitivity(plane, 200)
plain = riemdp.RiemannianLaplace.calibrate(plane.manifold, sensitivity, riemdp.PureDP(0.5))
public = riemdp.research.ConformalLaplace.public(
    plane, lambda x: 1.0 + np.exp(-20.0 * np.sum((x - 0.25) ** 2, axis=-1)), 0.5, sensitivity, 5000
)
private = riemdp.research.ConformalLaplace.private(cluster, plane, 0.5, nodes=5000, generator=rng)
print(f"plain Laplace            {plain.expected_distance():.4f}")
print(f"public conformal factor  {public.expected_distance(mean):.4f}")
print(f"private conformal factor {private.expected_distance(mean):.4f}")

# %%
# What makes noise small is a small ball. It can be found privately, with a part of the budget; the
# rest releases the mean of the records clipped to it.

many = rng.normal([0.3, 0.2], 0.03, (10_000, 2))
center = many.mean(axis=0)
errors = {"public ball": [], "private ball": []}
for _ in range(20):
    found = riemdp.private_ball(many, plane, riemdp.PureDP(0.5), generator=rng)
    value = riemdp.private_mean(many, found, generator=rng).value
    errors["private ball"].append(np.linalg.norm(value - center))
    value = riemdp.private_mean(many, plane, riemdp.PureDP(0.5), generator=rng).value
    errors["public ball"].append(np.linalg.norm(value - center))
for name, values in errors.items():
    print(f"{name:<13} mean error {np.mean(values):.5f}")
