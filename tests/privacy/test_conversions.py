import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riemdp import _errors as errors
from riemdp.privacy import (
    GDP,
    KLDP,
    RDP,
    ZCDP,
    ApproxDP,
    MeanCDP,
    PureDP,
    RaoDP,
    convert,
    gaussian_delta,
    gaussian_to_pure,
)

ANGLE = {"distance": "angle"}
GRID_GAP = 1.05  # measured zCDP and MeanCDP parameters are that much on the safe side
GUARANTEES = [
    PureDP(1.0),
    ApproxDP(1.0, 1e-6),
    GDP(1.0),
    ZCDP(0.5),
    ZCDP(0.5, 0.1),
    RDP(4.0, 0.5),
    KLDP(0.3),
    MeanCDP(0.5, 1.0),
    RaoDP(1.0, distance="angle"),
    RaoDP(1.0, distance="parametric"),
]
TARGETS = [
    (PureDP, {}),
    (ApproxDP, {"epsilon": 1.0}),
    (GDP, {}),
    (ZCDP, {}),
    (RDP, {"order": 2.0}),
    (KLDP, {}),
    (MeanCDP, {}),
    (RaoDP, ANGLE),
    (RaoDP, {"distance": "parametric"}),
]
# rows as GUARANTEES, columns as TARGETS
EXISTS = [
    "111111110",
    "010000010",
    "011111110",
    "010111110",
    "010111010",
    "010011010",
    "010001010",
    "010111110",
    "010000010",
    "010000011",
]

# How each kind of guarantee is measured on a pair, and written down.
SOURCES = {
    "pure": (lambda pairs: pairs.pure, PureDP),
    "gdp": (lambda pairs: pairs.gdp, GDP),
    "zcdp": (lambda pairs: pairs.zcdp, ZCDP),
    "rdp 1.1": (lambda pairs: pairs.renyi(1.1), lambda value: RDP(1.1, value)),
    "rdp 4": (lambda pairs: pairs.renyi(4.0), lambda value: RDP(4.0, value)),
    "rdp inf": (lambda pairs: pairs.pure, lambda value: RDP(math.inf, value)),
    "kl": (lambda pairs: pairs.kl, KLDP),
    "mean": (lambda pairs: pairs.tau, lambda value: MeanCDP(1e9, value)),
    "angle": (lambda pairs: pairs.angle, lambda value: RaoDP(min(value, math.pi), **ANGLE)),
    "approx .5": (lambda pairs: pairs.delta(0.5), lambda value: ApproxDP(0.5, min(value, 0.999))),
}
MEASURED = {
    "gdp": (GDP, {}, lambda g: g.mu, lambda pairs: pairs.gdp),
    "zcdp": (ZCDP, {}, lambda g: g.rho, lambda pairs: pairs.zcdp / GRID_GAP),
    "rdp 1.1": (RDP, {"order": 1.1}, lambda g: g.epsilon, lambda pairs: pairs.renyi(1.1)),
    "rdp 4": (RDP, {"order": 4.0}, lambda g: g.epsilon, lambda pairs: pairs.renyi(4.0)),
    "kl": (KLDP, {}, lambda g: g.alpha, lambda pairs: pairs.kl),
    "mean": (MeanCDP, {}, lambda g: g.tau, lambda pairs: pairs.tau / math.sqrt(GRID_GAP)),
    "mean mu": (MeanCDP, {}, lambda g: g.mu, lambda pairs: pairs.kl),
    "angle": (RaoDP, ANGLE, lambda g: g.theta, lambda pairs: pairs.angle),
    "delta 0": (ApproxDP, {"epsilon": 1e-9}, lambda g: g.delta, lambda pairs: pairs.delta(1e-9)),
    "delta 1": (ApproxDP, {"epsilon": 1.0}, lambda g: g.delta, lambda pairs: pairs.delta(1.0)),
}


def violations(pairs, source, target):
    """Numbers of pairs that have a guarantee without its conversion, and without half of it."""
    measure, build = SOURCES[source]
    kind, options, parameter, achieved = MEASURED[target]
    size = 200 if kind is ApproxDP and source in ("kl", "mean", "rdp 1.1") else 1000
    grid = np.geomspace(1e-4, 40.0, size)
    promised = np.full(size + 1, np.inf)
    for i, value in enumerate(grid):
        try:
            promised[i] = parameter(convert(build(value), kind, **options))
        except errors.NoConversionError as error:
            if "no delta under 1" not in str(error):
                raise
    # each pair has the next larger guarantee of the grid
    index = np.searchsorted(grid, measure(pairs) * (1.0 + 1e-9) + 1e-15)
    if source == "angle" or source.startswith("approx"):  # values over the domain allow anything
        index = np.where(grid[np.minimum(index, size - 1)] > 0.99, size, index)
    found = achieved(pairs)
    return [
        np.count_nonzero(found > factor * promised[index] * (1.0 + 1e-9) + 1e-13)
        for factor in (1.0, 0.5)
    ]


