"""Rows of a Zarr array, and chunks of it that are not there."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import (
    GDP,
    Accountant,
    Ball,
    Euclidean,
    InvalidParameterError,
    Records,
    ReleaseFailedError,
    private_mean,
)
from riemdp.release import chunks_of

zarr = pytest.importorskip("zarr")

PLANE = Ball(Euclidean(2), [0.0, 0.0], 1.0)
ROWS = 0.8 * np.random.default_rng(0).normal(size=(40, 2))


@pytest.mark.parametrize("number", [0.0, 0.25, np.nan])
@pytest.mark.parametrize("chunks", [(7, 2), (7, 1), (1000, 2)])
def test_chunks_of_a_zarr_array_that_nobody_wrote_are_no_records(tmp_path, number, chunks):
    rows = np.tile(ROWS, (3, 1))[:119]
    array = zarr.create_array(
        str(tmp_path / "a.zarr"), shape=rows.shape, chunks=chunks, dtype="f8", fill_value=number
    )
    array[...] = rows
    rows[3], rows[:, 1] = number, np.where(np.arange(len(rows)) % 2, number, rows[:, 1])
    if not np.isnan(number):  # control: the number itself is one like others, here and there
        array[...] = rows
        for points in (array, chunks_of(array, rows=5)):
            found, whole = (
                private_mean(given, PLANE, GDP(1.0), generator=np.random.default_rng(1))
                for given in (points, rows)
            )
            np.testing.assert_array_equal(found.value, whole.value)
    stored = sorted(path for path in (tmp_path / "a.zarr" / "c").rglob("*") if path.is_file())
    stored[len(stored) // 2].unlink()
    lost = zarr.open_array(str(tmp_path / "a.zarr"), mode="r")
    for points in (lost, chunks_of(lost, rows=5), chunks_of(lost, rows=70)):
        with pytest.raises(InvalidParameterError, match="nobody wrote"):
            private_mean(points, PLANE, GDP(1.0))
    account = Accountant(GDP(1.0))
    with pytest.raises(ReleaseFailedError):
        private_mean(lost, PLANE, GDP(1.0), accountant=account)
    assert account.spent == GDP(1.0)
    people = Records(lost, users=np.arange(len(rows)))
    for given, n in ((people, None), (lambda: lost, len(rows)), (lambda: Records(lost), len(rows))):
        with pytest.raises(InvalidParameterError, match="nobody wrote"):
            private_mean(given, PLANE, GDP(1.0), n=n)
