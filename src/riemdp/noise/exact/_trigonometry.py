"""Sine, cosine and their kin for unit curvature of either sign, on balls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Ball = Any


@dataclass(frozen=True)
class Trigonometry:
    """``s`` and ``c``: sine and cosine for sign 1 of the curvature, the hyperbolic ones for -1."""

    sign: int

    def sine_cosine(self, x: Ball) -> tuple[Ball, Ball]:
        """Enclose ``s(x)`` and ``c(x)``."""
        pair: tuple[Ball, Ball] = x.sin_cos() if self.sign > 0 else x.sinh_cosh()
        return pair

    def log_sine(self, x: Ball) -> Ball:
        """Enclose ``log s(x)``."""
        return (x.sin() if self.sign > 0 else x.sinh()).log()

    def cotangent(self, x: Ball) -> Ball:
        """Enclose ``c(x) / s(x)``."""
        return x.cot() if self.sign > 0 else x.coth()

    def sinc(self, x: Ball) -> Ball:
        """Enclose ``s(x) / x``, which is entire: 0 takes no other path."""
        from flint import acb

        return x.sinc() if self.sign > 0 else acb(0, x).sinc().real

    def distance(self, sine: Ball, cosine: Ball) -> Ball:
        """Enclose the distance whose ``s`` and ``c`` are given, ``s`` not negative."""
        from flint import arb

        return arb.atan2(sine, cosine) if self.sign > 0 else sine.asinh()

    def end(self) -> Ball:
        """Enclose the largest distance."""
        from flint import arb

        return arb.pi() if self.sign > 0 else arb.pos_inf()
