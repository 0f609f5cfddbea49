"""
Planning before the data
========================

The noise depends on the space, the radius of the ball, the number of records and the budget. All
of them are public, so the error of a release can be known before a record is read.
"""

# %%
# The table for 3 x 3 covariance matrices under a budget that allows a small delta. The distances
# are those of the draw from the exact summary.

import matplotlib.pyplot as plt
import numpy as np

import riemdp

space = riemdp.SPDLogEuclidean(3)
radius = 2.0
print(riemdp.plan(space, radius=radius, n=500, budget=riemdp.ApproxDP(1.0, 1e-6)))

# %%
# Under pure differential privacy the Gaussian has no place.

print(riemdp.plan(space, radius=radius, n=500, budget=riemdp.PureDP(1.0)))

# %%
# The expected error falls as 1/n. Where it crosses the accuracy you need, you have enough records.
# Laplace noise grows with the dimension, Gaussian noise with its square root: for small matrices
# the first is better although it does not use the delta, for large ones the second.

counts = np.unique(np.logspace(1.5, 5, 25).astype(int))
figure, axes = plt.subplots(layout="constrained")
for index, k in enumerate((2, 5, 9)):
    manifold = riemdp.SPDLogEuclidean(k)
    ball = riemdp.Ball(manifold, np.eye(k), radius)
    sensitivities = [riemdp.frechet_mean_sensitivity(ball, int(n)) for n in counts]
    laplace = [
        riemdp.RiemannianLaplace.calibrate(manifold, s, riemdp.PureDP(1.0)) for s in sensitivities
    ]
    gaussian = [
        riemdp.TangentGaussian.calibrate(manifold, s, riemdp.ApproxDP(1.0, 1e-6))
        for s in sensitivities
    ]
    color = f"C{index}"
    axes.loglog(counts, [m.expected_distance() for m in laplace], color, label=f"Laplace, k = {k}")
    axes.loglog(
        counts, [m.expected_distance() for m in gaussian], color + "--", label=f"Gaussian, k = {k}"
    )
axes.axhline(radius, color="0.6", linewidth=1)
axes.set(xlabel="number of records", ylabel="expected distance")
axes.legend(fontsize=9, ncols=2)
plt.show()

# %%
# The grey line is the radius of the ball. Above it the release says little: the ball's centre,
# which is public, is as good a guess.
#
# The other way round: which number of records gives the error you want?

print(
    riemdp.plan(space, radius=radius, n=500, budget=riemdp.ApproxDP(1.0, 1e-6), target_error=0.02)
)
