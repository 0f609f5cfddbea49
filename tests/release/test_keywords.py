import inspect

import pytest

import riemdp
from riemdp.release._keywords import with_advice


@with_advice
def released(points, *, tol=0.5):
    """Return both."""
    return points, tol


def test_what_is_known_gets_through():
    assert released(1) == (1, 0.5)
    assert released(points=2, tol=3) == (2, 3)
    assert released.__doc__ == "Return both."
    assert list(inspect.signature(released).parameters) == ["points", "tol"]


@pytest.mark.parametrize(("name", "words"), [("eps", "PureDP"), ("seed", "secure"), ("X", "point")])
def test_names_of_other_libraries_are_answered(name, words):
    with pytest.raises(TypeError, match=rf"released\(\) takes no keyword '{name}'; .*{words}"):
        released(1, **{name: 1})


def test_other_names_are_named_alone():
    with pytest.raises(TypeError, match=r"released\(\) takes no keyword 'other'$"):
        released(1, other=1)


def test_what_is_missing_is_said_by_python():
    with pytest.raises(TypeError, match="points"):
        released()


def test_every_release_answers():
    names = [name for name in riemdp.__all__ if name.startswith("private_")]
    assert len(names) > 9
    for name in names:
        with pytest.raises(TypeError, match="default_rng"):
            getattr(riemdp, name)(random_state=0)
