"""
Pictures of a release, a plan and an audit
==========================================

What is returned can be printed and drawn. Pictures hold public numbers alone: what is in the
document of a release, and what a plan was asked for.
"""

# %%
# A mean direction on the globe. The region holds the exact mean but for one release in 20; the law
# of the error beside it is in radians and in degrees.

import warnings

import matplotlib.pyplot as plt
import numpy as np

import riemdp

# Every seeded release warns, and all of this page are seeded.
warnings.filterwarnings("ignore", ".*the noise was seeded", riemdp.PublicWarning)

rng = np.random.default_rng(0)
sphere = riemdp.Sphere(2)
ball = riemdp.Ball(sphere, [0.6, 0.0, 0.8], 1.0)
directions = ball.point(rng.normal(0.0, 0.2, (60, 2)))
release = riemdp.private_mean(directions, ball, riemdp.GDP(0.5), generator=rng)
print(release)

figure, (left, right) = plt.subplots(1, 2, figsize=(11.0, 5.0), layout="constrained")
release.plot(left)
release.plot(right, view="error")
plt.show()

# %%
# A covariance matrix is an ellipse; the thin ones are matrices as far from it as noise gets.

space = riemdp.SPDLogEuclidean(2)
matrices = riemdp.Ball(space, np.diag([1.0, 2.0]), 1.0)
records = matrices.point(rng.normal(0.0, 0.2, (60, 3)))
riemdp.private_mean(records, matrices, riemdp.GDP(1.0), generator=rng).plot()
plt.show()

# %%
# Before the data: which mechanism, and how many records an error of 3 degrees needs.

target = np.radians(3.0)
grid = riemdp.plan_grid(
    sphere, 1.0, [50, 100, 200, 400], [riemdp.GDP(0.5), riemdp.GDP(1.0)], target_error=target
)
print(grid)

figure, (left, right) = plt.subplots(1, 2, figsize=(13.0, 5.0), layout="constrained")
grid.plans[0][0].plot(left)
grid.plot(right)
plt.show()

# %%
# Several releases together have a curve, which is better than the sum of their epsilons.

# sphinx_gallery_thumbnail_number = 4
riemdp.compose([riemdp.GDP(0.5), riemdp.PureDP(0.5)]).plot()
plt.show()
