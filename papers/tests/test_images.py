from __future__ import annotations

import gzip
import importlib.util
from pathlib import Path

import numpy as np
import pytest

from riemdp import InvalidParameterError
from riemdp.io import covariance_descriptors, descriptor_radius
from riemdp.spaces import SPDLogEuclidean
from riemdp_papers._experiment import Settings
from riemdp_papers._images import find_sets, image_sets


def test_files_in_the_folder_are_found(tmp_path, monkeypatch):
    monkeypatch.delenv("RIEMDP_DATA", raising=False)
    images = np.arange(4 * 16, dtype=np.uint8).reshape(4, 4, 4)
    labels = np.array([1, 0, 1, 1])
    np.savez(tmp_path / "mnist_part.npz", x_train=images, y_train=labels)
    np.savez(tmp_path / "pneumoniamnist.npz", x=images, y=labels[:, None])
    found = image_sets(Settings(quick=True, data=tmp_path))
    assert [data.name for data in found] == ["PneumoniaMNIST", "MNIST"]
    for data in found:
        assert data.classes == [0, 1]
        np.testing.assert_array_equal(data.of_class(1, 2), images[[0, 2]])
    monkeypatch.setenv("RIEMDP_DATA", str(tmp_path))
    assert len(image_sets(Settings(quick=True))) == 2


def test_without_a_folder_digits_are_used(monkeypatch):
    monkeypatch.delenv("RIEMDP_DATA", raising=False)
    (digits,) = image_sets(Settings(quick=True))
    assert digits.name == "scikit-learn digits"
    assert digits.classes == list(range(10))
    assert digits.images.shape[1:] == (8, 8)
    assert digits.images.min() == 0.0
    assert digits.images.max() == 1.0


def test_without_any_images_the_error_says_what_to_do(monkeypatch):
    monkeypatch.delenv("RIEMDP_DATA", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InvalidParameterError, match=r"--data.*mnist_part.npz.*riemdp\[sklearn\]"):
        image_sets(Settings(quick=True))


