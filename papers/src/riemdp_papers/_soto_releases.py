"""k Laplace and Gaussian releases in every definition of Soto's Table 1."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp.mechanisms import TangentGaussian, TangentLaplace
from riemdp.privacy import GDP, KLDP, RDP, ZCDP, ApproxDP, MeanCDP, PureDP, compose, convert
from riemdp.spaces import Euclidean
from riemdp_papers._experiment import Line, Outcome, Panel, Progress, Row, Settings, counted

if TYPE_CHECKING:
    from riemdp.mechanisms import Mechanism
    from riemdp.privacy import Budget, PrivacyCurve

LINE = Euclidean(1)
#: Sensitivity over scale of each release of the figure, and how many releases.
RATIO, RELEASES = 0.1, (1, 2, 4, 8, 16, 32, 64, 128, 256)
DELTA, EPSILON, ORDER = 1e-6, 1.0, 8.0


def releases(settings: Settings, progress: Progress) -> Outcome:
    """K Laplace and Gaussian releases in every definition."""
    del settings
    panels = []
    rows = []
    both = (("Laplace", laplace(RATIO)), ("Gaussian", gaussian(RATIO)))
    for name, mechanism in counted(both, progress):
        composed = _every_composition(mechanism)
        exact = [mechanism.privacy(1.0).self_compose(k) for k in RELEASES]
        parameters = [
            Line(label, RELEASES, tuple(_parameter(x) for x in values))
            for label, values in composed.items()
        ]
        epsilons: dict[str, tuple[float, ...]] = {
            label: tuple(float(x.epsilon_at(DELTA)) for x in values)
            for label, values in composed.items()
        }
        epsilons["exact"] = tuple(float(curve.epsilon_at(DELTA)) for curve in exact)
        finite = [
            Line(label, RELEASES, values)
            for label, values in epsilons.items()
            if np.all(np.isfinite(values)) and max(values) < 1e3
        ]
        deltas: dict[str, tuple[float, ...]] = {
            label: tuple(float(x.delta_at(EPSILON)) for x in values)
            for label, values in composed.items()
        }
        deltas["exact"] = tuple(float(curve.delta_at(EPSILON)) for curve in exact)
        positive = [_positive(label, values) for label, values in deltas.items()]
        title = f"k {name} releases with Δ = {RATIO} σ"
        what = "parameter (each in its own definition; mean-concentrated: τ)"
        for short, ylabel, lines in (
            ("the parameters", what, parameters),
            (f"ε at δ = {DELTA:g}", f"ε at δ = {DELTA:g}", finite),
            (f"δ at ε = {EPSILON:g}", f"δ at ε = {EPSILON:g}", positive),
        ):
            panel = Panel(f"{title}: {short}", "k", ylabel, tuple(lines), xlog=True, ylog=True)
            panels.append(panel)
        last = len(RELEASES) - 3
        for label, values in epsilons.items():
            if label == "exact":
                continue
            rows.append(
                Row(
                    f"{RELEASES[last]} {name} releases, {label}: {shown(composed[label][last])}",
                    "—",
                    f"ε = {values[last]:.4g}, δ(1) = {deltas[label][last]:.3g}",
                    f"ε = {epsilons['exact'][last]:.4g}, δ(1) = {deltas['exact'][last]:.3g}",
                )
            )
    notes = (
        f"Reproduced: what the composed parameter alone guarantees, as ε at δ = {DELTA:g} and δ at "
        "ε = 1. Exact: the composition of the mechanism's own privacy loss, rounded up. An angle "
        "or a length leaves a δ at every ε, so that its ε is infinite.",
    )
    return Outcome(tuple(rows), tuple(panels), notes)


def laplace_divergence(ratio: float, order: float) -> float:
    """Rényi divergence of two Laplace laws on R, ``ratio`` scales apart (Mironov 2017)."""
    twice = 2.0 * order - 1.0
    first = order / twice * math.exp((order - 1.0) * ratio)
    return math.log(first + (order - 1.0) / twice * math.exp(-order * ratio)) / (order - 1.0)


def laplace(ratio: float) -> TangentLaplace:
    """Laplace mechanism on R whose sensitivity is 1, ``ratio`` times its scale."""
    return TangentLaplace(LINE, 1.0 / ratio)


def gaussian(ratio: float) -> TangentGaussian:
    """Gaussian mechanism on R whose sensitivity is 1, ``ratio`` times its scale."""
    return TangentGaussian(LINE, 1.0 / ratio)


def shown(budget: object) -> str:
    """Show the parameters of a budget in four digits."""
    values = [
        f"{value:.4g}"
        for name, value in vars(budget).items()
        if name not in {"adjacency", "order", "distance"} and (name, value) != ("xi", 0.0)
    ]
    return values[0] if len(values) == 1 else f"({', '.join(values)})"


def _every_composition(mechanism: Mechanism) -> dict[str, list[Budget | PrivacyCurve]]:
    """Composition of ``RELEASES`` releases in each definition, by the rules of Table 1."""
    found = {
        label: [compose([budget] * k) for k in RELEASES]
        for label, budget in _every_definition(mechanism).items()
    }
    if isinstance(mechanism, TangentGaussian):
        # each release may have another (ε, δ): the sum of the δ is to be DELTA
        found["approximate, δ = 1e-6/k each"] = [
            compose([convert(GDP(RATIO), ApproxDP, delta=DELTA / k)] * k) for k in RELEASES
        ]
    return found


def _every_definition(mechanism: Mechanism) -> dict[str, Budget]:
    """Best guarantee of one release in each definition, of the mechanism itself."""
    rao: dict[str, Budget] = {
        "Rao, angle": mechanism.rao(1.0, "angle"),
        "Rao, length": mechanism.rao(1.0, "parametric"),
    }
    renyi = f"Rényi of order {ORDER:g}"
    if isinstance(mechanism, TangentGaussian):
        half = 0.5 * RATIO**2
        return {
            "Gaussian": GDP(RATIO),
            "zero-concentrated": ZCDP(half),
            # the loss is normal with mean half and standard deviation RATIO
            "mean-concentrated": MeanCDP(half, RATIO),
            renyi: RDP(ORDER, ORDER * half),
            "Kullback-Leibler": KLDP(half),
            **rao,
        }
    curve = mechanism.privacy(1.0)
    mean = math.expm1(-RATIO) + RATIO
    return {
        "pure": PureDP(RATIO),
        "Gaussian": GDP(curve.mu()),
        "zero-concentrated": ZCDP(curve.zcdp_rho()),
        # the loss lies in [-RATIO, RATIO] (Hoeffding's lemma)
        "mean-concentrated": MeanCDP(mean, RATIO),
        renyi: RDP(ORDER, laplace_divergence(RATIO, ORDER)),
        "Kullback-Leibler": KLDP(mean),
        **rao,
    }


def _parameter(budget: object) -> float:
    """Return the number that a definition is about: of two, the one that tells releases apart."""
    for name in ("theta", "rho", "alpha", "epsilon", "tau", "mu"):
        if hasattr(budget, name):
            return float(getattr(budget, name))
    raise TypeError(type(budget).__name__)


def _positive(label: str, values: tuple[float, ...]) -> Line:
    """Make a line without its zeros, which a logarithmic axis has no place for."""
    kept = [(k, value) for k, value in zip(RELEASES, values, strict=True) if value > 0.0]
    return Line(label, tuple(float(k) for k, _ in kept), tuple(value for _, value in kept))
