"""He, Tang, Rahimian, Joshi, "Conformal-DP": the comparisons at an honest epsilon."""

from __future__ import annotations

import numpy as np

from riemdp.mechanisms import RiemannianLaplace
from riemdp.privacy import PureDP
from riemdp.spaces import Ball, Euclidean
from riemdp_papers._conformal import PublishedConformalLaplace
from riemdp_papers._experiment import (
    Experiment,
    Line,
    Outcome,
    Panel,
    Paper,
    Progress,
    Row,
    Settings,
    counted,
    mean_and_error,
)
from riemdp_papers._he_compare import (
    LAPLACE,
    NAMES,
    PUBLIC,
    PUBLISHED,
    RECORDS,
    Errors,
    clustered,
    compare,
    panels,
    parents_and_children,
    row,
)
from riemdp_papers._he_loss import counter_example
from riemdp_papers._he_plane import plane
from riemdp_papers._images import image_sets

#: Sections VII-A and Appendix H.
SPREADS = (0.1, 0.9)
EPSILONS = tuple(round(0.1 * i, 1) for i in range(1, 10))
#: Where the paper does not say.
USUAL_EPSILON, USUAL_DIM = 0.5, 3
#: Draws on images of each mechanism and of the published one, and images of a class, at most.
QUICK_IMAGES, IMAGES = ((6, 6, 1000), (100, 10, 7000))
#: For the images; the paper says "a small constant".
ETA = 1e-3
#: The data sets of the paper: their figure, and the name of their random numbers. Others take
#: those of the second.
IMAGE_FIGURES = {
    "CIFAR-10": ("Figure 6", "figure-6"),
    "Fashion-MNIST": ("Figure 7", "figures-6-7"),
}
BEST = "figure only; Conformal-DP is best"


def figure_2(settings: Settings, progress: Progress) -> Outcome:
    """Compare by dimension, for one cluster."""
    dims = (3, 9) if settings.quick else tuple(range(3, 10))
    cases = [(dim, spread) for spread in SPREADS for dim in dims]
    found = {}
    for dim, spread in counted(cases, progress):
        found[dim, spread] = clustered(settings, dim, 1, spread, USUAL_EPSILON)
    drawn, rows = [], []
    for spread in SPREADS:
        title = f"Figure 2, density {spread}, one cluster, ε = {USUAL_EPSILON}"
        drawn += panels(title, "dimension", dims, [found[dim, spread] for dim in dims])
        rows += [row(f"{title}, d = {d}", found[d, spread], BEST) for d in (dims[0], dims[-1])]
    return Outcome(tuple(rows), tuple(drawn), (_NOTE,))


def figures_3_4(settings: Settings, progress: Progress) -> Outcome:
    """Compare by the number of clusters and by epsilon, on the whole grid, in three dimensions."""
    numbers = (1, 9) if settings.quick else tuple(range(1, 10))
    epsilons = (0.1, 0.5, 0.9) if settings.quick else EPSILONS
    cases = [(spread, m, epsilon) for spread in SPREADS for m in numbers for epsilon in epsilons]
    found: dict[tuple[float, int, float], Errors] = {}
    for spread, m, epsilon in counted(cases, progress):
        found[spread, m, epsilon] = clustered(settings, USUAL_DIM, m, spread, epsilon)
    drawn, rows = [], []
    for spread in SPREADS:
        title = f"Figure 3, density {spread}, d = {USUAL_DIM}, ε = {USUAL_EPSILON}"
        line = [found[spread, m, USUAL_EPSILON] for m in numbers]
        drawn += panels(title, "clusters", numbers, line)
        rows += [row(f"{title}, clusters: {numbers[i]}", line[i], BEST) for i in (0, -1)]
    for m in (1, 9):
        title = f"Figure 4, density {SPREADS[0]}, d = {USUAL_DIM}, clusters: {m}"
        line = [found[SPREADS[0], m, epsilon] for epsilon in epsilons]
        drawn += panels(title, "ε", epsilons, line)
        rows += [row(f"{title}, ε = {epsilons[i]}", line[i], BEST) for i in (0, -1)]
    for spread in SPREADS:
        grid = {key[1:]: errors for key, errors in found.items() if key[0] == spread}
        rows += _against_laplace(spread, list(grid.values()))
        lines = tuple(
            Line(f"clusters: {m}", epsilons, tuple(_ratio(grid[m, e], PUBLISHED) for e in epsilons))
            for m in numbers
        )
        title = f"{PUBLISHED}, density {spread}"
        drawn.append(Panel(title, "ε", "mean distance / that of Laplace", lines, ylog=True))
    return Outcome(tuple(rows), tuple(drawn), (_NOTE,))


