from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from riemdp import InvalidParameterError
from riemdp_papers._experiment import Settings
from riemdp_papers._images import image_sets


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
    np.savez(file, x_train=np.zeros((2, 4, 4)), wrong=np.zeros(2))
    whole = file.read_bytes()
    for content in (whole, whole[:100], b"", b"no archive"):
        file.write_bytes(content)
        with pytest.raises(InvalidParameterError, match=r"mnist_part\.npz must be a \.npz file"):
            image_sets(Settings(quick=True, data=tmp_path))
