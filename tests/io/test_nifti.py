"""NIfTI: a record of an image or of each voxel, orders that the header contradicts, masks."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from riemdp import InvalidParameterError, NotOnManifoldError, _files
from riemdp.io import read_records
from riemdp.io._nifti import read_nifti, write_nifti

nibabel = pytest.importorskip("nibabel")

SHAPE = (2, 3, 2)
SIX = np.arange(72.0).reshape(*SHAPE, 6)


def write(path, data, intent=0, affine=None):
    image = nibabel.Nifti1Image(data, np.eye(4) if affine is None else affine)
    image.header["intent_code"] = intent
    nibabel.save(image, path)
    return path


def read(path, layout=None, unit="person", mask=None, most=1000):
    return read_nifti(path, most, "", layout=layout, unit=unit, mask=mask)


def test_the_person_is_the_image_unless_voxels_are_asked_for(tmp_path):
    path = write(tmp_path / "a.nii", SIX)
    one, many = read(path, "tensor-fsl"), read(path, "tensor-fsl", "voxel")
    assert one.shape == (1, 12, 3, 3)
    assert many.shape == (12, 3, 3)
    np.testing.assert_array_equal(one[0], many)
    np.testing.assert_array_equal(many[1], [[6, 7, 8], [7, 9, 10], [8, 10, 11]])
    assert read(write(tmp_path / "fa.nii.gz", SIX[..., 0])).shape == (1, 12)


def test_complex_numbers_are_refused(tmp_path):
    path = write(tmp_path / "a.nii", SIX + 5j)
    with pytest.raises(InvalidParameterError, match=r"a\.nii must hold real numbers"):
        read(path, "tensor-fsl")


def test_paths_may_be_texts(tmp_path):
    like = write(tmp_path / "like.nii", np.ones(SHAPE))
    points = np.tile(np.eye(3), (12, 1, 1))
    write_nifti(str(tmp_path / "a.nii"), points, str(like), layout="tensor-fsl")
    read_back = read_records(
        str(tmp_path / "a.nii"), layout="tensor-fsl", unit="voxel", mask=str(like)
    )
    np.testing.assert_array_equal(read_back.points, points)
    for path in (3, "", None):
        with pytest.raises(InvalidParameterError, match="must be that of a file"):
            write_nifti(path, points, like)
        with pytest.raises(InvalidParameterError, match="must be that of a file"):
            read_records(path, unit="voxel")
    with pytest.raises(InvalidParameterError, match="one for each voxel"):
        write_nifti(tmp_path / "a.nii", 1.0, like)


def test_the_order_of_the_standard(tmp_path):
    path = write(tmp_path / "a.nii.gz", SIX[..., None, :], intent=1005)
    found = read(path, "tensor-nifti", "voxel")
    np.testing.assert_array_equal(found[0], [[0, 1, 3], [1, 2, 4], [3, 4, 5]])
    for layout in ("tensor-fsl", "tensor-mrtrix", None):
        with pytest.raises(InvalidParameterError, match="lower triangle"):
            read(path, layout)


def test_masks(tmp_path):
    path = write(tmp_path / "a.nii", SIX)
    inside = np.zeros(SHAPE, dtype=np.uint8)
    inside[1, 2, 0] = inside[0, 0, 1] = 1
    mask = write(tmp_path / "mask.nii", inside)
    found = read(path, "tensor-fsl", "voxel", mask)
    np.testing.assert_array_equal(found, read(path, "tensor-fsl", "voxel")[[1, 10]])
    for other in (
        write(tmp_path / "m.nii", inside[..., :1]),
        write(tmp_path / "n.nii", inside, affine=np.diag([2.0, 1.0, 1.0, 1.0])),
    ):
        with pytest.raises(InvalidParameterError, match="another space"):
            read(path, "tensor-fsl", "voxel", other)


@pytest.mark.parametrize("layout", ["tensor-fsl", "tensor-nifti", "tensor-mrtrix"])
@pytest.mark.parametrize("name", ["b.nii", "b.nii.gz"])
def test_written_values_are_read_back(tmp_path, layout, name):
    path = write(tmp_path / "a.nii", SIX, affine=np.diag([2.0, 2.0, 3.0, 1.0]))
    inside = np.arange(12).reshape(SHAPE) % 3
    mask = write(tmp_path / "mask.nii", inside.astype(np.uint8), affine=np.diag([2.0, 2, 3, 1]))
    points = read(path, "tensor-fsl", "voxel", mask)
    write_nifti(tmp_path / name, points, mask, layout=layout)
    np.testing.assert_array_equal(read(tmp_path / name, layout, "voxel", mask), points)
    everywhere = read(tmp_path / name, layout, "voxel")
    np.testing.assert_array_equal(everywhere[inside.ravel() == 0], np.zeros((4, 3, 3)))
    with pytest.raises(InvalidParameterError, match="8 voxels to write, got 7"):
        write_nifti(tmp_path / name, points[1:], mask, layout=layout)
    with pytest.raises(InvalidParameterError, match="input"):
        write_nifti(mask, points, mask, layout=layout)


def test_written_scalars(tmp_path):
    path = write(tmp_path / "a.nii", SIX[..., 0])
    write_nifti(tmp_path / "b.nii", SIX[..., 0].reshape(-1), path, masked=False)
    np.testing.assert_array_equal(read(tmp_path / "b.nii"), SIX[..., 0].reshape(1, -1))
    with pytest.raises(InvalidParameterError, match=r"\.nii\.gz"):
        write_nifti(tmp_path / "b.img", SIX[..., 0], path)
    with pytest.raises(InvalidParameterError, match="to be a mask"):
        write_nifti(tmp_path / "b.nii", SIX[..., 0], write(tmp_path / "c.nii", SIX))


def test_scaled_numbers_and_those_that_are_none(tmp_path):
    image = nibabel.Nifti1Image(SIX, np.eye(4))
    image.set_data_dtype(np.int16)
    nibabel.save(image, tmp_path / "a.nii")
    stored = nibabel.load(tmp_path / "a.nii").dataobj.get_unscaled()
    assert stored.dtype == np.int16
    assert np.max(np.abs(stored - SIX)) > 1000.0
    np.testing.assert_allclose(read(tmp_path / "a.nii")[0], SIX.reshape(12, 6), atol=0.01)
    data = SIX.copy()
    data[0, 0, 1, 3] = np.nan
    with pytest.raises(NotOnManifoldError, match=r"row 1 of b\.nii"):
        read(write(tmp_path / "b.nii", data), "tensor-fsl", "voxel")


def test_damage(tmp_path):
    path = write(tmp_path / "a.nii", SIX)
    with pytest.raises(InvalidParameterError, match="more than 71 numbers"):
        read(path, most=71)
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(InvalidParameterError, match="cannot be read"):
        read(path)
    path.write_bytes(b"secret")
    with pytest.raises(InvalidParameterError, match="cannot be read") as caught:
        read(path)
    assert "secret" not in str(caught.value)
    with pytest.raises(InvalidParameterError, match="three axes"):
        read(write(tmp_path / "flat.nii", SIX[0, 0, :, 0]))
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "absent.nii")


def test_what_nibabel_logs_of_a_header_is_not_shown(tmp_path, capfd, caplog):
    """It warns of odd values, and names them, on the standard error stream."""
    path = write(tmp_path / "a.nii", SIX)
    content = bytearray(path.read_bytes())
    content[252:254] = (7373).to_bytes(2, "little")  # qform_code
    path.write_bytes(content)
    read(path)
    assert capfd.readouterr() == ("", "")
    assert caplog.text == ""
    nibabel.load(path)  # control
    assert "7373" in capfd.readouterr().err + caplog.text


@pytest.mark.parametrize("kind", ["Nifti1", "Nifti2"])
@pytest.mark.parametrize("order", "<>")
def test_both_versions_and_orders_of_bytes(tmp_path, kind, order):
    header = getattr(nibabel, f"{kind}Header")(endianness=order)
    header.set_data_dtype(np.float32)
    image = getattr(nibabel, f"{kind}Image")(SIX, np.diag([2.0, 2.0, 3.0, 1.0]), header)
    for name in ("a.nii", "a.nii.gz"):
        nibabel.save(image, tmp_path / name)
        np.testing.assert_array_equal(read(tmp_path / name), SIX.reshape(1, 12, 6))


@pytest.mark.parametrize("start", [0, 351, 2**24 + 1, 2**31, -16])
@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz"])
def test_numbers_start_after_the_header_and_not_far_from_it(tmp_path, name, start):
    """A small file may say that they start after gigabytes, which would be decompressed."""
    header = nibabel.Nifti1Image(SIX, np.eye(4)).header
    header["vox_offset"] = start
    pack = gzip.compress if name.endswith(".gz") else bytes
    (tmp_path / name).write_bytes(pack(header.binaryblock + bytes(5000)))
    with pytest.raises(InvalidParameterError, match=r"start at a byte from 352|cannot be read"):
        read(tmp_path / name)


def test_a_small_file_of_many_voxels(tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "MOST_OF_FILE", 10)
    image = nibabel.Nifti1Image(np.zeros((64, 64, 64), np.uint8), np.eye(4))
    nibabel.save(image, tmp_path / "a.nii.gz")
    limit = 25 * (tmp_path / "a.nii.gz").stat().st_size
    with pytest.raises(InvalidParameterError, match=f"more than {limit} numbers"):
        read_records(tmp_path / "a.nii.gz", unit="person")
    allowed = read_records(tmp_path / "a.nii.gz", unit="person", most=2**18)
    assert allowed.points.shape == (1, 2**18)  # the caller's word


def test_images_without_space(tmp_path):
    path = write(tmp_path / "a.nii", np.ones((1, 1, 1, 1, 5, 6)), intent=3002)
    with pytest.raises(InvalidParameterError, match="three axes"):
        read(path)
