"""Demonstration on bundled images: what privacy costs a nearest-mean classifier."""

from __future__ import annotations

import importlib.util
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import numpy as np
import typer

from riemdp._errors import InvalidParameterError, PublicWarning
from riemdp._files import check_output, write_files
from riemdp._progress import ticks
from riemdp.cli._output import describe, print_table, say, say_lines, working
from riemdp.io import covariance_descriptors, descriptor_radius
from riemdp.privacy import GDP, ApproxDP, PureDP
from riemdp.release import private_mean
from riemdp.spaces import Ball, SPDLogEuclidean
from riemdp.statistics import frechet_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from riemdp.spaces import FloatArray

    Budget = PureDP | ApproxDP | GDP

ETA = 0.1
QUANTILE = 0.95
DELTA = 1e-5
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
MUS = (0.5, 1.0, 3.0)
REPEATS = 10
COLUMNS = ("mechanism", "budget", "all: expected", "actual", "class: expected", "actual")


@dataclass(frozen=True)
class Digits:
    """Descriptors of digit images, split by a rule that is public.

    ``public`` and ``public_labels`` fix the ball and test the classifier; ``private`` holds the
    private descriptors of each class.
    """

    public: FloatArray
    public_labels: NDArray[np.int64]
    private: tuple[FloatArray, ...]

    @property
    def all_private(self) -> FloatArray:
        """The private descriptors of all classes."""
        return np.concatenate(self.private)


@dataclass(frozen=True)
class Row:
    """One mechanism and budget: distances to the exact means, and the accuracy they leave."""

    mechanism: str
    budget: Budget
    expected_all: float
    actual_all: float
    expected_class: float
    actual_class: float
    accuracy: float

    def cells(self) -> list[str]:
        """Return the row as text."""
        distances = (self.expected_all, self.actual_all, self.expected_class, self.actual_class)
        numbers = [f"{number:.3f}" for number in (*distances, self.accuracy)]
        return [self.mechanism, describe(self.budget), *numbers]


