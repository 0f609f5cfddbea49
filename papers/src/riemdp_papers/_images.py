"""Images at hand for the experiments on covariance descriptors."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp import InvalidParameterError
from riemdp.cli import MOST_NUMBERS, read_npz

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp_papers._experiment import Settings

#: Data set, file, and the names of its images and labels there.
_FILES = (
    ("PneumoniaMNIST", "pneumoniamnist.npz", "x", "y"),
    ("MNIST", "mnist_part.npz", "x_train", "y_train"),
    ("Fashion-MNIST", "fashion_mnist_part.npz", "x_train", "y_train"),
)
_FILE_NAMES = ", ".join(file for _, file, _, _ in _FILES)


@dataclass(frozen=True)
class ImageSet:
    """Grey images with labels.

    Parameters
    ----------
    name : str
    images : ndarray, shape (n, H, W)
        ``uint8``, or floats in [0, 1].
    labels : ndarray, shape (n,)
    """

    name: str
    images: NDArray[Any]
    labels: NDArray[Any]

    @property
    def classes(self) -> list[int]:
        """Labels in increasing order."""
        return [int(label) for label in np.unique(self.labels)]

    def of_class(self, label: int, limit: int | None = None) -> NDArray[Any]:
        """Return the first ``limit`` images of a class."""
        return np.asarray(self.images[self.labels == label][:limit])


def image_sets(settings: Settings) -> list[ImageSet]:
    """Every data set in the folder ``settings.data``; without a folder scikit-learn's digits.

    Without ``settings.data`` the environment variable ``RIEMDP_DATA`` names the folder.

    Raises
    ------
    InvalidParameterError
        If that is no folder, holds none of the data sets or a broken one, or if without a folder
        scikit-learn is missing.
    """
    folder = settings.data or os.environ.get("RIEMDP_DATA")
    if folder and not Path(folder).is_dir():
        raise InvalidParameterError(
            f"the folder with images must exist, got {str(folder)!r} (--data or RIEMDP_DATA); "
            "without one scikit-learn's digits are used"
        )
    found = []
    for name, file_name, images, labels in _FILES if folder else ():
        path = Path(folder or "") / file_name
        if path.exists():
            try:
                found.append(ImageSet(name, read_npz(path, images), read_npz(path, labels).ravel()))
            except InvalidParameterError:
                raise InvalidParameterError(
                    f"{path} must be a .npz file with the arrays {images!r} and {labels!r} of at "
                    f"most {MOST_NUMBERS} numbers each"
                ) from None
    if folder and not found:
        raise InvalidParameterError(
            f"{folder} (--data or RIEMDP_DATA) must hold one of {_FILE_NAMES}; without a folder "
            "scikit-learn's digits are used"
        )
    return found or [_digits()]


def _digits() -> ImageSet:
    if importlib.util.find_spec("sklearn") is None:
        raise InvalidParameterError(
            "the experiments on images need --data (or RIEMDP_DATA), a folder with one of "
            f"{_FILE_NAMES}, or scikit-learn: pip install 'riemdp[sklearn]'"
        )
    from sklearn.datasets import load_digits

    data = load_digits()
    return ImageSet("scikit-learn digits", data.images / 16.0, data.target)
