"""Rebuild and certify the poles and weights of the matrix logarithm.

    python tools/build_log_poles.py [--check]

Writes, for each class of spreads c, numbers ``s_j > 0`` and ``w_j > 0`` with

    |log x - (x - 1) sum_j w_j / (x + s_j)| <= error |log x|   for 3 / c <= x <= 3,

where ``error`` is proved in ball arithmetic. ``--check`` proves the table in the package again, as
it is, and compares a rebuilt one with it. What follows for matrices: docs/proofs/matrix-logarithms.

The fraction interpolates ``log(x) / (x - 1)``, a Stieltjes function, at twice as many points as it
has poles, so that poles and weights are those of a Gauss quadrature: real and positive. The points
are the zeros of Zolotarev's problem for the interval and the negative half-line. The poles are
rounded to float64, and the weights fitted again, by least squares, to what they became.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import mpmath
from flint import acb, acb_poly, arb, arb_mat, arb_series, ctx

import riemdp.spaces

PATH = Path(riemdp.spaces.__file__).parent / "data" / "log_poles.json"
#: Upper end of every interval: so that 3 x 3 matrices near the identity are not scaled.
TOP = 3
#: Spreads and numbers of poles: as few as keep the error of the fraction under half of 2^-52.
CLASSES = ((1e2, 15), (1e4, 25), (1e8, 44), (1e13, 67))
#: Terms of a Taylor polynomial, and its reach as a share of the point it is about.
TERMS = 20
REACH = 0.04


def points(count: int, spread: float) -> list[arb]:
    """Return Zolotarev's points: among those of an interval they keep a product small on it."""
    with mpmath.workprec(ctx.prec):
        least = 1 / mpmath.mpf(spread)
        quarter = mpmath.ellipk(1 - least)
        digits = int(0.302 * ctx.prec)
        found = [
            TOP * mpmath.ellipfun("dn", (2 * i + 1) * quarter / (2 * count), m=1 - least) ** 2
            for i in range(count)
        ]
        return [arb(mpmath.nstr(x, digits)) for x in found]


def poles(spread: float, count: int) -> list[float]:
    """Return minus the poles of the fraction that interpolates at twice as many points."""
    ctx.prec = 4000
    rows, right = [], []
    for x in points(2 * count, spread):
        value = x.log() / (x - 1)
        rows.append([x**i * value for i in range(count)] + [-(x**i) for i in range(count)])
        right.append([-(x**count) * value])
    solution = arb_mat(rows).solve(arb_mat(right))
    denominator = acb_poly([acb(solution[i, 0].mid()) for i in range(count)] + [acb(1)])
    return sorted(float(-root.real) for root in denominator.roots(tol=1e-40))


def weights(shifts: list[float], spread: float) -> list[float]:
    """Fit weights by least squares of the relative error, to poles that are rounded."""
    ctx.prec = 2000
    rows = []
    for x in points(8 * len(shifts), spread):
        scale = (x - 1) / x.log()
        rows.append([scale / (x + arb(s)) for s in shifts])
    matrix = arb_mat(rows)
    transposed = matrix.transpose()
    ones = arb_mat([[1]] * len(rows))
    solution = (transposed * matrix).solve(transposed * ones)
    return [float(solution[i, 0].mid()) for i in range(len(shifts))]