ROWS = ["pure", "approx .5", "gdp", "zcdp", None, "rdp 4", "kl", "mean", "angle", None]
CASES = [
    (source, target)
    for source, row in zip(
        ["pure", "approx .5", "gdp", "zcdp", None, "rdp 4", "kl", "mean", "angle"],
        EXISTS[:9],
        strict=True,
    )
    for target, column in [
        ("gdp", 2),
        ("zcdp", 3),
        ("rdp 1.1", 4),
        ("rdp 4", 4),
        ("kl", 5),
        ("mean", 6),
        ("mean mu", 6),
        ("angle", 7),
        ("delta 0", 1),
        ("delta 1", 1),
    ]
    if source is not None and source != target and row[column] == "1"
    if not (source == "mean" and target.startswith("mean"))
] + [("rdp inf", "angle"), ("rdp 1.1", "angle"), ("rdp 1.1", "kl"), ("rdp 1.1", "delta 1")]


@pytest.mark.fast(1)
@pytest.mark.parametrize(("source", "target"), CASES)
def test_no_pair_of_laws_violates_a_conversion_and_half_of_it_is_violated(pairs, source, target):
    whole, half = violations(pairs, source, target)
    assert whole == 0
    assert half > 0


def test_the_table_of_conversions_is_complete():
    for guarantee, row in zip(GUARANTEES, EXISTS, strict=True):
        for (kind, options), exists in zip(TARGETS, row, strict=True):
            if exists == "1":
                assert isinstance(convert(guarantee, kind, **options), kind)
            else:
                with pytest.raises(errors.NoConversionError, match=r"implies no|has no"):
                    convert(guarantee, kind, **options)


def test_pinned_conversions():
    assert convert(PureDP(1.0), RaoDP, **ANGLE).theta == pytest.approx(
        4.0 * math.atan(math.tanh(0.25)), rel=1e-14
    )
    assert convert(GDP(1.0), RaoDP, **ANGLE).theta == pytest.approx(0.979303, abs=5e-7)
    assert convert(PureDP(1.0), ZCDP).rho == pytest.approx(math.tanh(0.5), rel=1e-14)
    assert convert(PureDP(1.0), KLDP).alpha == pytest.approx(math.tanh(0.5), rel=1e-14)
    assert convert(PureDP(1.0), MeanCDP).tau == 1.0
    assert convert(PureDP(1.0), RDP, order=math.inf) == RDP(math.inf, 1.0)
    assert convert(GDP(3.0), ZCDP) == ZCDP(4.5)
    assert convert(GDP(3.0), KLDP) == KLDP(4.5)
    assert convert(GDP(1.0), RDP, order=8.0).epsilon == pytest.approx(4.0, rel=1e-14)
    assert convert(ZCDP(0.5, 0.25), RDP, order=8.0).epsilon == pytest.approx(4.25, rel=1e-14)
    assert convert(ZCDP(0.5, 0.25), KLDP).alpha == pytest.approx(0.75, rel=1e-14)
    assert convert(MeanCDP(0.2, 1.0), KLDP) == KLDP(0.2)
    assert convert(MeanCDP(0.2, 1.0), ZCDP) == ZCDP(0.5)
    assert convert(MeanCDP(9.0, 1.0), KLDP) == KLDP(0.5)
    assert convert(RDP(4.0, 0.5), RDP, order=2.0) == RDP(2.0, 0.5)
    assert convert(RDP(math.inf, 0.5), PureDP) == PureDP(0.5)
    approximate = convert(ApproxDP(1.0, 1e-3), RaoDP, **ANGLE)
    assert math.cos(0.5 * approximate.theta) == pytest.approx(0.999 / math.cosh(0.5), rel=1e-13)
    parametric = RaoDP(4.0, distance="parametric")
    assert convert(parametric, RaoDP, **ANGLE).theta == math.pi
    assert convert(parametric, RaoDP, distance="parametric") == parametric


def test_conversions_to_an_angle_are_at_least_as_good_as_the_usual_ones():
    for rho in (1e-3, 0.1, 1.0, 5.0):
        exact = math.cos(0.5 * convert(ZCDP(rho), RaoDP, **ANGLE).theta)
        assert exact > math.exp(-0.5 * rho)  # order 1/2 under order 1
        assert exact < math.exp(-0.25 * rho)  # the Gaussian
        assert convert(RDP(2.0, rho), RaoDP, **ANGLE).theta <= 2.0 * math.acos(math.exp(-rho / 2))