def _ratio(errors: Errors, name: str) -> float:
    """Mean distance over the exact one of the plain Laplace law."""
    return float(np.mean(errors.found[name])) / errors.exact[LAPLACE]


def _against_laplace(spread: float, grid: list[Errors]) -> list[Row]:
    """One row for each other mechanism, over the whole grid."""
    rows = []
    for name in NAMES[1:]:
        ratios = np.array([_ratio(errors, name) for errors in grid])
        rows.append(
            Row(
                f"{name}: mean distance over that of {LAPLACE}, density {spread}, clusters × ε",
                "Conformal-DP “consistently achieves superior utility” (section VII-A)"
                if name == PUBLISHED
                else "—",
                f"{np.min(ratios):.3g} to {np.max(ratios):.3g}",
                "—",
                f"Below 1 in {np.count_nonzero(ratios < 1.0)} of {len(ratios)} settings.",
            )
        )
    return rows


def sizes(settings: Settings, progress: Progress) -> Outcome:
    """Compare in the plane, for many records, and for few."""
    cases = (
        (2, 0.1, 0.5, 1000),
        (2, 0.03, 0.5, 10_000),
        (9, 0.03, 0.5, 10_000),
        (3, 0.1, 0.1, 30),
    )
    rows = []
    for dim, spread, epsilon, n in counted(cases, progress):
        errors = clustered(settings, dim, 1, spread, epsilon, n=n)
        setting = f"one cluster of spread {spread}, d = {dim}, ε = {epsilon}, n = {n}"
        rows.append(row(setting, errors, "—"))
    return Outcome(tuple(rows), notes=("Beyond the paper.", _NOTE))


def figure_5(settings: Settings, progress: Progress) -> Outcome:
    """Compare where the noise goes: about each of nine cluster centres, by local density."""
    generator = settings.generator("he", "figure-5")
    n, draws = RECORDS, 10 if settings.quick else 100
    shares = np.arange(1.0, 10.0) / 45.0
    points, parents = parents_and_children(3, 9, 0.1, n, generator, shares=shares)
    ball = Ball(Euclidean(3), np.zeros(3), 1.0)
    points, parents = ball.project(points), ball.project(parents)
    near = np.linalg.norm(points[:, None] - parents[None], axis=2) < 0.2
    share = np.mean(near, axis=0)
    order = np.argsort(share)
    drawn, rows = [], []
    epsilons = (0.1, 0.5, 0.9)
    for epsilon in counted(epsilons, progress):
        law = PublishedConformalLaplace(points, ball, epsilon, steps=520)
        dist = np.linalg.norm(law.sample(parents, draws, generator) - parents, axis=2)
        means, errors = np.array([mean_and_error(values) for values in dist.T]).T
        plain = RiemannianLaplace.calibrate(ball.manifold, 2.0 / n, PureDP(epsilon))
        flat = (plain.expected_distance(),) * len(order)
        x = tuple(share[order])
        lines = (
            Line(f"{PUBLISHED} (± 1 se)", x, tuple(means[order]), tuple(errors[order])),
            Line(f"{LAPLACE} (exact)", x, flat),
        )
        xlabel = "share of the records within 0.2 of the centre"
        drawn.append(Panel(f"Figure 5, ε = {epsilon}", xlabel, "mean distance", lines, ylog=True))
        rows.append(
            Row(
                f"distance about the densest / sparsest of nine centres, ε = {epsilon}, n = {n}",
                "figure only; “minimal perturbation” where dense (section IX)",
                " / ".join(f"{means[i]:.3g} ± {errors[i]:.1g}" for i in order[[-1, 0]])
                + " (NOT private)",
                f"{flat[0]:.3g} / {flat[0]:.3g} (Laplace, ε-DP)",
                "The published φ is small where the data are dense, while the rate is set by its "
                "largest value, so that the dense places get wide noise, not little of it.",
            )
        )
    return Outcome(tuple(rows), tuple(drawn), (_NOTE,))


