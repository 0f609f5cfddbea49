from __future__ import annotations

import logging
import os

import pytest

from riemdp import InvalidParameterError
from riemdp.cli._accounts import account_of, details_in, files_of, ledger_of


def test_what_should_be_charged_never_goes_uncharged(tmp_path):
    assert account_of(None, None, None, None) is None
    for url, dataset, unit in (
        (str(tmp_path / "a.db"), None, None),
        (None, "study", None),
        (None, None, "person"),
    ):
        with pytest.raises(InvalidParameterError, match="ledger"):
            account_of(url, None, dataset, unit)


def test_a_ledger_has_to_be_named():
    for url in (None, ""):
        with pytest.raises(InvalidParameterError, match="RIEMDP_LEDGER"):
            ledger_of(url, None)


def test_files_of_a_ledger_are_known_by_every_name_of_it(tmp_path):
    key = tmp_path / "key"
    for name in (str(tmp_path / "a.db"), f"sqlite:///{tmp_path / 'a.db'}"):
        for end in ("", "-journal", "-wal"):
            assert tmp_path / f"a.db{end}" in files_of(name, None)
        assert files_of(name, key)[-1] == key
    assert files_of("postgresql://host/db", key) == files_of(None, key) == (key,)


@pytest.mark.skipif(os.name != "posix", reason="modes and links are of POSIX")
def test_details_are_added_to_a_file_of_one_reader(tmp_path):
    logger, path = logging.getLogger("riemdp.data_holder"), tmp_path / "details"
    for word in ("one", "two"):
        with details_in(path):
            logger.error(word)
    logger.error("three")
    assert [line.split()[-1] for line in path.read_text().splitlines()] == ["one", "two"]
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    with pytest.raises(InvalidParameterError, match="chmod 600"), details_in(path):
        pass
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="link"), details_in(tmp_path / "link"):
        pass
    assert not (tmp_path / "elsewhere").exists()
    with details_in(None):
        logger.error("four")
    assert "four" not in path.read_text()
