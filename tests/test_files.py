from __future__ import annotations

import io
import os
import stat
import tracemalloc
import zipfile

import numpy as np
import pytest

from riemdp import InvalidParameterError
from riemdp._files import (
    MOST_NUMBERS,
    MOST_OF_FILE,
    check_output,
    most_numbers,
    npz_headers,
    read_npy,
    read_npz,
    read_text,
    write_files,
)

NUMBERS = np.random.default_rng(0).normal(size=(40, 3, 3))


def npy(array=NUMBERS, header=None):
    """Bytes of an ``.npy`` file, with another header."""
    stream = io.BytesIO()
    if header is None:
        np.save(stream, array)
        return stream.getvalue()
    text = header.encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + array.tobytes()


def declared(shape, dtype="<f8"):
    return f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}}}"


def npz(path, content=None, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("x.npy", npy() if content is None else content)


def patched(path, offset, value):
    """Change bytes of the only entry, in its own header and, 2 further on, in the directory's."""
    content = bytearray(path.read_bytes())
    for start in (offset, content.rindex(b"PK\x01\x02") + offset + 2):
        content[start : start + len(value)] = value
    path.write_bytes(content)


@pytest.mark.parametrize("dtype", ["f8", ">f4", "i2", ">u8", "f2"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(), (0,), (3, 4), (2, 0, 3), (5, 2, 3)])
def test_arrays_come_back_as_they_were(tmp_path, dtype, order, shape):
    array = np.asarray(np.arange(np.prod(shape)).reshape(shape), dtype, order=order)
    np.save(tmp_path / "a.npy", array)
    np.savez(tmp_path / "a.npz", x=array)
    np.savez_compressed(tmp_path / "b.npz", y=np.zeros(2), x=array)
    for found in (
        read_npy(tmp_path / "a.npy"),
        read_npz(tmp_path / "a.npz"),
        read_npz(tmp_path / "b.npz", "x"),
    ):
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize(
    "content",
    [
        npy()[:-1],
        npy()[:100],
        npy() + b"x",
        npy() * 2,
        npy(header=declared("(24, 10**12)")),
        npy(header=declared("(-40, 9)")),
        npy(header=declared("(-40, -9)")),
        npy(header=declared("(41, 9)")),
        npy(header=declared("(39, 9)")),
        npy(header=declared("(40, 9)", "|O")),
        npy(header="{'descr': '<f8', 'shape': (40, 9)}"),
        npy(header="{[]: 1}"),
        npy(header="(" * 5000),
        npy(header="{'descr': (2,)"),
        npy(header="\0"),
        npy(header=declared("(0, 10**30)")),
        npy().replace(b"NUMPY\x01", b"NUMPY\x03", 1),
        npy().replace(b"NUMPY\x01", b"NUMPY\x09", 1),
    ],
)
def test_damaged_arrays_alone_and_in_an_archive(tmp_path, content):
    (tmp_path / "a.npy").write_bytes(content)
    npz(tmp_path / "a.npz", content)
    with pytest.raises(InvalidParameterError, match=r"a\.npy is not an \.npy file of plain number"):
        read_npy(tmp_path / "a.npy")
    with pytest.raises(InvalidParameterError, match=r"a\.npz is not an \.npz file of plain number"):
        read_npz(tmp_path / "a.npz")


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers_are_to_be_written_as_pairs(tmp_path, dtype):
    landmarks = (NUMBERS[..., 0] + 1j * NUMBERS[..., 1]).astype(dtype)
    np.save(tmp_path / "a.npy", landmarks)
    with pytest.raises(InvalidParameterError, match="real and imaginary parts as one more axis"):
        read_npy(tmp_path / "a.npy")
    np.save(tmp_path / "b.npy", np.stack([landmarks.real, landmarks.imag], axis=-1))
    assert read_npy(tmp_path / "b.npy").shape == (40, 3, 2)


def test_damaged_members(tmp_path):
    path = tmp_path / "a.npz"

    def refused(match):
        with pytest.raises(InvalidParameterError, match=match):
            read_npz(path)

    npz(path)
    content = bytearray(path.read_bytes())
    content[60:200] = bytes(140)
    path.write_bytes(content)
    refused(r"plain numbers \(zlib\.error\)")
    npz(path, compression=zipfile.ZIP_STORED)
    content = bytearray(path.read_bytes())
    content[300] ^= 1  # one bit of one number: the checksum tells
    path.write_bytes(content)
    refused(r"plain numbers \(zipfile\.BadZipFile\)")
    npz(path)
    patched(path, 6, b"\x01\x00")
    refused("a.npz is encrypted")
    npz(path)
    patched(path, 8, b"\x63\x00")
    refused("compression that numpy.savez does not write")
    npz(path, compression=zipfile.ZIP_LZMA)
    refused("compression that numpy.savez does not write")
    npz(path)
    patched(path, 22, (100).to_bytes(4, "little"))  # the size of a member may be a lie
    refused("plain numbers")
    npz(path)
    patched(path, 22, (2**31).to_bytes(4, "little"))
    refused(f"more than {MOST_OF_FILE}")


def test_an_archive_of_other_things(tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("notes.txt", "text")
    with pytest.raises(InvalidParameterError, match="plain numbers"):
        read_npz(path)
    with zipfile.ZipFile(path, "w") as archive:
        for index in range(1000):
            archive.writestr(f"x{index}.npy", b"")
    with pytest.raises(InvalidParameterError, match=r"--key: x0, .*, x19 and 980 more$"):
        read_npz(path)


@pytest.mark.parametrize("header", [declared((MOST_NUMBERS + 1,)), declared((24, 10**12), "|u1")])
def test_more_than_the_limit_is_refused_before_it_is_read(tmp_path, header):
    (tmp_path / "a.npy").write_bytes(npy(header=header))
    npz(tmp_path / "a.npz", npy(header=header))
    for read, name, most in (
        (read_npy, "a.npy", MOST_NUMBERS),
        (read_npz, "a.npz", MOST_OF_FILE),
    ):
        with pytest.raises(InvalidParameterError, match=f"{name} holds more than {most} .*most="):
            read(tmp_path / name)


def test_a_compressed_file_becomes_so_many_numbers_for_each_byte():
    assert most_numbers(None, 189) == MOST_OF_FILE == 2**24
    assert most_numbers(None, 10**6) == 25 * 10**6
    assert most_numbers(None, 10**9) == MOST_NUMBERS
    assert most_numbers(10**12, 1) == 10**12  # the caller's word


def test_records_without_a_number_count_as_well(tmp_path):
    for read, name in ((read_npy, "a.npy"), (read_npz, "a.npz")):
        save = np.save if name == "a.npy" else np.savez_compressed
        save(tmp_path / name, np.empty((2**28, 0)))
        with pytest.raises(InvalidParameterError, match="more than"):
            read(tmp_path / name)
        assert len(read(tmp_path / name, most=2**28)) == 2**28
        save(tmp_path / name, np.empty((0, 3)))  # control
        assert read(tmp_path / name).shape == (0, 3)


def test_a_header_without_end_is_not_read(tmp_path):
    content = b"\x93NUMPY\x02\x00" + (2**27).to_bytes(4, "little") + b" " * 2**27
    npz(tmp_path / "a.npz", content)
    del content
    tracemalloc.start()
    with pytest.raises(InvalidParameterError, match=r"not an \.npz file"):
        read_npz(tmp_path / "a.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24


def test_headers_of_an_archive_are_read_alone(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, x=NUMBERS, y=np.zeros(3, "u1"), z=np.array([None]))
    expected = {"x": ((40, 3, 3), np.dtype("f8")), "y": ((3,), np.dtype("u1"))}
    assert npz_headers(path, ["x", "y", "other"]) == expected
    assert npz_headers(path, ["z"]) == {"z": ((1,), np.dtype("O"))}  # not unpickled
    npz(path, npy(header=declared((24, 10**12), "|u1"))[:200])
    assert npz_headers(path, ["x"]) == {"x": ((24, 10**12), np.dtype("u1"))}
    npz(path, compression=zipfile.ZIP_LZMA)
    with pytest.raises(InvalidParameterError, match="a compression that numpy"):
        npz_headers(path, ["x"])
    for content in (b"", npy()[:70], npy(header=declared("(-40, 9)")), npy(header="{[]: 1}")):
        npz(path, content)
        with pytest.raises(InvalidParameterError, match=r"a\.npz is not an \.npz file of plain"):
            npz_headers(path, ["x"])


def test_a_header_that_swells_takes_no_memory(tmp_path):
    length = 30_000_000
    npz(tmp_path / "a.npz", b"\x93NUMPY\x02\x00" + length.to_bytes(4, "little") + bytes(length))
    tracemalloc.start()
    try:
        with pytest.raises(InvalidParameterError, match="plain numbers"):
            npz_headers(tmp_path / "a.npz", ["x"])
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("header", [None, declared((4,))])
def test_an_archive_that_swells_takes_no_memory(tmp_path, header):
    content = npy(np.zeros(1_500_000), header)
    npz(tmp_path / "a.npz", content)
    assert (tmp_path / "a.npz").stat().st_size < 40_000
    del content
    tracemalloc.start()
    try:
        with pytest.raises(InvalidParameterError, match=r"limit; the way out|more than one array"):
            read_npz(tmp_path / "a.npz", most=1_000_000, advice="the way out")
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_texts(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("ε", encoding="utf-8")
    assert read_text(path) == "ε"
    assert read_text(path, most=2) == "ε"
    with pytest.raises(InvalidParameterError, match="more than 1 bytes"):
        read_text(path, most=1)
    path.write_bytes(b"\xff")
    with pytest.raises(InvalidParameterError, match="UTF-8"):
        read_text(path)


def test_files_that_are_none(tmp_path):
    (tmp_path / "a.npy").mkdir()
    for name, error in (
        ("a.npy", OSError),
        ("b.npy", FileNotFoundError),
        ("a\0.npy", InvalidParameterError),
    ):
        for read in (read_npy, read_npz, read_text):
            with pytest.raises(error):
                read(tmp_path / name)


def test_an_output_that_is_an_input_under_another_name(tmp_path):
    data, link = tmp_path / "data.npy", tmp_path / "link.npy"
    hard, through = tmp_path / "hard.npy", tmp_path / "folder"
    data.touch()
    link.symlink_to("data.npy")
    os.link(data, hard)
    through.symlink_to(tmp_path)
    names = (data, link, hard, through / "data.npy", tmp_path / "folder" / ".." / "data.npy")
    for name in names[:-1]:
        for source in names[:-1]:
            with pytest.raises(InvalidParameterError, match=f"{name.name} is an input"):
                check_output(name, (tmp_path / "other", source))
            with pytest.raises(InvalidParameterError, match=f"{name.name} is named for two"):
                check_output(name, outputs=(source,))
    with pytest.raises(InvalidParameterError, match="is named for two"):
        check_output(tmp_path / "new", outputs=(through / "new",))
    assert check_output(link, (tmp_path / "other",)) == data
    assert check_output(through / "new") == tmp_path / "new"


def test_links_to_nothing_and_devices(tmp_path):
    link = tmp_path / "link.npy"
    link.symlink_to("nothing.npy")
    with pytest.raises(InvalidParameterError, match="link to nothing"):
        check_output(link)
    link.unlink()
    link.symlink_to(link)
    with pytest.raises(InvalidParameterError, match="link to nothing"):
        check_output(link)
    with pytest.raises(InvalidParameterError, match="plain file"):
        check_output(type(tmp_path)(os.devnull))


@pytest.mark.parametrize("locked", ["folder", "folder/a.npy"])
def test_neither_folder_nor_file_may_be_locked(tmp_path, monkeypatch, locked):
    (tmp_path / "folder").mkdir()
    path = tmp_path / "folder" / "a.npy"
    path.touch()
    check_output(path)
    # The superuser may write everywhere.
    monkeypatch.setattr("os.access", lambda place, _: place != tmp_path / locked)
    with pytest.raises(InvalidParameterError, match="may not be written"):
        check_output(path)


def test_files_are_written_whole_and_keep_their_mode(tmp_path):
    old, new = tmp_path / "old.npy", tmp_path / "new.NPY"
    old.write_bytes(b"long before")
    old.chmod(0o640)
    os.link(old, tmp_path / "other.npy")
    write_files({old: lambda file: np.save(file, NUMBERS), new: lambda file: file.write(b"x")})
    np.testing.assert_array_equal(np.load(old), NUMBERS)
    assert new.read_bytes() == b"x"
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert (tmp_path / "other.npy").read_bytes() == b"long before"
    assert sorted(os.listdir(tmp_path)) == ["new.NPY", "old.npy", "other.npy"]


def test_if_one_cannot_be_written_none_is(tmp_path):
    old = tmp_path / "old.npy"
    old.write_bytes(b"before")

    def fails(file):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    for failing in (
        {old: lambda file: file.write(b"after"), tmp_path / "new.npy": fails},
        {old: lambda file: file.write(b"after"), tmp_path / "none" / "a": lambda file: None},
    ):
        with pytest.raises(OSError, match="No s"):
            write_files(failing)
        assert old.read_bytes() == b"before"
        assert os.listdir(tmp_path) == ["old.npy"]


def test_new_files_replace_none(tmp_path):
    there, new = tmp_path / "there", tmp_path / "new"
    there.write_bytes(b"before")
    contents = {new: lambda file: file.write(b"x"), there: lambda file: file.write(b"y")}
    with pytest.raises(FileExistsError):
        write_files(contents, new=True)
    assert there.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["there"]
    there.unlink()
    write_files(contents, new=True)
    assert (new.read_bytes(), there.read_bytes()) == (b"x", b"y")


def test_a_link_that_came_later_is_not_followed(tmp_path):
    data, output = tmp_path / "data.npy", tmp_path / "mean.npy"
    data.write_bytes(b"data")
    target = check_output(output, (data,))
    output.symlink_to(data)
    write_files({target: lambda file: file.write(b"mean")})
    assert data.read_bytes() == b"data"
    assert output.read_bytes() == b"mean"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("read", [read_npy, read_npz, read_text])
def test_what_has_no_end_is_refused(tmp_path, read):
    pipe, zero = tmp_path / "pipe.npy", tmp_path / "zero.npz"
    os.mkfifo(pipe)
    zero.symlink_to("/dev/zero")
    for path in (pipe, zero):
        with pytest.raises(InvalidParameterError, match="a pipe or a device"):
            read(path)
