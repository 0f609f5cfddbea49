"""
A private classifier of covariance matrices
===========================================

Windows of a brain recording become covariance matrices, and a classifier tells what the person did.
The classifier is what is released: its class means, or a linear discriminant analysis in a tangent
space, with the labels protected as well as the matrices. How much budget does it need?
"""

# %%
# With the environment variable ``RIEMDP_DATA`` naming a folder that holds ``eeg_eegmmidb_s001.npz``
# (``cov8_1s``, windows of one second, 8 channels, µV²; ``label_1s`` and ``run_1s``), a real
# recording is used; without it, made-up matrices. The output says which.

import os
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from riemdp import GDP, Accountant, Ball, BudgetExceededError, SPDLogEuclidean
from riemdp.estimators import (
    NotPrivateWarning,
    PrivateMDM,
    PrivateTangentLDA,
    PublicProjection,
    make_private_pipeline,
)

FISTS, FEET = 3, 4
CHANNELS = 8
folder = os.environ.get("RIEMDP_DATA")
path = Path(folder) / "eeg_eegmmidb_s001.npz" if folder else None
if path is not None and path.exists():
    recording = np.load(path)
    matrices, labels, runs = (recording[name] for name in ("cov8_1s", "label_1s", "run_1s"))
    matrices = matrices.astype(float)
    source = "a real recording (PhysioNet EEG Motor Movement/Imagery, one subject)"
else:
    rng = np.random.default_rng(1)
    labels = np.tile([FISTS, FEET, 0, 0], 360)
    runs = np.repeat([3, 5, 6, 9, 10, 13], 240)
    mixing = 3.0 * np.eye(CHANNELS) + rng.normal(size=(CHANNELS, CHANNELS))
    power = np.ones((5, CHANNELS))
    power[FISTS, 2:4], power[FEET, 4:6] = 0.85, 0.85
    # the power of the same channels changes from window to window, in rest too
    changes = 0.3 * rng.normal(size=(1440, CHANNELS)) * [0, 0, 1, 1, 1, 1, 0, 0]
    power = power[labels] * np.exp(changes)
    signals = mixing @ (rng.normal(size=(1440, CHANNELS, 24)) * power[:, :, None])
    matrices = signals @ np.swapaxes(signals, 1, 2) / 24
    source = "MADE-UP matrices: RIEMDP_DATA names no folder with eeg_eegmmidb_s001.npz"
matrices = 0.5 * (matrices + np.swapaxes(matrices, 1, 2))
print(f"{source}: {len(matrices)} windows")

# %%
# **What is assumed.** Windows of rest are published, without which nobody would know how to set up
# the method; those of movement are private, and the last of their runs play the records that the
# classifier is for. The ball is chosen by what is known of such recordings: powers about 10 µV²,
# within a factor of 20 or so in every direction. A guess as rough as that is enough, since
# ``base="recentred"`` looks at the records from a mean that is released first.

space = SPDLogEuclidean(CHANNELS)
ball = Ball(space, 10.0 * np.eye(CHANNELS), 12.0)
public, moving = labels == 0, labels > 2
test = moving & (runs >= 13)
private = moving & ~test
X, y = matrices[private], labels[private]
print(f"{len(X)} private windows, {test.sum()} to be classified, {public.sum()} public ones")

# %%
# What a fit will cost is known before any data: the noise of all that is released together.

mdm = PrivateMDM(ball, GDP(1.0), classes=[FISTS, FEET])
row = mdm.plan(n=len(X))["tangent-gaussian"]
print(f"noise of {row.sigma:.3f} in each number, {row.expected_distance:.3f} in all; {row.caveat}")

# %%
# One fit is one release. The account adds them up, and refuses what exceeds its total: a
# cross-validation of five folds would need a budget for each. Fits of this page have seeds, so that
# it is the same every time: they are not private, and would warn of it.

warnings.simplefilter("ignore", NotPrivateWarning)  # never with records that are private
account = Accountant(GDP(1.0))
mdm.set_params(accountant=account, random_state=0).fit(X, y)
print("sizes of the classes, with noise:", mdm.counts_.round(1))
print(f"accuracy {mdm.score(matrices[test], labels[test]):.3f}")
print("left of the budget:", account.remaining)
try:
    mdm.fit(X, y)
except BudgetExceededError as error:
    print(error)

# %%
# Accuracy against the budget, the mean of ten fits each to see the trend; a real classifier is
# one fit, and all of these together would spend the sum of their budgets. Public windows of rest
# give directions to project onto: in few dimensions there is less noise.

few = PublicProjection(matrices[public], ball, n_components=5).fit()


def in_few_dimensions(random_state, **options):
    """Return a pipeline that is checked, and which a seed then makes the same every time."""
    model = make_private_pipeline(few, PrivateTangentLDA(few.ball_, **options))
    return model.set_params(privatetangentlda__random_state=random_state)


candidates = {
    "nearest mean, public base": lambda options: PrivateMDM(ball, base="public", **options),
    "nearest mean": lambda options: PrivateMDM(ball, **options),
    "discriminant analysis": lambda options: PrivateTangentLDA(ball, **options),
    "the same in 5 public directions": lambda options: in_few_dimensions(**options),
}
budgets = [0.25, 0.5, 1.0, 2.0, 4.0]
accuracies = {name: [] for name in candidates}
for mu in budgets:
    for name, make in candidates.items():
        given = {"budget": GDP(mu), "classes": [FISTS, FEET]}
        models = [make({**given, "random_state": seed}).fit(X, y) for seed in range(10)]
        found = [model.score(matrices[test], labels[test]) for model in models]
        accuracies[name].append(np.mean(found))
print("mu:", budgets)
for name, found in accuracies.items():
    print(f"{name:<32}", " ".join(f"{accuracy:.3f}" for accuracy in found))

# %%
# The recentred base makes up for the generous ball. Directions of rest help in a real recording
# where the budget is small, and lose what the others hold where it is large.

figure, axes = plt.subplots(layout="constrained")
for name, found in accuracies.items():
    axes.plot(budgets, found, "o-", label=name)
axes.axhline(0.5, color="k", linestyle=":", label="chance")
axes.set(xscale="log", xlabel="µ of the fit", ylabel="accuracy", ylim=(0.4, 1.0))
axes.set_xticks(budgets, [f"{mu:g}" for mu in budgets])
axes.xaxis.minorticks_off()
axes.legend()
plt.show()
