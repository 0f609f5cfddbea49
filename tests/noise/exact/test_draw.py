from __future__ import annotations

import numpy as np
import pytest

from riemdp import InvalidParameterError
from riemdp.noise.exact import Bits, FlatDraw


def test_a_draw_is_what_its_bits_stand_for():
    law = FlatDraw("laplace", 3, 0.5)
    drawn = law.draw([0.5, 0.0, -1.0], 41, generator=np.random.default_rng(5))
    assert drawn == law.rounded(Bits(np.random.default_rng(5)), [0.5, 0.0, -1.0], 41)
    assert drawn.grid == 41
    assert drawn != law.draw([0.5, 0.0, -1.0], 41)  # of the secure generator


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (([0.0], 40), "2 coordinates"),
        (([0.0, np.nan], 40), "finite"),
        (([0.0, np.inf], 40), "finite"),
        (([0.0, True], 40), "got bool"),
        ((None, 40), "sequence of 2 numbers"),
        ((0.5, 40), "got float"),
        (([0.0, "secret"], 40), "got str"),
        (([0.0, 0.0], 40.0), "grid"),
        (([0.0, 0.0], 10**6), "grid"),
    ],
)
def test_refusals_tell_no_coordinates(arguments, text):
    with pytest.raises(InvalidParameterError, match=text) as raised:
        FlatDraw("gaussian", 2, 1.0).draw(*arguments)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("precision", [1, 0, 1 << 20, 12.0])
def test_starting_precisions_that_are_none(precision):
    with pytest.raises(InvalidParameterError, match="precision"):
        FlatDraw("gaussian", 1, 1.0).draw([0.0], 40, precision=precision)


def test_without_python_flint_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr("riemdp.noise.exact._draw.certified_available", lambda: False)
    with pytest.raises(InvalidParameterError, match=r"pip install python-flint"):
        FlatDraw("gaussian", 1, 1.0).draw([0.0], 40)