@given(st.floats(1e-6, 30.0), st.sampled_from([1.0, 1.1, 2.0, 7.0]))
def test_randomised_response_attains_the_angle(epsilon, order):
    # pure -> divergence -> angle returns to the angle of pure
    pure = PureDP(epsilon)
    divergence = convert(pure, KLDP) if order == 1.0 else convert(pure, RDP, order=order)
    direct, through = (convert(g, RaoDP, **ANGLE).theta for g in (pure, divergence))
    assert direct <= through <= direct * (1.0 + 1e-12)


@given(st.floats(1e-6, 30.0))
def test_pure_and_gaussian_invert(mu):
    epsilon = gaussian_to_pure(mu)
    again = convert(PureDP(epsilon), GDP).mu
    assert mu * (1.0 - 1e-11) <= again <= mu * (1.0 + 1e-15)


@settings(max_examples=50)
@given(st.sampled_from(GUARANTEES), st.floats(0.05, 0.9))
def test_approximate_conversions_invert(guarantee, delta):
    try:
        approximate = convert(guarantee, ApproxDP, delta=delta)
    except errors.NoConversionError:
        assert guarantee.epsilon_at(delta) == math.inf
        return
    assert approximate.delta == delta
    back = convert(guarantee, ApproxDP, epsilon=approximate.epsilon)
    assert back.delta <= delta * (1.0 + 1e-11)
    if approximate.epsilon > 1e-6:
        tighter = convert(guarantee, ApproxDP, epsilon=approximate.epsilon * (1.0 - 1e-6))
        assert tighter.delta > delta


def test_gaussian_delta_is_rounded_up():
    for mu, epsilon in [(1.0, 1.0), (0.01, 0.3), (3.0, 40.0)]:
        with mpmath.workdps(40):
            m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
            exact = mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
        delta = convert(GDP(mu), ApproxDP, epsilon=epsilon).delta
        assert exact <= delta <= exact * (1.0 + 1e-11)
        assert delta == pytest.approx(float(gaussian_delta(mu, epsilon)), rel=1e-11)


@pytest.mark.fast(10)
@pytest.mark.parametrize(
    "guarantee",
    [
        kind(value)
        for kind in (PureDP, GDP, ZCDP, KLDP, lambda v: RDP(3.0, v), lambda v: MeanCDP(v, v))
        for value in (1e-300, 1e-150, 1e-20, 1e5, 1e40)
    ],
)
def test_conversions_at_extremes(guarantee):
    theta = convert(guarantee, RaoDP, **ANGLE).theta
    assert 0.0 < theta <= math.pi
    for delta in (0.5, 1e-9, 1e-300):
        try:
            epsilon = convert(guarantee, ApproxDP, delta=delta).epsilon
        except errors.NoConversionError:
            continue
        assert epsilon > 0.0
        assert guarantee.delta_at(epsilon) <= delta * (1.0 + 1e-11)


def test_small_guarantees_keep_their_digits():
    assert convert(PureDP(1e-100), RaoDP, **ANGLE).theta == pytest.approx(1e-100, rel=1e-13)
    assert convert(GDP(1e-140), RaoDP, **ANGLE).theta == pytest.approx(1e-140, rel=1e-13)
    assert convert(KLDP(1e-200), RaoDP, **ANGLE).theta == pytest.approx(
        math.sqrt(2.0) * 1e-100, rel=1e-12
    )
    assert convert(PureDP(1e-20), RDP, order=3.0).epsilon == pytest.approx(1.5e-40, rel=1e-13)
    small = convert(ApproxDP(1e-12, 1e-30), RaoDP, **ANGLE).theta
    assert small == pytest.approx(1e-12, rel=1e-5)


def test_a_missing_or_needless_option_is_refused():
    bad = errors.InvalidParameterError
    with pytest.raises(bad, match=r"ApproxDP takes delta= or epsilon=, got none"):
        convert(GDP(1.0), ApproxDP)
    with pytest.raises(bad, match=r"got delta=, epsilon="):
        convert(GDP(1.0), ApproxDP, delta=0.1, epsilon=1.0)
    with pytest.raises(bad, match=r"RDP takes order="):
        convert(GDP(1.0), RDP)
    with pytest.raises(bad, match=r"RaoDP takes distance="):
        convert(GDP(1.0), RaoDP)
    with pytest.raises(bad, match=r"ZCDP takes no option, got delta="):
        convert(GDP(1.0), ZCDP, delta=0.1)
    with pytest.raises(bad, match="to must be one of"):
        convert(GDP(1.0), float)
    with pytest.raises(bad, match="must be a privacy definition"):
        convert(1.0, GDP)
    for value in (-1.0, math.nan, 1.0):
        with pytest.raises(bad, match="delta"):
            convert(GDP(1.0), ApproxDP, delta=value)
    with pytest.raises(bad, match="epsilon"):
        convert(GDP(1.0), ApproxDP, epsilon=-1.0)
    with pytest.raises(bad, match="order"):
        convert(GDP(1.0), RDP, order=1.0)
    with pytest.raises(bad, match="distance"):
        convert(GDP(1.0), RaoDP, distance="path")


