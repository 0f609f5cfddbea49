"""Small files that would take gigabytes, or minutes: refused by what they declare."""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

nibabel = pytest.importorskip("nibabel")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
zarr = pytest.importorskip("zarr", minversion="3")

if not Path("/proc/self/status").exists():
    pytest.skip("peak memory is read from /proc", allow_module_level=True)

ROWS = 2**20
#: Reads what it is told, and prints what that took; libraries are loaded before.
PROGRAM = """
import json, sys, time
import nibabel, numcodecs, pyarrow.parquet, zarr
import riemdp
from riemdp.io import read_records

def peak():
    # not getrusage, which counts what the parent had before
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))

folder, start, found = sys.argv[1], peak(), {}
for name, read in {
    "a.npz": lambda path: read_records(path, unit="person"),
    "texts.parquet": lambda path: len(set(read_records(path, ["x"], users="who").users)),
    "lists.parquet": lambda path: read_records(path, ["x"], unit="person"),
    "a.zarr": lambda path: read_records(path, unit="person"),
    "a.nii.gz": lambda path: read_records(path, unit="person"),
    "release.json": lambda path: riemdp.Release.load(path),
}.items():
    began = time.process_time()
    try:
        said = str(read(f"{folder}/{name}"))
    except riemdp.RiemdpError as error:
        said = f"{type(error).__name__}: {error}"
    found[name] = said, time.process_time() - began, peak() - start
print(json.dumps(found))
"""


def npz(path):
    """Write billions of records without a number."""
    np.savez_compressed(path, x=np.empty((3 * 10**9, 0)))


def texts(path):
    """Write one long text, a million times."""
    who = pyarrow.DictionaryArray.from_arrays(
        pyarrow.array(np.zeros(ROWS, np.int32)), pyarrow.array(["x" * 3600])
    )
    table = pyarrow.table({"x": np.zeros(ROWS), "who": who})
    parquet.write_table(table, path, compression="zstd", store_schema=False, write_statistics=False)


def lists(path):
    """Write a thousand lists of many zeros."""
    zeros = pyarrow.array(np.zeros(2**25, np.float32))
    starts = pyarrow.array(np.arange(0, 2**25 + 1, 2**15, dtype=np.int32))
    table = pyarrow.table({"x": pyarrow.ListArray.from_arrays(starts, zeros)})
    parquet.write_table(table, path, compression="zstd")


def chunk(path):
    """Write an array of which a chunk is two gigabytes, and declares to be 16 kB."""
    options = {"compressors": zarr.codecs.GzipCodec(), "chunks": (1000, 2), "dtype": "f8"}
    zarr.create_array(str(path), shape=(1000, 2), **options)[...] = 1.0
    (path / "c" / "0" / "0").write_bytes(ZEROS * 128)


def image(path):
    """Write an image whose voxels start after two gigabytes."""
    header = nibabel.Nifti1Image(np.ones((4, 4, 4), np.float32), np.eye(4)).header
    header["vox_offset"] = 2**31
    path.write_bytes(gzip.compress(header.binaryblock + bytes(4), mtime=0) + ZEROS * 129)


def document(path):
    """Write a certificate whose arrays hold millions of empty lists."""
    arrays = path.with_suffix(".npz")
    np.savez_compressed(arrays, value=np.empty((3 * 10**7, 0)))
    declared = {"value": {"shape": [3 * 10**7, 0], "type": "<f8"}}
    digest = hashlib.sha256(arrays.read_bytes()).hexdigest()
    container = {"file": arrays.name, "sha256": digest, "arrays": declared}
    certificate = {"format": "riemdp-certificate/2", "digest": "0" * 64, "container": container}
    path.write_text(json.dumps(certificate | {"release": {"value": None}}))


ZEROS = gzip.compress(bytes(2**24), mtime=0)
FILES = {
    "a.npz": npz,
    "texts.parquet": texts,
    "lists.parquet": lists,
    "a.zarr": chunk,
    "a.nii.gz": image,
    "release.json": document,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("hostile")
    for name, write in FILES.items():
        write(found / name)
    return found


@pytest.fixture(scope="module")
def found(folder):
    program = [sys.executable, "-c", PROGRAM, str(folder)]
    done = subprocess.run(program, capture_output=True, text=True, check=True, timeout=300)
    return json.loads(done.stdout)


def test_the_files_are_small(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert max(path.stat().st_size for path in files) < 2.5e6
    assert sum(path.stat().st_size < 3e4 for path in files) >= 5


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a.npz", "InvalidParameterError: a.npz holds more than 16777216 numbers"),
        ("texts.parquet", "1"),  # which is in memory once
        ("lists.parquet", "InvalidParameterError: lists.parquet holds more than 16777216"),
        ("a.zarr", "InvalidParameterError: a.zarr has a chunk that is larger than"),
        ("a.nii.gz", "InvalidParameterError: the numbers of a.nii.gz must start at a byte from"),
        ("release.json", "ContainerError: release.npz holds more than 16777216 numbers"),
    ],
)
def test_what_they_take(found, name, said):
    text, seconds, peak = found[name]
    assert text.startswith(said)
    assert seconds < 5.0
    assert peak < 300.0  # MiB, of all before it too