def test_a_folder_that_is_not_there_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("RIEMDP_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(InvalidParameterError, match=r"must exist, got .*nowhere.*RIEMDP_DATA"):
        image_sets(Settings(quick=True))


def test_a_folder_without_the_data_sets_is_an_error(tmp_path):
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    with pytest.raises(InvalidParameterError, match=r"must hold one of .*mnist_part\.npz"):
        image_sets(Settings(quick=True, data=tmp_path))


def test_a_broken_file_is_named(tmp_path):
    file = tmp_path / "mnist_part.npz"
    np.savez(file, x_train=np.zeros((2, 4, 4)), y_train=np.zeros(2, int))
    whole = file.read_bytes()
    assert len(image_sets(Settings(quick=True, data=tmp_path))) == 1
    for content in (whole[:100], b"", b"no archive"):
        file.write_bytes(content)
        with pytest.raises(InvalidParameterError, match=r"mnist_part\.npz is not an \.npz file"):
            image_sets(Settings(quick=True, data=tmp_path))


def idx(array):
    """Bytes of an IDX file."""
    return bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes() + array.tobytes()


def write_idx(folder, seed=0, parts=("train",), end=".gz"):
    """Write IDX files; return images and labels of all parts."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 256, (len(parts), 3, 4, 5), dtype=np.uint8)
    labels = rng.integers(0, 10, (len(parts), 3), dtype=np.uint8)
    pack = gzip.compress if end else bytes
    for part, pixels, classes in zip(parts, images, labels, strict=True):
        (folder / f"{part}-images-idx3-ubyte{end}").write_bytes(pack(idx(pixels)))
        (folder / f"{part}-labels-idx1-ubyte{end}").write_bytes(pack(idx(classes)))
    return images.reshape(-1, 4, 5), labels.ravel()


def only(folder):
    (found,) = image_sets(Settings(quick=True, data=folder))
    return found


def agrees(found, name, images, labels):
    assert found.name == name
    np.testing.assert_array_equal(found.images, images)
    np.testing.assert_array_equal(found.labels, labels)


def test_idx_files_lie_as_torchvision_has_them(tmp_path):
    names = {"MNIST": "MNIST", "FashionMNIST": "Fashion-MNIST", "KMNIST": "KMNIST"}
    parts = ("train", "t10k")
    written = [write_idx(tmp_path / name / "raw", i, parts) for i, name in enumerate(names)]
    found = image_sets(Settings(quick=True, data=tmp_path))
    for data, name, arrays in zip(found, names.values(), written, strict=True):
        agrees(data, name, *arrays)
        assert (data.channels, data.dim) == (1, 45)
    for i, (folder, name) in enumerate(names.items()):
        agrees(only(tmp_path / folder), name, *written[i])
        agrees(only(tmp_path / folder / "raw"), name, *written[i])


@pytest.mark.parametrize("folder", ["fashion-mnist", "Fashion_MNIST", "FASHIONMNIST/RAW"])
@pytest.mark.parametrize("end", ["", ".gz", ".GZ"])
def test_names_are_read_as_people_write_them(tmp_path, folder, end):
    written = write_idx(tmp_path / folder, end=end)
    agrees(only(tmp_path), "Fashion-MNIST", *written)
    for path in (tmp_path / folder).iterdir():
        path.rename(path.with_name(path.name.replace("-idx", ".idx")))
    agrees(only(tmp_path), "Fashion-MNIST", *written)
    agrees(only(tmp_path / folder), "Fashion-MNIST", *written)


def test_unpacked_files_go_first(tmp_path):
    write_idx(tmp_path / "KMNIST", 1)
    written = write_idx(tmp_path / "KMNIST", 2, end="")
    agrees(only(tmp_path), "KMNIST", *written)


def test_of_two_spellings_that_of_the_documentation_goes_first(tmp_path):
    images = np.zeros((1, 2, 2), np.uint8)
    for i, name in enumerate(("mnist_part.npz", "MNIST_PART.NPZ", "mnist-part.npz")):
        np.savez(tmp_path / "a.npz", x=images, y=np.array([i]))
        (tmp_path / "a.npz").rename(tmp_path / name)
    agrees(only(tmp_path), "MNIST", images, [0])


def test_the_folder_may_be_the_present_one(tmp_path, monkeypatch):
    written = write_idx(tmp_path / "KMNIST" / "raw")
    for folder in (tmp_path / "KMNIST", tmp_path / "KMNIST" / "raw"):
        monkeypatch.chdir(folder)
        agrees(only(Path()), "KMNIST", *written)


def test_the_folder_has_to_say_what_idx_files_show(tmp_path):
    write_idx(tmp_path / "images")
    with pytest.raises(InvalidParameterError, match="only the name of their folder tells"):
        only(tmp_path / "images")
    with pytest.raises(InvalidParameterError, match="must hold one of") as caught:
        only(tmp_path)
    assert "their folder" not in str(caught.value)


@pytest.mark.parametrize("gone", ["images-idx3-ubyte", "labels-idx1-ubyte"])
def test_half_a_part_is_refused(tmp_path, gone):
    write_idx(tmp_path / "MNIST", parts=("train", "t10k"))
    (tmp_path / "MNIST" / f"t10k-{gone}.gz").unlink()
    with pytest.raises(InvalidParameterError, match=rf"MNIST must have t10k-{gone} or t10k-{gone}"):
        only(tmp_path)
    (tmp_path / "MNIST" / f"t10k-{gone}").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InvalidParameterError, match=rf"must have t10k-{gone} or"):
        only(tmp_path)


def test_todays_archives_go_before_idx_files(tmp_path):
    write_idx(tmp_path / "MNIST", 1)
    images, labels = np.zeros((2, 3, 3), np.uint8), np.array([4, 5])
    np.savez(tmp_path / "mnist_part.npz", x_train=images, y_train=labels)
    agrees(only(tmp_path), "MNIST", images, labels)
    (tmp_path / "MNIST" / "train-labels-idx1-ubyte.gz").unlink()  # not looked at
    agrees(only(tmp_path), "MNIST", images, labels)


@pytest.mark.parametrize("name", ["pneumoniamnist.npz", "octmnist.npz", "PATHMNIST.NPZ"])
def test_archives_of_medmnist(tmp_path, name):
    colour = (3,) * name.startswith("PATH")
    images = np.random.default_rng(0).integers(0, 256, (4, 5, 6, *colour), dtype=np.uint8)
    labels = np.array([[2], [0], [2], [1]], np.uint8)
    np.savez_compressed(
        tmp_path / "a.npz",
        train_images=images[:3],
        train_labels=labels[:3],
        val_images=images[:1],
        val_labels=labels[:1],
        test_images=images[3:],
        test_labels=labels[3:],
    )
    (tmp_path / "a.npz").rename(tmp_path / name)
    data = only(tmp_path)
    names = {"p": "PneumoniaMNIST", "o": "OctMNIST", "P": "PathMNIST"}
    agrees(data, names[name[0]], images, labels.ravel())
    assert (data.channels, data.dim) == ((3, 66) if colour else (1, 45))
    chart = data.chart(2, 1e-3)
    assert chart.shape == (2, data.dim)
    assert data.radius(1e-3) == descriptor_radius(1e-3, data.channels)
    np.testing.assert_array_equal(data.chart(2, 1e-3, 1), chart[:1])
    expected = SPDLogEuclidean(8 + data.channels).to_chart(
        covariance_descriptors(images[[0, 2]] / 255, 1e-3)
    )
    np.testing.assert_allclose(chart, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("inside", ["cifar-10-batches-bin", "CIFAR_10_batches_bin", "."])
def test_binaries_of_cifar_10(tmp_path, inside):
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)
    labels = np.array([9, 0, 3, 0], np.uint8)
    (tmp_path / inside).mkdir(exist_ok=True)
    for name, i in (("data_batch_1.bin", 0), ("data_batch_5.bin", 1), ("test_batch.bin", 2)):
        chosen = slice(i, 4 if i == 2 else i + 1)
        planes = images[chosen].transpose(0, 3, 1, 2).reshape(-1, 3072)
        records = np.hstack([labels[chosen, None], planes])
        (tmp_path / inside / name).write_bytes(records.tobytes())
    data = only(tmp_path)
    agrees(data, "CIFAR-10", images, labels)
    assert data.images.flags.c_contiguous
    assert (data.channels, data.dim) == (3, 66)


def test_the_order_does_not_depend_on_what_else_is_there(tmp_path):
    arrays = {"x": np.zeros((1, 2, 2)), "y": np.zeros(1, int)}
    for name in ("pathmnist", "octmnist", "pneumoniamnist", "fashion_mnist_part", "mnist_part"):
        np.savez(tmp_path / f"{name}.npz", **arrays)
    write_idx(tmp_path / "kmnist")
    (tmp_path / "test_batch.bin").write_bytes(bytes(3073))
    names = [data.name for data in image_sets(Settings(quick=True, data=tmp_path))]
    assert names == [
        *("PneumoniaMNIST", "MNIST", "Fashion-MNIST"),
        *("KMNIST", "OctMNIST", "PathMNIST", "CIFAR-10"),
    ]


def test_nothing_is_opened_to_find_data_sets(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "octmnist.npz").touch()
    (tmp_path / "data" / "cifar-10-batches-py").mkdir()  # pickles
    (tmp_path / "data" / "kmnist").touch()  # no folder
    (found,) = find_sets(tmp_path / "data")
    assert (found.name, found.files) == ("OctMNIST", (tmp_path / "data" / "octmnist.npz",))
    (tmp_path / "link").symlink_to(tmp_path / "data")
    (found,) = find_sets(tmp_path / "link")
    assert found.name == "OctMNIST"
