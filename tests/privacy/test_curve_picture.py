import numpy as np
import pytest
from scipy.special import ndtr

import riemdp
from riemdp.privacy import GaussianCurve, PureCurve

figure = pytest.importorskip("matplotlib.figure")


def drawn(curve):
    ax = curve.plot(figure.Figure().add_subplot())
    return ax, {line.get_label(): np.array(line.get_data()) for line in ax.lines}


def test_a_gaussian_curve_is_that_of_the_formula():
    ax, lines = drawn(GaussianCurve(1.5))
    epsilon, delta = lines["proved, rounded up"]
    exact = ndtr(0.75 - epsilon / 1.5) - np.exp(epsilon) * ndtr(-0.75 - epsilon / 1.5)
    np.testing.assert_allclose(delta, exact, rtol=1e-6, atol=1e-12)
    assert not np.allclose(delta, exact[::-1])
    assert delta[-1] < 1e-9
    marked = [line for name, line in lines.items() if " at delta " in name]
    assert [float(delta[0]) for _, delta in marked] == [1e-3, 1e-6, 1e-9]
    for epsilon, delta in marked:
        assert GaussianCurve(1.5).delta_at(epsilon[0]) <= delta[0]
    assert ax.get_yscale() == "log"


def test_a_pure_curve_ends_at_its_epsilon():
    _, lines = drawn(PureCurve(0.5))
    assert lines["delta 0 from epsilon 0.5 on"][0].tolist() == [0.5, 0.5]
    epsilon, delta = lines["proved, rounded up"]
    assert np.isnan(delta[epsilon >= 0.5]).all()
    assert np.isfinite(delta[epsilon < 0.5 - 1e-6]).all()


class Long(GaussianCurve):
    def __repr__(self):
        return "Long(" + "1, " * 200 + ")"


def test_a_curve_of_many_parts_has_a_short_title():
    ax, _ = drawn(Long(1.0))
    assert ax.get_title() == "Long"


@pytest.mark.slow
def test_compositions_can_be_drawn():
    both = riemdp.compose([riemdp.GDP(1.0), riemdp.PureDP(0.5)])
    _, lines = drawn(both)
    epsilon, delta = lines["proved, rounded up"]
    np.testing.assert_array_equal(delta[::20], both.delta_at(epsilon[::20]))


def test_a_curve_about_a_relation_can_be_drawn():
    ax, _ = drawn(GaussianCurve(1.0).under("add-remove"))
    assert "add-remove" in ax.get_title()
