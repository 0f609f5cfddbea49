"""Figures of the gallery with words that can be read in a thumbnail, too."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl


def readable(conf: dict[str, Any], name: str) -> None:  # noqa: ARG001 -- called so by the gallery
    """Set sizes for the next script; the gallery has reset them."""
    mpl.rcParams.update(
        {
            "figure.figsize": (5.6, 4.0),
            "font.size": 13,
            "legend.fontsize": 11,
            "xtick.labelsize": 11,
        }
    )