def demo(
    output: Annotated[
        Path, typer.Option(help="Folder for the figure, made if it does not exist.")
    ] = Path("demo_output"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the noise.")] = 0,
) -> None:
    """Release private means of bundled images and show what the privacy costs."""
    for module, extra in (("sklearn", "scikit-learn"), ("matplotlib", "matplotlib")):
        if importlib.util.find_spec(module) is None:
            raise InvalidParameterError(f"the demo needs {extra}: pip install 'riemdp[demo]'")
    output.mkdir(parents=True, exist_ok=True)
    figure = check_output(output / "demo.png")
    digits = load_digits()
    ball = public_ball(digits.public)
    private = [ball.project(points) for points in digits.private]
    exact = exact_means(ball, private)
    exact_accuracy = accuracy(exact[:-1], digits)
    raw = frechet_mean(ball.manifold, digits.all_private).value
    moved = float(ball.manifold.dist(raw, exact[-1]))
    explain(digits, ball, moved)
    with working("Private means"), warnings.catch_warnings():
        # the table says how long the noise of all these is
        warnings.filterwarnings("ignore", "(?!the noise was seeded)", PublicWarning)
        rows = list(ticks(measure(digits, ball, exact, seed), len(settings()), "settings"))
    say("Distances to the exact mean of all private images and to those of the classes:")
    print_table((*COLUMNS, "accuracy"), [row.cells() for row in rows])
    say(f"The exact class means give an accuracy of {exact_accuracy:.3f}, chance 0.100.")
    write_files({figure: lambda opened: plot(rows, exact_accuracy, opened)})
    say(f"Figure: {output / 'demo.png'}")


def load_digits() -> Digits:
    """Return the digits with every other image of a class public, beginning with its first."""
    from sklearn.datasets import load_digits as bundled

    data = bundled()
    descriptors = covariance_descriptors(data.images / 16.0, ETA)
    labels = data.target
    order = np.array([np.count_nonzero(labels[:i] == labels[i]) for i in range(len(labels))])
    public = order % 2 == 0
    private = tuple(descriptors[~public & (labels == digit)] for digit in range(10))
    return Digits(descriptors[public], labels[public], private)


def public_ball(public: FloatArray) -> Ball:
    """Ball about the mean of the public records that holds 95 % of them."""
    manifold = SPDLogEuclidean(public.shape[-1])
    center = frechet_mean(manifold, public).value
    return Ball(manifold, center, float(np.quantile(manifold.dist(center, public), QUANTILE)))


def exact_means(ball: Ball, private: list[FloatArray]) -> FloatArray:
    """Exact mean of each class and, last, of all; only the holder of the data can know them."""
    groups = [*private, np.concatenate(private)]
    return np.array([frechet_mean(ball.manifold, points).value for points in groups])


def accuracy(means: FloatArray, digits: Digits) -> float:
    """Share of the public images whose nearest class mean is that of their digit."""
    manifold = SPDLogEuclidean(means.shape[-1])
    difference = manifold.to_chart(digits.public)[:, None] - manifold.to_chart(means)
    nearest = np.argmin(np.einsum("ijk,ijk->ij", difference, difference), axis=1)
    return float(np.mean(nearest == digits.public_labels))


def settings() -> list[tuple[str, Budget]]:
    """Mechanisms and budgets of the table."""
    pure: list[tuple[str, Budget]] = [
        ("riemannian-laplace", PureDP(epsilon)) for epsilon in EPSILONS
    ]
    approximate = [("tangent-gaussian", ApproxDP(epsilon, DELTA)) for epsilon in EPSILONS]
    gaussian = [("tangent-gaussian", GDP(mu)) for mu in MUS]
    return [*pure, *approximate, *gaussian]


def measure(digits: Digits, ball: Ball, exact: FloatArray, seed: int) -> Iterator[Row]:
    """Release all means under every setting and compare them with the exact ones."""
    generator = np.random.default_rng(seed)
    groups = [*digits.private, digits.all_private]
    for mechanism, budget in settings():
        distances = np.empty((REPEATS, len(groups)))
        hits = []
        for repeat in range(REPEATS):
            releases = [
                private_mean(points, ball, budget, mechanism=mechanism, generator=generator)
                for points in groups
            ]
            values = np.array([release.value for release in releases])
            distances[repeat] = ball.manifold.dist(values, exact)
            hits.append(accuracy(values[:-1], digits))
        yield Row(
            mechanism,
            budget,
            expected_all=releases[-1].expected_distance,
            actual_all=float(distances[:, -1].mean()),
            expected_class=float(np.mean([r.expected_distance for r in releases[:-1]])),
            actual_class=float(distances[:, :-1].mean()),
            accuracy=float(np.mean(hits)),
        )


EXPLANATION = """\
Digit images bundled with scikit-learn, as 9 x 9 covariance descriptors with eta = {eta:g}: points
of the symmetric positive definite matrices, log-Euclidean metric, dimension {dim}.

Public: every other image of a digit, {public} in all. Their mean is the centre of the ball,
and the {quantile:.0%} quantile of their distances to it is the radius, {radius:.3f}.
(A radius about the identity that holds for all images whatsoever is {proved:.3f}.)
Private: the other {private} images, {smallest} to {largest} of a digit. Records outside the ball
are projected onto it, which moves the mean of all by {moved:.4f}; the means below are of the
projected records.

Labels and class sizes are taken as public and neighbours differ in the features of one record,
so parallel composition holds and each class gets the whole budget.
Each row is a separate release of the class means, and so is the mean of all: publishing
several of them would add up their budgets.
The noise is seeded to make the table reproducible, which marks these releases as not private.
Distances to the exact means and accuracies are known to the holder of the private data alone;
they can be shown here because these images are public. They are averages over {repeats} draws.
The expected distance is that before the draw is projected onto the ball, which brings it closer.
Accuracy: nearest class mean, asked for the public images, which no class mean has seen.
"""


def explain(digits: Digits, ball: Ball, moved: float) -> None:
    """Say what is public, what is private and what the table means."""
    sizes = [len(points) for points in digits.private]
    say_lines(
        EXPLANATION.format(
            eta=ETA,
            dim=ball.manifold.dim,
            public=len(digits.public),
            quantile=QUANTILE,
            radius=ball.radius,
            proved=descriptor_radius(ETA, 1),
            private=sum(sizes),
            smallest=min(sizes),
            largest=max(sizes),
            moved=moved,
            repeats=REPEATS,
        )
    )


def plot(rows: list[Row], exact_accuracy: float, opened: IO[bytes]) -> None:
    """Draw distance and accuracy against epsilon."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    lines: dict[str, dict[Budget, float]] = {
        "riemannian-laplace, ε": {PureDP(epsilon): epsilon for epsilon in EPSILONS},
        f"tangent-gaussian, (ε, {DELTA:g})": {ApproxDP(e, DELTA): e for e in EPSILONS},
    }
    for index, (label, known) in enumerate(lines.items()):
        line = [row for row in rows if row.budget in known]
        epsilons = [known[row.budget] for row in line]
        color = f"C{index}"
        left.plot(epsilons, [row.actual_class for row in line], "o-", color=color, label=label)
        left.plot(epsilons, [row.expected_class for row in line], ":", color=color)
        right.plot(epsilons, [row.accuracy for row in line], "o-", color=color, label=label)
    left.plot([], [], ":", color="black", label="expected, before projection")
    left.set(xlabel="ε", ylabel="distance to the exact class mean", xscale="log", yscale="log")
    right.axhline(exact_accuracy, color="black", label="exact class means")
    right.axhline(0.1, color="grey", linestyle="--", label="chance")
    right.set(xlabel="ε", ylabel="accuracy", xscale="log", ylim=(0.0, 1.0))
    for axes in (left, right):
        axes.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS], minor=False)
        axes.minorticks_off()
        axes.legend(fontsize="small")
    figure.savefig(opened, format="png", dpi=120)