def relative_error(shifts: list[float], shares: list[float], middle: arb, reach: arb) -> arb:
    """Return an upper bound of the relative error for ``|x - middle| <= reach``.

    With S the sum and M = log(x) / (x - 1), the Taylor polynomial of S - M about the middle, and
    the rest by Cauchy: for complex z within half the middle, Re z is at least half the middle, and
    ``|S(z)| <= S(middle / 2)``, ``|M(z)| <= M(middle / 2)``, as both are integrals of
    ``1 / (z + t)`` over positive measures on t > 0. M decreases.
    """
    at = arb_series([middle, 1], TERMS)
    difference = arb_series([0], TERMS)
    for s, w in zip(shifts, shares, strict=True):
        difference = difference + arb(w) / (at + arb(s))
    if middle == 1:  # log(1 + t) / t
        difference = difference - arb_series([arb((-1) ** i) / (i + 1) for i in range(TERMS)])
    else:
        difference = difference - at.log() / (at - 1)
    near = sum((abs(difference[i]) * reach**i for i in range(TERMS)), arb(0))
    half = middle / 2
    size = sum((arb(w) / (half + arb(s)) for s, w in zip(shifts, shares, strict=True)), arb(0))
    size = size + (half.log() / (half - 1) if half != 1 else arb(1))
    ratio = 2 * reach / middle
    rest = size * ratio**TERMS / (1 - ratio)
    end = middle + reach
    return (near + rest) / (end.log() / (end - 1) if end != 1 else arb(1))


def intervals(spread: float) -> list[tuple[arb, arb]]:
    """Return middles and reaches of intervals that cover ``[3 / spread, 3]``; 1 is a middle."""
    least, share = arb(TOP) / arb(spread), arb(REACH)
    found = [(arb(1), share)]
    low, high = 1 - share, 1 + share
    while low > least:
        # no farther than the end, where the error begins to grow
        middle = _larger(low / (1 + share), (low + least) / 2)
        reach = _covering(middle, low)
        found.append((middle, reach))
        low = middle - reach
    while high < TOP:
        middle = -_larger(-high / (1 - share), -(high + TOP) / 2)
        reach = _covering(middle, high)
        found.append((middle, reach))
        high = middle + reach
    return found


def _larger(first: arb, second: arb) -> arb:
    """Return the middle of the larger of two balls: an exact number."""
    return first.mid() if first > second else second.mid()


def _covering(middle: arb, end: arb) -> arb:
    """Return a reach from the middle, an exact number, that surely meets an end."""
    return arb(abs(middle - end).upper()) * (1 + arb(2) ** -100)


def certify(shifts: list[float], shares: list[float], spread: float, every: int = 1) -> float:
    """Return a proved bound of the relative error over the interval, rounded up.

    Of every so manieth part of it alone if ``every`` exceeds 1, which proves nothing of the rest.
    """
    ctx.prec, ctx.cap = 200, TERMS  # series are cut to ten terms if nobody says so
    parts = intervals(spread)[::every]
    bounds = [relative_error(shifts, shares, *part).upper() for part in parts]
    if not all(bound.is_finite() for bound in bounds):
        raise ArithmeticError("the precision does not suffice")
    return max(math.nextafter(float(bound), math.inf) for bound in bounds)


def build() -> list[dict[str, object]]:
    """Return the classes, spreads increasing."""
    found: list[dict[str, object]] = []
    for spread, count in CLASSES:
        shifts = poles(spread, count)
        shares = weights(shifts, spread)
        if not min(*shifts, *shares) > 0.0:
            raise ArithmeticError("a Gauss quadrature has negative poles and positive weights")
        error = certify(shifts, shares, spread)
        found.append({"spread": spread, "error": error, "poles": shifts, "weights": shares})
    return found


def main() -> int:
    """Build and write, or build and compare."""
    table = build()
    for row in table:
        print(f"spread {row['spread']:g}: {len(row['poles'])} poles, error {row['error']:.3g}")
    if "--check" in sys.argv[1:]:
        shipped = json.loads(PATH.read_text("ascii"))["classes"]
        same = [
            {**old, "error": 0.0} == {**new, "error": 0.0}
            and certify(old["poles"], old["weights"], old["spread"]) <= old["error"]
            for old, new in zip(shipped, table, strict=True)
        ]
        print("the package's table", "agrees" if all(same) else "differs")
        return 0 if all(same) else 1
    head = "log x = (x - 1) sum_j w_j / (x + s_j), written by tools/build_log_poles.py"
    text = json.dumps({"about": head, "top": float(TOP), "classes": table}, indent=1)
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_text(text + "\n", encoding="ascii")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