def figures_6_7(settings: Settings, progress: Progress) -> Outcome:
    """Compare on covariance descriptors of images, for two classes of each data set."""
    there = {images.name: images for images in image_sets(settings)}
    # those of the paper, or one other
    sets = [there[name] for name in IMAGE_FIGURES if name in there] or list(there.values())[-1:]
    epsilons = (0.1, 0.9) if settings.quick else EPSILONS
    *draws, limit = QUICK_IMAGES if settings.quick else IMAGES
    cases = [(images, label) for images in sets for label in images.classes[:2]]
    drawn, rows, stalled = [], [], False
    for done, (images, label) in enumerate(cases):
        figure, stream = IMAGE_FIGURES.get(images.name, IMAGE_FIGURES["Fashion-MNIST"])
        # logarithms: a matrix as far out as the noise has eigenvalues too far apart for float64
        points, origin = images.chart(label, ETA, limit), np.zeros(images.dim)
        ball = Ball(Euclidean(images.dim), origin, images.radius(ETA))
        found = []
        for part, epsilon in enumerate(epsilons):
            errors = compare(
                points,
                origin[None],
                ball,
                epsilon,
                draws=(draws[0], draws[1]),
                generator=settings.generator("he", stream, str(label), str(epsilon)),
            )
            found.append(errors)
            progress((done + (part + 1) / len(epsilons)) / len(cases))
        stalled |= any(PUBLIC not in errors.found for errors in found)
        title = f"{figure}, {images.name}, class {label}, n = {len(points)}"
        drawn += panels(title, "ε", epsilons, found)
        claim = "figure only; Conformal-DP better than Laplace, like the Gaussian"
        rows += [row(f"{title}, ε = {epsilons[i]}", found[i], claim) for i in (0, -1)]
    hand = ", ".join(f"{x.name}, {'grey' if x.channels == 1 else 'in colour'}" for x in sets)
    radii = " and ".join(dict.fromkeys(f"{images.radius(ETA):.2f}" for images in sets))
    note = (
        f"Images at hand: {hand} (the paper has CIFAR-10 and Fashion-MNIST, 6,000 and "
        f"7,000 images of a class). η = {ETA:g}, radius {radii}; the public φ and prior "
        "know the identity only. Where the noise is wider than the ball, draws end on its "
        "boundary; exact is before that."
    )
    if stalled:
        note += f" No {PUBLIC} where its sampler would accept too few proposals."
    return Outcome(tuple(rows), tuple(drawn), (note, _NOTE))


_NOTE = (
    "The paper's numbers are in pictures only. Rows give the mean distance from the exact mean, ± "
    f"one standard error, of {' / '.join(NAMES)}. All but the last hold their ε, the Gaussian with "
    "a δ (the analytic calibration would have 0.78 to 0.85 of its noise); exact is before draws "
    "outside the ball are projected onto it. Each setting is one data set, the same for every ε, "
    "and standard errors are those of the draws; the published algorithm depends on the data set "
    "too. What the paper leaves open (bandwidth, graph, interpolation, ε and clusters of some "
    "figures) is filled in as the documentation of PublishedConformalLaplace says, and its "
    "results depend on that strongly. The paper's utility divides by the largest distance, here "
    "that of all mechanisms, so it moves with the worst of them."
)


PAPER = Paper(
    "he",
    "Conformal-DP: data density aware privacy on Riemannian manifolds",
    "He, Tang, Rahimian, Joshi, Conformal-DP, 2025",
    (
        Experiment("counter-example", "The true loss of the published algorithm", counter_example),
        Experiment("figure-2", "Figure 2: dimension", figure_2),
        Experiment("figures-3-4", "Figures 3 and 4: clusters and privacy budget", figures_3_4),
        Experiment("figure-5", "Figure 5: where the noise goes", figure_5),
        Experiment("plane", "The plane, summed exactly", plane),
        Experiment("sizes", "Few records and many", sizes),
        Experiment("figures-6-7", "Figures 6 and 7: image descriptors", figures_6_7),
    ),
)
