"""Radial laws of the Laplace density restricted to a ball, about any footpoint of the ball."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp.noise._quadrature import gauss_legendre
from riemdp.research._cap import log_cap_share

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.research._polar import Geometry
    from riemdp.spaces import FloatArray

_GRID = 65
_ZOOMS = 10
#: Fall of the log integrand at which it is cut off.
_DEPTH = 50.0
_PANELS = 24
_NODES = 16
#: Stands for minus infinity where differences are taken.
_ABSENT = -1e9
_CHUNK = 1 << 14


@dataclass(frozen=True, eq=False)
class BallRadialTable:
    """Radial laws ``s(r)^(dim-1) exp(-r/sigma) P(r)`` about footpoints in a ball.

    ``P(r)`` is the share of the sphere of radius r about the footpoint that lies in the ball. With
    the footpoint at distance t from the centre of a ball of radius R, ``P = 1`` up to ``R - t``;
    from there to ``R + t`` the sphere is cut in a cap. On a sphere with ``R + t > pi`` the cap
    ends at ``2 pi - R - t``, and from there to pi all is inside again. Each of the three pieces
    is integrated over a parameter in (0, 1), in the middle ``sin^2`` to lift its square roots.

    All lengths are in the unit of the geometry; ``offset (footpoints,)`` holds the distances of
    the footpoints from the centre.
    """

    geometry: Geometry
    dim: int
    sigma: float
    radius: float
    offset: FloatArray

    @functools.cached_property
    def log_mass(self) -> FloatArray:
        """Log integral of each radial law, in units of length, shape ``(footpoints,)``."""
        scaled = np.log(self._cumulative[:, -1]) + self._peak
        return np.asarray(scaled + self.dim * math.log(self.geometry.unit))

    def sample(self, count: int, generator: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw radii and the openings of their caps, shape ``(count, footpoints)`` each.

        The opening is ``(1 - cos)/2`` of the cap's angle about the direction to the centre.
        """
        shape = (count, self.offset.size)
        wanted = generator.random(shape) * self._cumulative[:, -1]
        piece = np.empty(shape, dtype=np.intp)
        parameter = np.empty(shape)
        step = max(1, _CHUNK // max(1, self.offset.size))
        for first in range(0, count, step):
            part = slice(first, first + step)
            piece[part], parameter[part] = self._invert(wanted[part])
        which = np.broadcast_to(np.arange(self.offset.size), shape)
        radius, opening, _ = self._locate(which, piece, parameter)
        return radius, opening

    def _invert(self, wanted: FloatArray) -> tuple[NDArray[np.intp], FloatArray]:
        """Piece and parameter at which the cumulative mass is ``wanted (count, footpoints)``."""
        ends = self._cumulative
        panel = np.sum(ends[:, 1:-1] <= wanted[..., None], axis=-1)
        which = np.broadcast_to(np.arange(self.offset.size), wanted.shape)
        wanted = wanted - ends[which, panel]
        series = np.moveaxis(self._series[which, panel], -1, 0)
        low, high = np.full(wanted.shape, -1.0), np.ones(wanted.shape)
        # A fixed number of halvings: what is drawn has no part in how long it takes.
        for _ in range(54):
            middle = 0.5 * (low + high)
            below = np.polynomial.legendre.legval(middle, series, tensor=False) < wanted
            low = np.where(below, middle, low)
            high = np.where(below, high, middle)
        piece = panel // _PANELS
        start, end = self._window[which, piece, 0], self._window[which, piece, 1]
        local = (panel % _PANELS + 0.5 * (1.0 + low)) / _PANELS
        return piece, start + (end - start) * local

    @functools.cached_property
    def _pieces(self) -> tuple[FloatArray, FloatArray]:
        """Starts and widths of the pieces, shape ``(footpoints, pieces)``; width 0: no piece."""
        t, radius = self.offset, self.radius
        zero = np.zeros_like(t)
        if self.geometry.sign <= 0:
            return np.stack([zero, radius - t], axis=-1), np.stack([radius - t, 2.0 * t], axis=-1)
        wraps = radius + t > math.pi
        width = np.where(wraps, 2.0 * (math.pi - radius), 2.0 * t)
        last = np.where(wraps, radius + t - math.pi, 0.0)
        start = np.stack([zero, radius - t, radius - t + width], axis=-1)
        return start, np.stack([radius - t, width, last], axis=-1)

    def _locate(
        self, which: NDArray[np.intp], piece: NDArray[np.intp], parameter: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Radius, opening of the cap and log derivative of the radius at piece parameters."""
        starts, widths = self._pieces
        start, width = starts[which, piece], widths[which, piece]
        middle = piece == 1
        angle = 0.5 * math.pi * parameter
        rising = np.where(middle, np.square(np.sin(angle)), parameter)
        radius = start + width * rising
        jacobian = width * np.where(middle, 0.5 * math.pi * np.sin(2.0 * angle), 1.0)
        t = self.offset[which]
        s = self.geometry.s
        short = 0.5 * width * np.square(np.cos(angle))
        if self.geometry.sign > 0:
            short = short + np.maximum(self.radius + t - math.pi, 0.0)
        # sides R, t, r: x = s((R + r - t)/2) s((R - r + t)/2) / (s(r) s(t)); 0/0 without a middle
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            opening = s(start + 0.5 * width * rising) * s(short) / (s(radius) * s(t))
            log_jacobian = np.log(jacobian)
        opening = np.where(middle & (opening < 1.0), np.maximum(opening, 0.0), 1.0)
        return radius, opening, np.where(jacobian > 0.0, log_jacobian, _ABSENT)

    def _log_integrand(self, piece: NDArray[np.intp], parameter: FloatArray) -> FloatArray:
        """Log density of the piece parameter, shape ``(footpoints, pieces, ...)``."""
        which = np.arange(self.offset.size).reshape(-1, *(1 for _ in range(parameter.ndim - 1)))
        which, piece = np.broadcast_arrays(which, piece)[0], np.broadcast_to(piece, parameter.shape)
        which = np.broadcast_to(which, parameter.shape)
        radius, opening, value = self._locate(which, piece, parameter)
        value = value - radius / self.sigma
        cut = opening < 1.0
        value[cut] += log_cap_share(opening[cut], self.dim)
        if self.dim > 1:
            with np.errstate(divide="ignore"):
                value += (self.dim - 1) * np.log(np.maximum(self.geometry.s(radius), 0.0))
        return np.maximum(value, _ABSENT)

    @functools.cached_property
    def _window(self) -> FloatArray:
        """Part of each piece that carries its mass, shape ``(footpoints, pieces, 2)``."""
        count = self._pieces[0].shape[-1]
        piece = np.arange(count)[None, :, None]
        window = np.empty((self.offset.size, count, 2))
        window[..., 0], window[..., 1] = 0.0, 1.0
        grid = np.linspace(0.0, 1.0, _GRID)
        for _ in range(_ZOOMS):
            start, width = window[..., :1], np.diff(window, axis=-1)
            value = self._log_integrand(piece, start + width * grid)
            heavy = value >= np.max(value, axis=-1, keepdims=True) - _DEPTH
            first = np.argmax(heavy, axis=-1)
            last = _GRID - 1 - np.argmax(heavy[..., ::-1], axis=-1)
            ends = np.stack([np.maximum(first - 1, 0), np.minimum(last + 1, _GRID - 1)], axis=-1)
            window = start + width * grid[ends]
        return window

    @functools.cached_property
    def _values(self) -> FloatArray:
        """Log integrand at the nodes, shape ``(footpoints, pieces, panels, nodes)``."""
        points, _ = gauss_legendre(_NODES)
        local = (np.arange(_PANELS)[:, None] + 0.5 * (1.0 + points)) / _PANELS
        start, width = self._window[..., :1, None], np.diff(self._window, axis=-1)[..., None]
        piece = np.arange(self._window.shape[1])[None, :, None, None]
        return self._log_integrand(piece, start + width * local)

    @functools.cached_property
    def _peak(self) -> FloatArray:
        return np.asarray(np.max(self._values, axis=(1, 2, 3)))

    @functools.cached_property
    def _series(self) -> FloatArray:
        """Legendre coefficients of running integrals, ``(footpoints, panels, nodes + 1)``."""
        half = 0.5 * np.diff(self._window, axis=-1)[..., None] / _PANELS
        density = np.exp(self._values - self._peak[:, None, None, None]) * half
        return (density @ _running_integral()).reshape(self.offset.size, -1, _NODES + 1)

    @functools.cached_property
    def _cumulative(self) -> FloatArray:
        """Mass up to each panel's end, from 0, shape ``(footpoints, all + 1)``."""
        masses = np.sum(self._series, axis=-1)  # every Legendre polynomial is 1 at 1
        return np.concatenate([np.zeros((masses.shape[0], 1)), np.cumsum(masses, axis=-1)], axis=-1)


@functools.cache
def _running_integral() -> FloatArray:
    """Matrix from values at the nodes to Legendre coefficients of the integral from -1."""
    points, weights = gauss_legendre(_NODES)
    degree = np.arange(_NODES)
    values = np.polynomial.legendre.legvander(points, _NODES - 1)
    coefficients = weights[:, None] * values * (degree + 0.5)
    return np.asarray(np.polynomial.legendre.legint(coefficients, lbnd=-1.0, axis=1))
