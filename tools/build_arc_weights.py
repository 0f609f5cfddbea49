"""Rebuild and certify the fractions of ``arccos(c) / sqrt(1 - c^2)``, the weight of a record.

    python tools/build_arc_weights.py [--check]

With ``x = 1 + c`` the weight ``f(x)`` is ``theta / sin(theta)`` of an angle, ``c = cos(theta)``,
and ``theta / sinh(theta)`` of a length, ``c = cosh(theta)``: one function, analytic for ``x > 0``.
Writes, for each class of intervals, positive coefficients of polynomials P and Q with

    |P(x) / Q(x) - f(x)| <= approximation f(x)    for low <= x <= high

and a bound ``error`` of all that there is between ``f`` at a float64 number c and what float64
makes of it, in any order of contraction: the rounding of ``1 + c`` and of Horner's rule with it.
Both are proved in ball arithmetic. ``--check`` proves the table in the package again, as it is, and
compares a rebuilt one with it. docs/proofs/space-form-kernels.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import mpmath
from flint import arb, arb_mat, arb_series, ctx

import riemdp.statistics

PATH = Path(riemdp.statistics.__file__).parent / "data" / "arc_weights.json"
#: Names, degrees of Q and intervals. Degrees are multiples of four, as the loops are unrolled.
CLASSES = (
    ("sphere", 8, 0.5, 2.01),  # angles up to 2 pi / 3
    ("sphere", 12, 0.06, 2.01),  # 160 degrees
    ("hyperbolic", 8, 1.99, 8.0),  # lengths up to 2.6
    ("hyperbolic", 12, 1.99, 64.0),  # 4.8
    ("hyperbolic", 16, 1.99, 540.0),  # 6.9
    ("hyperbolic", 20, 1.99, 4400.0),  # 9
)
#: Terms of a Taylor polynomial, and its reach as a share of the point it is about.
TERMS = 16
REACH = 0.005


def weight(x: arb) -> arb:
    """Return f, a decreasing function."""
    return ((2 - x) / 2).hypgeom_2f1(1, 1, arb(3) / 2) if abs(x - 2) < 0.5 else _closed(x)


def _closed(x: arb | arb_series) -> arb | arb_series:
    """Return f away from 2, of a number or of a series about one."""
    cosine = x - 1
    if (x if isinstance(x, arb) else x[0]) > 2:
        sine = (cosine * cosine - 1).sqrt()
        return (cosine + sine).log() / sine
    return cosine.acos() / (1 - cosine * cosine).sqrt()


def series(middle: arb) -> arb_series:
    """Taylor polynomial of f about an exact number.

    By ``(1 - c^2) f' = c f - 1``, and about 2, where that says nothing of the leading term, by the
    hypergeometric series in ``(2 - x) / 2``, of which it is F(1, 1; 3/2).
    """
    ctx.cap = TERMS  # series are cut to so many terms, to ten if nobody says so
    if middle == 2:
        terms, term = [], arb(1)
        for i in range(TERMS):
            terms.append(term)
            term = -term * (i + 1) / (2 * (i + arb(3) / 2))
        return arb_series(terms, TERMS)
    return _closed(arb_series([middle, 1], TERMS))


def points(count: int, low: float, high: float) -> list[arb]:
    """Return Zolotarev's points: among those of an interval they keep a product small on it."""
    with mpmath.workprec(ctx.prec):
        share = 1 - mpmath.mpf(low) / mpmath.mpf(high)
        quarter = mpmath.ellipk(share)
        digits = int(0.302 * ctx.prec)
        found = [
            mpmath.mpf(high)
            * mpmath.ellipfun("dn", (2 * i + 1) * quarter / (2 * count), m=share) ** 2
            for i in range(count)
        ]
        return [arb(mpmath.nstr(x, digits)) for x in found]


def coefficients(degree: int, low: float, high: float) -> tuple[list[float], list[float]]:
    """Interpolate f by P / Q, Q monic; return the coefficients, highest power first.

    f is an integral of ``1 / (x + t)`` over a positive measure on t > 0, so the fraction has
    negative poles and positive residues, and all coefficients are positive.
    """
    ctx.prec = 1500
    rows, right = [], []
    for x in points(2 * degree, low, high):
        value = weight(x)
        rows.append([x**i for i in range(degree)] + [-value * x**i for i in range(degree)])
        right.append([value * x**degree])
    solution = arb_mat(rows).solve(arb_mat(right))
    found = [float(solution[i, 0].mid()) for i in range(2 * degree)]
    return found[:degree][::-1], found[degree:][::-1]


def horner(coefficients_: list[float], x: arb | arb_series) -> arb | arb_series:
    """Evaluate a polynomial, highest power first, without rounding."""
    value = x * 0
    for each in coefficients_:
        value = value * x + arb(each)
    return value


