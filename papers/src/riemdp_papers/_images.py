"""Images at hand for the experiments on covariance descriptors."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp import InvalidParameterError
from riemdp.io import covariance_descriptors, descriptor_radius
from riemdp.spaces import SPDLogEuclidean
from riemdp_papers._image_files import join, read_archive, read_cifar, read_idx

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp_papers._experiment import FloatArray, Settings
    from riemdp_papers._image_files import Labelled

    #: Files, and what reads them.
    _There = tuple[tuple[Path, ...], Callable[[], Labelled]]

#: Parts of a data set in IDX files, training images first.
_PARTS = ("train", "t10k")
_PIXELS, _CLASSES = "images-idx3-ubyte", "labels-idx1-ubyte"
_BATCHES = (*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin")
_BATCH_FOLDER = "cifar-10-batches-bin"


@dataclass(frozen=True)
class ImageSet:
    """Images, shape (n, H, W) or (n, H, W, 3), with labels (n,): ``uint8``, or floats in [0, 1]."""

    name: str
    images: NDArray[Any]
    labels: NDArray[Any]

    @property
    def classes(self) -> list[int]:
        """Labels in increasing order."""
        return [int(label) for label in np.unique(self.labels)]

    @property
    def channels(self) -> int:
        """1 for grey images and 3 for colour; their descriptors have 8 more rows."""
        return 1 if self.images.ndim == 3 else 3

    @property
    def dim(self) -> int:
        """Dimension of the space of descriptors: 45 for grey images and 66 for colour."""
        return SPDLogEuclidean(8 + self.channels).dim

    def of_class(self, label: int, limit: int | None = None) -> NDArray[Any]:
        """Return the first ``limit`` images of a class."""
        return np.asarray(self.images[self.labels == label][:limit])

    def chart(self, label: int, eta: float, limit: int | None = None) -> FloatArray:
        """Logarithms of the covariance descriptors of a class, shape (n, dim)."""
        descriptors = covariance_descriptors(self.of_class(label, limit), eta)
        return SPDLogEuclidean(8 + self.channels).to_chart(descriptors)

    def radius(self, eta: float) -> float:
        """Radius that no logarithm of a descriptor of such images exceeds."""
        return descriptor_radius(eta, self.channels)


@dataclass(frozen=True)
class Found:
    """A data set in a folder: ``read`` returns the images and labels of its files."""

    name: str
    files: tuple[Path, ...]
    read: Callable[[], Labelled]


def image_sets(settings: Settings) -> list[ImageSet]:
    """Every data set in the folder ``settings.data``; without a folder scikit-learn's digits.

    Without ``settings.data`` the environment variable ``RIEMDP_DATA`` names the folder. The sets
    come in this order, each from the first of its places that is there:

    - PneumoniaMNIST: ``pneumoniamnist.npz``;
    - MNIST: ``mnist_part.npz``, IDX files in ``MNIST``;
    - Fashion-MNIST: ``fashion_mnist_part.npz``, IDX files in ``FashionMNIST``;
    - KMNIST: IDX files in ``KMNIST``;
    - OctMNIST: ``octmnist.npz``;
    - PathMNIST: ``pathmnist.npz``, in colour;
    - CIFAR-10: its binary files in ``cifar-10-batches-bin``, in colour.

    IDX files are ``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte`` and the same with
    ``t10k``, with or without ``.gz``; where both are there the one without is read. They lie in a
    folder of the name above, or in ``raw`` within, as torchvision has them; the data folder itself
    may be such a folder. Upper and lower case, hyphens, underscores and dots in names do not
    matter. Of the binary files, and of IDX files, what is there is read, training images before
    test images; so it is with MedMNIST's archives (see :func:`read_archive`), whose validation
    images are left out as in the paper.

    Raises
    ------
    InvalidParameterError
        If that is no folder, holds none of the data sets or a broken one, or if without a folder
        scikit-learn is missing.
    OSError
        If a folder or file cannot be opened.
    """
    folder = data_folder(settings)
    if folder is None:
        return [_digits()]
    return [ImageSet(found.name, *found.read()) for found in find_sets(folder)]


def data_folder(settings: Settings) -> Path | None:
    """Return the folder of image data that the settings or the environment name, if any."""
    folder = settings.data or os.environ.get("RIEMDP_DATA")
    if not folder:
        return None
    if not Path(folder).is_dir():
        raise InvalidParameterError(
            f"the folder with images must exist, got {str(folder)!r} (--data or RIEMDP_DATA); "
            "without one scikit-learn's digits are used"
        )
    return Path(folder)


def find_sets(folder: Path) -> list[Found]:
    """Find the data sets in a folder; none of their files is opened.

    A folder with none, or with images without labels, is an :class:`InvalidParameterError`.
    """
    found = []
    for name, places in _SETS.items():
        if there := next(filter(None, (place(folder) for place in places)), None):
            found.append(Found(name, *there))
    if not found:
        hint = ""
        if _idx_files(folder):
            hint = (
                ". There are IDX files, of which only the name of their folder tells what they "
                "show: put them in one of those"
            )
        raise InvalidParameterError(
            f"{folder} (--data or RIEMDP_DATA) must hold one of {_PLACES}; without a folder "
            f"scikit-learn's digits are used{hint}"
        )
    return found


def _archive(name: str, folder: Path) -> _There | None:
    """Find an archive of this name."""
    path = _entries(folder).get(_plain(name))
    return ((path,), partial(read_archive, path)) if path else None


def _idx(name: str, folder: Path) -> _There | None:
    """Find IDX files in a folder of this name."""
    homes = [home] if (home := _entries(folder).get(_plain(name))) else []
    here = Path(os.path.abspath(folder))
    if _plain(name) == _plain((here.parent if _plain(here.name) == "raw" else here).name):
        homes.append(folder)
    for place in (place for home in homes for place in (_entries(home).get("raw"), home)):
        if place and (pairs := _idx_files(place)):
            files = tuple(path for pair in pairs for path in pair)
            return files, partial(_read_parts, place, pairs)
    return None


def _read_parts(place: Path, pairs: list[tuple[Path, Path]]) -> Labelled:
    return join([read_idx(*pair) for pair in pairs], place)


def _binaries(folder: Path) -> _There | None:
    """Find the binary version of CIFAR-10."""
    for place in (_entries(folder).get(_plain(_BATCH_FOLDER)), folder):
        entries = _entries(place) if place else {}
        files = tuple(path for name in _BATCHES if (path := entries.get(_plain(name))))
        if files:
            return files, partial(read_cifar, files)
    return None


def _idx_files(folder: Path) -> list[tuple[Path, Path]]:
    """Images and labels of the parts that are in a folder."""
    entries = _entries(folder)
    pairs = []
    for part in _PARTS:
        wanted = [_plain(f"{part}-{kind}") for kind in (_PIXELS, _CLASSES)]
        images, labels = (entries.get(name) or entries.get(f"{name}gz") for name in wanted)
        if images and labels:
            pairs.append((images, labels))
        elif alone := images or labels:
            name = f"{part}-{_CLASSES if images else _PIXELS}"
            raise InvalidParameterError(
                f"{folder} must have {name} or {name}.gz next to {alone.name}"
            )
    return pairs


def _entries(folder: Path) -> dict[str, Path]:
    """List a folder by plain names; what is no folder holds nothing."""
    if not folder.is_dir():
        return {}
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir(), reverse=True):  # lower case and underscores go first
        if path.exists():
            found.setdefault(_plain(path.name), path)
    return found


def _plain(name: str) -> str:
    """Return a name without what is written in different ways."""
    return re.sub(r"[-_.\s]", "", name.lower())


#: The data sets, and where each may be; the first place that has it counts.
_SETS: dict[str, tuple[Callable[[Path], _There | None], ...]] = {
    "PneumoniaMNIST": (partial(_archive, "pneumoniamnist.npz"),),
    "MNIST": (partial(_archive, "mnist_part.npz"), partial(_idx, "MNIST")),
    "Fashion-MNIST": (
        partial(_archive, "fashion_mnist_part.npz"),
        partial(_idx, "FashionMNIST"),
    ),
    "KMNIST": (partial(_idx, "KMNIST"),),
    "OctMNIST": (partial(_archive, "octmnist.npz"),),
    "PathMNIST": (partial(_archive, "pathmnist.npz"),),
    "CIFAR-10": (_binaries,),
}
_PLACES = (
    "pneumoniamnist.npz, mnist_part.npz, fashion_mnist_part.npz, octmnist.npz, pathmnist.npz, "
    "folders MNIST, FashionMNIST or KMNIST with IDX files (train-images-idx3-ubyte.gz and so on), "
    f"or {_BATCH_FOLDER}"
)


def _digits() -> ImageSet:
    if importlib.util.find_spec("sklearn") is None:
        raise InvalidParameterError(
            "the experiments on images need --data (or RIEMDP_DATA), a folder with one of "
            f"{_PLACES}, or scikit-learn: pip install 'riemdp[sklearn]'"
        )
    from sklearn.datasets import load_digits

    data = load_digits()
    return ImageSet("scikit-learn digits", data.images / 16.0, data.target)
