import pytest

from riemdp import _errors as errors
from riemdp.mechanisms import RiemannianGaussian, TangentLaplace
from riemdp.mechanisms._calibration import Proved
from riemdp.privacy import GDP, KLDP, ApproxDP, PureDP, RaoDP
from riemdp.research import GeneralizedGaussian
from riemdp.spaces import Euclidean, Sphere


def test_a_definition_sees_the_curve_and_the_rao_distances_of_the_mechanism():
    mechanism = TangentLaplace(Euclidean(3), 0.5)
    proved, curve = Proved(mechanism, 0.2), mechanism.privacy(0.2)
    assert proved.delta_at(0.1) == curve.delta_at(0.1)
    assert proved.epsilon_at(1e-3) == curve.epsilon_at(1e-3)
    assert proved.mu_bracket() == curve.mu_bracket() == (curve.mu_bracket()[0], proved.mu())
    assert proved.pure_epsilon() == curve.pure_epsilon()
    assert proved.zcdp_rho() == curve.zcdp_rho()
    assert proved._guarantees() == curve._guarantees()
    for distance in ("angle", "parametric"):
        assert proved.rao(distance) == mechanism.rao(0.2, distance)
    # the angle of the law itself, less than what the curve implies
    assert proved.rao("angle").theta < curve.rao("angle").theta
    with pytest.raises(errors.InvalidParameterError, match="distance"):
        proved.rao("length")


def test_no_curve_is_asked_for_before_it_is_needed():
    mechanism = GeneralizedGaussian(0.5, 1.5, dim=2)  # has no curve
    angle = mechanism.rao(0.1, "angle")
    assert mechanism.satisfies(0.1, angle)
    assert not mechanism.satisfies(0.1, RaoDP(0.9 * angle.theta, distance="angle"))
    with pytest.raises(errors.UnsupportedError, match="no privacy curve"):
        mechanism.satisfies(0.1, GDP(1.0))


@pytest.mark.parametrize("budget", [PureDP(9.0), GDP(1.0), ApproxDP(1.0, 1e-2), KLDP(0.5)])
def test_definitions_of_the_curve(budget):
    mechanism = RiemannianGaussian(Sphere(2), 0.5)
    for sensitivity in (0.01, 0.4, 1.5):
        expected = mechanism.privacy(sensitivity).satisfies(budget)
        assert mechanism.satisfies(sensitivity, budget) is expected