def approximation(over: list[float], under: list[float], middle: arb, reach: arb) -> arb:
    """Return a bound of the relative error of the fraction for ``|x - middle| <= reach``.

    The Taylor polynomial of ``P - Q f`` about the middle, and the rest by Cauchy: for complex z
    within half the middle, ``|P(z)| <= P(3/2 middle)``, likewise Q, as their coefficients are
    positive, and ``|f(z)| <= f(middle / 2)``, as ``Re z >= middle / 2``. f decreases and Q grows.
    """
    ctx.cap = TERMS
    monic = [1.0, *under]
    at = arb_series([middle, 1], TERMS)
    difference = horner(over, at) - horner(monic, at) * series(middle)
    near = sum((abs(difference[i]) * reach**i for i in range(TERMS)), arb(0))
    size = horner(over, 1.5 * middle) + horner(monic, 1.5 * middle) * weight(middle / 2)
    ratio = 2 * reach / middle
    rest = size * ratio**TERMS / (1 - ratio)
    return (near + rest) / (horner(monic, middle - reach) * weight(middle + reach))


def intervals(low: float, high: float) -> list[tuple[arb, arb]]:
    """Return middles and reaches, exact numbers, of intervals that cover ``[low, high]``.

    One has 2 for its middle, and the others keep away from it.
    """
    wider = 1 + arb(2) ** -40  # than the rounding of ends, which are float64 numbers
    found = [(arb(2), arb(2) * REACH * wider)]
    end = 2.0 * (1.0 - REACH)
    while end > low:
        middle = end / (1.0 + REACH)
        found.append((arb(middle), arb(middle) * REACH * wider))
        end = middle * (1.0 - REACH)
    end = 2.0 * (1.0 + REACH)
    while end < high:
        middle = end / (1.0 - REACH)
        found.append((arb(middle), arb(middle) * REACH * wider))
        end = middle * (1.0 + REACH)
    return found


def rounding(over: list[float], under: list[float], high: float) -> arb:
    """Return a bound of ``|log|`` of what float64 makes of ``P(1 + c) / Q(1 + c)`` over it.

    A rounding multiplies by at most ``exp(unit)``, or divides by it. Horner's rule adds positive
    numbers: if r is known to ``exp(e)``, then ``r x + a`` is to
    ``(s exp(e + unit) + 1 - s) exp(unit)`` with ``s = r x / (r x + a)``, which is largest at the
    upper end of the interval. The function of ``1 + c`` moves by a smaller share than ``1 + c``.
    """
    unit = 1 / (arb(2) ** 53 - 1)
    x, total = arb(high), 2 * unit  # of 1 + c, and of the quotient
    for terms in (over, [1.0, *under]):
        value, known = arb(terms[0]), arb(0)
        for i, each in enumerate(terms[1:]):
            product = value * x
            value = product + arb(each)
            multiplied = unit * (terms[0] != 1.0 or i > 0)  # one times x is x
            known = (1 + product / value * ((known + multiplied).exp() - 1)).log() + unit
        total = total + known
    return total


def certify(over: list[float], under: list[float], low: float, high: float) -> tuple[float, float]:
    """Return the proved bounds, of the approximation and of all, rounded up."""
    ctx.prec = 300
    if not min(*over, *under) > 0.0:
        raise ArithmeticError("all coefficients have to be positive")
    bounds = [approximation(over, under, *part).upper() for part in intervals(low, high)]
    if not all(bound.is_finite() for bound in bounds):
        raise ArithmeticError("the precision does not suffice")
    near = max(_up(bound) for bound in bounds)
    return near, _up((1 + arb(near)) * rounding(over, under, high).exp() - 1)


def _up(number: arb) -> float:
    return math.nextafter(float(number.upper()), math.inf)


def build() -> list[dict[str, object]]:
    """Return the classes."""
    found: list[dict[str, object]] = []
    for space, degree, low, high in CLASSES:
        over, under = coefficients(degree, low, high)
        near, error = certify(over, under, low, high)
        bounds = {"low": low, "high": high, "approximation": near, "error": error}
        found.append({"space": space, **bounds, "over": over, "under": under})
    return found


def main() -> int:
    """Build and write, or build and compare."""
    table = build()
    for row in table:
        known = f"{row['approximation']:.3g}, in all {row['error']:.3g}"
        print(f"{row['space']} [{row['low']}, {row['high']}], {len(row['over'])}: {known}")
    if "--check" in sys.argv[1:]:
        shipped = json.loads(PATH.read_text("ascii"))["classes"]
        same = shipped == table
        print("the package's table", "agrees" if same else "differs")
        return 0 if same else 1
    head = "arccos(c) / sqrt(1 - c^2) = P(1 + c) / Q(1 + c), written by tools/build_arc_weights.py"
    text = json.dumps({"about": head, "classes": table}, indent=1)
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_text(text + "\n", encoding="ascii")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
