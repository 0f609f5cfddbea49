import sys

import numpy as np
import pytest

import riemdp
from riemdp import InvalidParameterError, UnsupportedError, _plots

figure = pytest.importorskip("matplotlib.figure")


@pytest.fixture
def ax():
    return figure.Figure().add_subplot()


def test_axes_that_are_given_are_drawn_on(ax):
    assert _plots.axes(ax) is ax


@pytest.mark.parametrize(
    "wrong", [figure.Figure(), np.zeros(2), "ax"], ids=["figure", "array", "s"]
)
def test_what_are_no_axes_is_refused(wrong):
    with pytest.raises(InvalidParameterError, match="ax must be one matplotlib Axes"):
        _plots.axes(wrong)


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    with pytest.raises(UnsupportedError, match=r"pip install 'riemdp\[plot\]'"):
        _plots.axes()


def test_new_axes_are_made_and_never_shown(monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr(plt, "show", lambda: pytest.fail("shown"))
    before = plt.get_fignums()
    made = riemdp.plan(riemdp.Euclidean(2), 1.0, 100, riemdp.GDP(1.0)).plot()
    assert len(plt.get_fignums()) == len(before) + 1
    plt.close(made.figure)


def test_titles_are_broken_and_are_no_formulas(ax):
    _plots.titled(ax, "word " * 40, "", "a $\\frac$ b")
    lines = ax.get_title().splitlines()
    widest = max(map(len, lines))
    assert 40 < widest <= 75
    assert lines[-1] == "a \\$\\frac\\$ b"
    assert "" not in lines
    ax.figure.draw_without_rendering()  # a formula like that would raise


def test_titles_fit_their_axes():
    narrow = figure.Figure(figsize=(3.0, 3.0)).add_subplot()
    _plots.titled(narrow, "word " * 40)
    assert max(map(len, narrow.get_title().splitlines())) <= 36


def test_logarithmic_axes_have_plain_numbers(ax):
    ax.set(yscale="log", ylim=(0.01, 1.0))
    _plots.plain_numbers(ax.yaxis)
    _plots.second_axis(ax, riemdp.Sphere(2).unit(1.0), along="y")
    ax.figure.draw_without_rendering()
    for axis in (ax.yaxis, ax.child_axes[0].yaxis):
        said = [label.get_text() for label in axis.get_ticklabels() if label.get_text()]
        assert {"0.05", "5"} & set(said)
        assert [f"{float(text):g}" for text in said] == said


@pytest.mark.parametrize("along", ["x", "y"])
def test_a_second_axis_is_in_the_users_unit(ax, along):
    _plots.second_axis(ax, None, along=along)
    assert not ax.child_axes
    _plots.second_axis(ax, riemdp.Sphere(2).unit(1.0), along=along)
    ax.set(xlim=(0.0, np.pi), ylim=(0.0, np.pi))
    ax.figure.draw_without_rendering()
    (second,) = ax.child_axes
    limits = second.get_xlim() if along == "x" else second.get_ylim()
    assert limits == pytest.approx((0.0, 180.0))
    assert "degrees" in (second.get_xlabel(), second.get_ylabel())


def test_colours_differ():
    assert len(set(_plots.COLOURS)) == len(_plots.COLOURS) == len(_plots.MARKERS)
