"""Exact draws: ideal real-valued noise, rounded to a public grid. Needs python-flint."""

from typing import TYPE_CHECKING

from riemdp._lazy import lazy_names

if TYPE_CHECKING:
    from riemdp.noise.exact._affine_invariant import AffineInvariantDraw
    from riemdp.noise.exact._bits import Bits, Uniform
    from riemdp.noise.exact._choice import exact_choice
    from riemdp.noise.exact._draw import ExactDraw
    from riemdp.noise.exact._flat import FlatDraw
    from riemdp.noise.exact._folded import FoldedDraw
    from riemdp.noise.exact._independent import IndependentDraw
    from riemdp.noise.exact._rounded import Rounded, check_grid, default_grid
    from riemdp.noise.exact._space_form import SpaceFormDraw
else:
    __getattr__, __dir__ = lazy_names(
        globals(),
        {
            "_affine_invariant": "AffineInvariantDraw",
            "_bits": "Bits Uniform",
            "_choice": "exact_choice",
            "_draw": "ExactDraw",
            "_flat": "FlatDraw",
            "_folded": "FoldedDraw",
            "_independent": "IndependentDraw",
            "_rounded": "Rounded check_grid default_grid",
            "_space_form": "SpaceFormDraw",
        },
    )

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
