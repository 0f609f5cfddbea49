"""
Private class means of images
=============================

Images of handwritten digits become covariance descriptors, points of a flat space of 45
dimensions. The mean descriptor of each digit is released, and the nearest mean classifies images.
"""

# %%
# The descriptor of an image is the covariance of nine features of its pixels, plus ``eta`` on the
# diagonal: a 9 x 9 symmetric positive definite matrix. The digits come with scikit-learn.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import riemdp

# Every seeded release warns, and all of this page are seeded.
warnings.filterwarnings("ignore", ".*the noise was seeded", riemdp.PublicWarning)

digits = load_digits()
eta = 0.1
descriptors = riemdp.covariance_descriptors(digits.images / 16.0, eta=eta)
space = riemdp.SPDLogEuclidean(9)

# %%
# Every other image plays public data of the same kind, the others are private. The ball is made
# from the public half: its centre is their mean, and its radius holds 95 % of them. A radius that
# holds for every image there could be, about the identity, is known too, but it is much larger.

public, private = descriptors[::2], descriptors[1::2]
public_labels, labels = digits.target[::2], digits.target[1::2]

center = riemdp.frechet_mean(space, public).value
radius = float(np.quantile(space.dist(center, public), 0.95))
ball = riemdp.Ball(space, center, radius)
print(
    f"radius from public images {radius:.3f}, proved radius {riemdp.descriptor_radius(eta, 1):.3f}"
)

# %%
# **What is assumed.** Labels and class sizes are public, and neighbouring data sets differ in the
# features of one record. A record then belongs to one class only, whatever its neighbour looks
# like, so the means of the ten classes compose in parallel: each can use the whole budget.

sizes = np.bincount(labels)
print("public class sizes:", sizes)
print("each class mean uses the whole budget: parallel composition over public labels")

# %%
# Release the ten means under several budgets and classify the public images, which no private mean
# has seen, by the nearest mean.


def accuracy(means):
    """Share of public images whose nearest mean is that of their digit."""
    distances = np.stack([space.dist(mean, public) for mean in means], axis=-1)
    return np.mean(np.argmin(distances, axis=-1) == public_labels)


classes = [private[labels == digit] for digit in range(10)]
exact = [riemdp.frechet_mean(space, ball.project(points)).value for points in classes]
epsilons = np.array([0.5, 1.0, 2.0, 4.0, 8.0, 16.0])
noise_generator = np.random.default_rng(0)
errors, accuracies = [], []
print("epsilon  expected distance  mean actual distance  accuracy")
for epsilon in epsilons:
    budget = riemdp.ApproxDP(epsilon=epsilon, delta=1e-5)
    releases = [
        riemdp.private_mean(points, ball, budget, generator=noise_generator) for points in classes
    ]
    means = [release.value for release in releases]
    expected = np.mean([release.expected_distance for release in releases])
    errors.append(np.mean([space.dist(a, b) for a, b in zip(means, exact, strict=True)]))
    accuracies.append(accuracy(means))
    print(f"{epsilon:7.1f}  {expected:17.3f}  {errors[-1]:20.3f}  {accuracies[-1]:8.3f}")
print(f"exact means: accuracy {accuracy(exact):.3f}")

# %%
# With about ninety images to a class and 45 dimensions, small budgets leave little. The actual
# distance falls below the expected one where the noise throws draws out of the ball: the release
# is the draw's projection onto it, and projecting brings it closer.

figure, axes = plt.subplots(layout="constrained")
axes.semilogx(epsilons, accuracies, "o-", label="private means")
axes.axhline(accuracy(exact), color="k", label="exact means")
axes.axhline(0.1, color="0.6", linestyle="--", label="chance")
axes.set(xlabel="ε per class", ylabel="accuracy", ylim=(0, 1))
axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
axes.xaxis.minorticks_off()
axes.legend()
plt.show()

# %%
# Publishing all rows of this table would spend the sum of their budgets, and the last row and the
# actual distances are not private at all. They are shown here because the images are public in
# fact, and only play private ones. To choose a budget by such a table, make it with public images.
