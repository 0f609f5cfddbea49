"""What goes to a worker and comes back can be pickled, and shows nothing."""

import pickle

import numpy as np

from riemdp.workers._work import Done, Work, setting


def test_every_part_is_worked_on_in_its_order():
    done = Work(abs)((-1, 2, -3))
    assert done.found == (1, 2, 3)
    assert done.setting == setting()
    assert pickle.loads(pickle.dumps(done)) == done
    assert pickle.loads(pickle.dumps(Work(abs)))((-1,)) == Work(abs)((-1,))


def test_neither_shows_what_it_holds():
    shown = repr([Work("a secret"), Done(("a secret",), {"numpy": "a secret"})])
    assert "secret" not in shown
    assert "Done" in shown


def test_the_setting_names_what_decides_about_bits(monkeypatch):
    found = setting()
    assert found["numpy"] == np.__version__
    assert set(found) == {"riemdp", "numpy", "scipy", "processor", "OPENBLAS_CORETYPE"}
    assert all(type(each) is str and each for each in found.values())
    setting.cache_clear()
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Nehalem")
    other = setting()
    setting.cache_clear()
    assert other["OPENBLAS_CORETYPE"] == "Nehalem"