def test_no_conversion_names_the_reason():
    none = errors.NoConversionError
    with pytest.raises(none, match="may be impossible for the neighbour"):
        convert(RaoDP(0.1, distance="angle"), PureDP)
    with pytest.raises(none, match="privacy loss is unbounded"):
        convert(GDP(1.0), PureDP)
    with pytest.raises(none, match="privacy loss is unbounded"):
        convert(GDP(1.0), RDP, order=math.inf)
    with pytest.raises(none, match="unbounded"):
        convert(ZCDP(1.0), RDP, order=math.inf)
    with pytest.raises(none, match="unbounded"):
        convert(MeanCDP(1.0, 1.0), RDP, order=math.inf)
    with pytest.raises(none, match="larger order"):
        convert(RDP(2.0, 1.0), RDP, order=3.0)
    with pytest.raises(none, match="delta stays above"):
        convert(RaoDP(0.1, distance="angle"), ApproxDP, delta=1e-3)
    with pytest.raises(none, match="delta = 0 is pure"):
        convert(PureDP(1.0), ApproxDP, delta=0.0)
    with pytest.raises(none, match="ask it"):
        convert(GDP(1.0), RaoDP, distance="parametric")
    with pytest.raises(none, match="ask it"):
        convert(RaoDP(0.1, distance="angle"), RaoDP, distance="parametric")
    with pytest.raises(none, match="xi > 0"):
        convert(ZCDP(1.0, 0.1), MeanCDP)
    with pytest.raises(none, match="no delta under 1"):
        convert(RaoDP(math.pi, distance="angle"), ApproxDP, epsilon=1.0)


def test_closed_forms_are_fast(effort):
    cases = [
        (PureDP(1.0), RaoDP, ANGLE),
        (GDP(1.0), RaoDP, ANGLE),
        (ZCDP(0.5), RaoDP, ANGLE),
        (RDP(4.0, 0.5), RaoDP, ANGLE),
        (PureDP(1.0), RDP, {"order": 3.0}),
        (RaoDP(1.0, **ANGLE), ApproxDP, {"delta": 0.3}),
    ]
    for guarantee, kind, options in cases:

        def ten_times(guarantee=guarantee, kind=kind, options=options):
            for _ in range(10):
                convert(guarantee, kind, **options)

        assert effort(ten_times, rounds=3) < 4.0  # 0.04 to 0.4: up to 200 microseconds each


def test_a_huge_rho_has_no_mean_concentrated_guarantee():
    with pytest.raises(errors.NoConversionError, match="exceeds float64"):
        convert(ZCDP(1e200), MeanCDP)


@pytest.mark.parametrize(
    ("to", "options"),
    [
        *((ApproxDP, {"delta": d}) for d in ("a", [1.0], 1j, np.ones(2), 10**400, object(), True)),
        *((RDP, {"order": o}) for o in ("3", [1.0], np.ones(2), 10**400, True)),
        *((RaoDP, {"distance": d}) for d in (np.array([1.0, 2.0]), "x", 1.0)),
        ([1.0], {}),
        (np.array([1.0, 2.0]), {}),
        (GDP(1.0), {}),
    ],
)
@pytest.mark.parametrize("guarantee", [GDP(1.0), PureDP(1.0)])
def test_bad_options_are_named(guarantee, to, options):
    with pytest.raises(errors.InvalidParameterError, match="|".join(options) or "to must"):
        convert(guarantee, to, **options)
    with pytest.raises(errors.InvalidParameterError, match="distance"):
        convert(RaoDP(1.0, distance="angle"), RaoDP, distance=np.array([1.0, 2.0]))


@pytest.mark.parametrize("rho", [1e-3, 0.3, 1.0, 4.0, 30.0])
def test_the_moment_bound_of_zcdp_is_nearly_the_best(rho):
    """``2 (exp(s (s + 1) rho) - 1) / s^2`` holds for every s in (0, 1]; less is not proved."""
    s = np.linspace(1e-4, 1.0, 20_001)
    best = math.sqrt(float(np.min(2.0 * np.expm1(s * (s + 1.0) * rho) / s**2)))
    assert best * (1.0 - 1e-9) <= convert(ZCDP(rho), MeanCDP).tau <= 1.1 * best
