"""Exact draws: ideal real-valued noise, rounded to a public grid. Needs python-flint."""

from riemdp.noise.exact._affine_invariant import AffineInvariantDraw
from riemdp.noise.exact._bits import Bits, Uniform
from riemdp.noise.exact._choice import exact_choice
from riemdp.noise.exact._draw import ExactDraw
from riemdp.noise.exact._flat import FlatDraw
from riemdp.noise.exact._folded import FoldedDraw
from riemdp.noise.exact._independent import IndependentDraw
from riemdp.noise.exact._rounded import Rounded, check_grid, default_grid
from riemdp.noise.exact._space_form import SpaceFormDraw

__all__ = [
    "AffineInvariantDraw",
    "Bits",
    "ExactDraw",
    "FlatDraw",
    "FoldedDraw",
    "IndependentDraw",
    "Rounded",
    "SpaceFormDraw",
    "Uniform",
    "check_grid",
    "default_grid",
    "exact_choice",
]
