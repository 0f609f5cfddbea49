"""
A private mean of covariance matrices
=====================================

From an array of covariance matrices to a released mean with its guarantee, on symmetric positive
definite matrices with the log-Euclidean metric.
"""

# %%
# The data: 2000 covariance matrices, each estimated from 20 vectors of three numbers. Think of one
# matrix per person.

import json
import warnings

import matplotlib.pyplot as plt
import numpy as np

import riemdp

# Every seeded release warns, and all of this page are seeded.
warnings.filterwarnings("ignore", ".*the noise was seeded", riemdp.PublicWarning)

data_generator = np.random.default_rng(1)
mixing = np.array([[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [-0.3, 0.2, 0.8]])
samples = data_generator.normal(size=(2000, 20, 3)) @ mixing.T
points = samples.swapaxes(1, 2) @ samples / 20

# %%
# Three public choices, made without the data: the space, the ball and the budget. A record outside
# the ball will be moved to its boundary. How many are moved is private and nowhere reported.

space = riemdp.SPDLogEuclidean(3)
ball = riemdp.Ball(space, np.eye(3), 2.0)
budget = riemdp.ApproxDP(epsilon=1.0, delta=1e-6)

# %%
# The error can be known before the data are read, because the noise depends on public numbers only.

print(riemdp.plan(space, radius=ball.radius, n=len(points), budget=budget))

# %%
# The release. Leave ``generator`` out in earnest: then the noise comes from the operating system's
# randomness. A seeded generator is for pages like this one, and the release says that it is not
# private.

release = riemdp.private_mean(points, ball, budget, generator=np.random.default_rng(0))
print(release.value.round(4))
print(release.guarantee)
print(f"mechanism: {release.mechanism.name}, because: {release.reason}")
print(f"private: {release.private}")

# %%
# How far off is it? The release carries the law of its own error. The actual error below uses the
# exact mean, which only the holder of the data can compute, and which must not be published.

exact = riemdp.frechet_mean(space, ball.project(points)).value
print(f"expected distance  {release.expected_distance:.4f}")
print(f"95 % quantile      {release.error_quantile(0.95):.4f}")
print(f"actual distance    {float(space.dist(release.value, exact)):.4f}")

# %%
# Repeated draws show that the error law is right. (Repeating a real release would spend the budget
# each time.) The dashed line is the expected distance.

noise_generator = np.random.default_rng(2)
distances = [
    float(
        space.dist(
            riemdp.private_mean(points, ball, budget, generator=noise_generator).value, exact
        )
    )
    for _ in range(200)
]
figure, axes = plt.subplots(layout="constrained")
axes.hist(distances, bins=25, density=True, color="0.75")
axes.axvline(release.expected_distance, color="C0", linestyle="--")
axes.set(xlabel="distance to the exact mean", ylabel="density of 200 draws")
plt.show()

# %%
# Everything in the release is public, so it can be written to a file. ``riemdp verify`` recomputes
# the guarantee from it.

for name, value in json.loads(release.to_json()).items():
    print(f"{name}: {value}")
