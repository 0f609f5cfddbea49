import pytest

from riemdp import Euclidean, InvalidParameterError
from riemdp.mechanisms import Choice, TangentGaussian
from riemdp.privacy import GDP
from riemdp.release import named
from riemdp.research import GeneralizedGaussian


def test_a_choice_is_a_class_with_options():
    choice = GeneralizedGaussian.with_options(power=1.5)
    assert choice == Choice(GeneralizedGaussian, (("power", 1.5),))
    assert (choice.name, choice.metric) == ("generalized-gaussian", "distance")
    assert str(choice) == "generalized-gaussian:power=1.5"
    assert str(Choice(TangentGaussian)) == "tangent-gaussian"
    assert named("tangent-gaussian") is TangentGaussian


def test_a_choice_is_calibrated_as_its_class_with_its_options():
    choice = GeneralizedGaussian.with_options(power=1.5)
    found = choice.calibrate_on(Euclidean(1), 0.3, GDP(1.0), **dict(choice.options))
    assert found == GeneralizedGaussian.calibrate(0.3, GDP(1.0), power=1.5)
    assert found != GeneralizedGaussian.calibrate(0.3, GDP(1.0), power=1.6)


@pytest.mark.parametrize("option", ["sigma", "dim", "colour"])
def test_what_is_no_choice_is_refused(option):
    with pytest.raises(InvalidParameterError, match=f"no choice '{option}'; known: power"):
        Choice(GeneralizedGaussian, ((option, 1.0),))
