"""What all pictures share: axes, colours that everybody can tell apart, and users' units."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Protocol

from riemdp._checks import kind_of
from riemdp._errors import InvalidParameterError, UnsupportedError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Okabe and Ito, "Color universal design", 2008: told apart with any kind of colour vision.
BLUE, ORANGE, GREEN, PURPLE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9"
GREY = "#595959"
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, "#000000", "#E69F00")
MARKERS = "osD^vPX"
#: Width of a letter, over the size of the font, and the fewest in a line of a title.
_LETTER, _LEAST = 0.5, 24


class Unit(Protocol):
    """Unit that distances are said in by those who measured the records, such as degrees."""

    @property
    def label(self) -> str:
        """What an axis in this unit is called."""

    def of(self, distance: NDArray[np.float64] | float) -> NDArray[np.float64]:
        """Return distances in this unit, shape (...)."""

    def back(self, value: NDArray[np.float64] | float) -> NDArray[np.float64]:
        """Return the distances that are so much in this unit, shape (...)."""


def axes(ax: Any = None) -> Any:
    """Return the matplotlib axes to draw on, new ones for None; anything else is refused."""
    try:
        from matplotlib.axes import Axes
    except ImportError:
        raise UnsupportedError("pictures need matplotlib: pip install 'riemdp[plot]'") from None
    if ax is None:
        import matplotlib.pyplot as plt

        return plt.subplots(layout="constrained")[1]
    if not isinstance(ax, Axes):
        raise InvalidParameterError(
            f"ax must be one matplotlib Axes, as plt.subplots()[1] is, got {kind_of(ax)}"
        )
    return ax


def titled(ax: Any, *lines: str) -> None:
    """Set a title, its lines broken to the width of the axes; empty lines are left out."""
    size = ax.set_title("", fontsize="medium").get_fontsize()
    room = 72.0 * ax.get_position().width * ax.figure.get_figwidth()
    letters = max(int(room / (_LETTER * size)), _LEAST)
    broken = [textwrap.fill(line, letters) for line in lines if line]
    ax.set_title("\n".join(broken).replace("$", r"\$"), fontsize="medium")


def second_axis(ax: Any, unit: Unit | None, *, along: str = "x") -> None:
    """Add an axis in the users' unit, if there is one, opposite to one of geodesic distances.

    ``along`` is "x" or "y": which axis is one of distances.
    """
    if unit is None:
        return
    functions = (unit.of, unit.back)
    if along == "x":
        second = ax.secondary_xaxis("top", functions=functions)
        second.set_xlabel(unit.label)
    else:
        second = ax.secondary_yaxis("right", functions=functions)
        second.set_ylabel(unit.label)
    if (ax.get_xscale() if along == "x" else ax.get_yscale()) == "log":
        plain_numbers(second.xaxis if along == "x" else second.yaxis)


def plain_numbers(axis: Any) -> None:
    """Label a logarithmic axis with numbers as 0.02, and not with powers of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())
