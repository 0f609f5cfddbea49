import os
from pathlib import Path

import pytest

from riemdp import LedgerUnavailableError, NetworkFileSystemError, PureDP
from riemdp.ledger import Ledger, _file_systems
from riemdp.ledger._file_systems import check_local

MOUNTS = """\
/dev/vda / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
/dev/vdb /home/local xfs rw 0 0
//server/share /mnt/my\\040share cifs rw 0 0
sshfs#host: /mnt/far fuse.sshfs rw 0 0
/dev/sda1 /mnt/stick fuseblk rw 0 0
drive /mnt/c 9p rw 0 0
/dev/vdc /over ext4 rw 0 0
host:/x /over lustre rw 0 0
tmpfs /tmp tmpfs rw 0 0
"""


pytestmark = pytest.mark.skipif(os.name == "nt", reason="paths of other systems")


@pytest.fixture
def mounts(tmp_path, monkeypatch):
    place = tmp_path / "mounts"
    place.write_text(MOUNTS)
    monkeypatch.setattr(_file_systems, "_MOUNTS", place)
    return place


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/data/x.db", None),
        ("/home/me/x.db", "nfs4"),
        ("/home/local/x.db", None),
        ("/homely/x.db", None),
        ("/mnt/my share/a/x.db", "cifs"),
        ("/mnt/far/x.db", "fuse.sshfs"),
        ("/mnt/stick/x.db", None),
        ("/mnt/c/x.db", "9p"),
        ("/over/x.db", "lustre"),
        ("/tmp/x.db", None),
    ],
    ids=str,
)
@pytest.mark.fast(10)
def test_network_file_systems_are_refused(mounts, path, kind):
    if kind is None:
        check_local(Path(path))
    else:
        with pytest.raises(NetworkFileSystemError, match=f"x.db lies on a {kind} file system"):
            check_local(Path(path))


def test_links_are_followed(mounts, tmp_path):
    (tmp_path / "link").symlink_to("/home/me")
    with pytest.raises(NetworkFileSystemError, match="use PostgreSQL"):
        check_local(tmp_path / "link" / "x.db")


def test_nothing_is_made_there_and_nothing_is_charged(tmp_path, mounts):
    ledger = Ledger(tmp_path / "x.db")
    account = ledger.register("study", PureDP(1.0), unit="person", adjacency="replace-one")
    mounts.write_text(f"host:/x {tmp_path} nfs rw 0 0\n")
    with pytest.raises(NetworkFileSystemError):
        account.spend(PureDP(0.5), "x")
    with pytest.raises(NetworkFileSystemError):
        Ledger(tmp_path / "y.db").register("s", PureDP(1.0), unit="u", adjacency="replace-one")
    assert not (tmp_path / "y.db").exists()
    mounts.unlink()  # where nothing is known, nothing is refused
    assert account.spent is None


def test_a_file_with_two_names_is_refused(tmp_path):
    """Under the other name nobody would see the journal that a killed process left over."""
    (tmp_path / "other").mkdir()
    ledger = Ledger(tmp_path / "x.db")
    account = ledger.register("study", PureDP(1.0), unit="person", adjacency="replace-one")
    (tmp_path / "symbolic.db").symlink_to(tmp_path / "x.db")
    assert Ledger(tmp_path / "symbolic.db").account("study").spend(PureDP(0.25), "x").seq == 1
    other = tmp_path / "other" / "y.db"
    os.link(tmp_path / "x.db", other)
    for refused in (lambda: account.spend(PureDP(0.25), "y"), Ledger(other).datasets):
        with pytest.raises(LedgerUnavailableError, match="2 names"):
            refused()
    other.unlink()
    assert account.spend(PureDP(0.25), "z").seq == 2


def test_a_file_that_is_mounted_by_itself_is_refused(mounts, tmp_path):
    ledger = Ledger(tmp_path / "x.db")
    ledger.upgrade()
    mounts.write_text(f"{MOUNTS}/dev/vda {tmp_path} ext4 rw 0 0\n")
    assert ledger.datasets() == ()
    mounts.write_text(f"{MOUNTS}/dev/vda {tmp_path / 'x.db'} ext4 rw 0 0\n")
    with pytest.raises(LedgerUnavailableError, match="mounted by itself"):
        ledger.datasets()
