"""The gallery: its order, and figures with words that can be read in a thumbnail, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

#: As a study goes: plan, ball, release, several releases, audit.
ORDER = (
    "plan",
    "directions",
    "spd_metrics",
    "quickstart_spd",
    "pictures",
    "diffusion_tensors",
    "earthquakes",
    "rotations_and_shapes",
    "private_directions",
    "private_components",
    "class_means",
    "eeg_classifier",
    "private_classifier",
    "atlas",
    "conformal",
    "audit",
)


class StudyOrder:
    """Place of a script in the gallery."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, name: str) -> int:
        """Return it; a script that is not in the list is an error."""
        return ORDER.index(Path(name).stem.removeprefix("plot_"))


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
