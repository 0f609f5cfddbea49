"""
Auditing a script of your own
=============================

A script releases the mean direction of some unit vectors. Its author clips nothing, averages, adds
Gaussian noise and normalises, and claims that the result is 1-GDP. Is it?
"""

import matplotlib.pyplot as plt
import numpy as np

import riemdp
from riemdp.auditing import (
    NearestNeighbourScore,
    audit_sensitivity,
    claimed_trade_off,
    neighbouring_datasets,
)

# %%
# The script. Its author thought of the mean of ``n`` unit vectors as moving by ``1/n`` when one of
# them is replaced. Two unit vectors may be 2 apart.


def release(directions, generator, sigma=1.0):
    """Mean direction with noise of scale ``sigma / n``."""
    mean = directions.mean(axis=0)
    noisy = mean + sigma / len(directions) * generator.standard_normal(3)
    return noisy / np.linalg.norm(noisy)


# %%
# A pair of neighbouring data sets that is as bad as possible inside a public ball.

sphere = riemdp.Sphere(2)
ball = riemdp.Ball(sphere, sphere.origin, 1.2)
dataset, neighbour = neighbouring_datasets(ball, 101)

# %%
# The audit needs no more than the script, the pair and the claim. The score is learned.

claim = riemdp.GDP(1.0)
generator = np.random.default_rng(0)  # a seed, so that this page does not change
result = riemdp.audit(
    release,
    dataset,
    neighbour,
    claim,
    samples=4000,
    score=NearestNeighbourScore(),
    generator=generator,
)
print(f"{result.verdict}: mu is at least {result.mu_lower:.2f}, claimed {claim.mu:g}")

# %%
# Why? The summary moves by more than ``1/n``, which its author took the scale from.

found = audit_sensitivity(
    lambda points: points.mean(axis=0),
    ball,
    101,
    claimed=1 / 101,
    distance=lambda a, b: np.linalg.norm(a - b),
    generator=generator,
)
print(f"{found.verdict}: the mean moves by {found.largest * 101:.2f} / n")

# %%
# Repaired, with twice the noise, no violation is found.

repaired = riemdp.audit(
    lambda points, source: release(points, source, sigma=2.0),
    dataset,
    neighbour,
    claim,
    samples=4000,
    score=NearestNeighbourScore(),
    generator=generator,
)
print(f"{repaired.verdict}: mu is at least {repaired.mu_lower:.2f}, claimed {claim.mu:g}")

# %%
# The trade-off between the two errors of whoever tries to tell the data sets apart. Below the
# claimed curve nothing may be.

grid = np.linspace(0.0, 1.0, 201)
figure, axes = plt.subplots(figsize=(5.0, 4.5), layout="constrained")
axes.plot(grid, claimed_trade_off(claim, grid), label="claimed: 1-GDP")
for name, audited in (("as written", result), ("repaired", repaired)):
    curve = audited.trade_off
    axes.plot(curve.fpr, curve.fnr, label=f"{name}: {audited.verdict}")
axes.set(xlabel="false positive rate", ylabel="false negative rate", aspect="equal")
axes.legend()
plt.show()
