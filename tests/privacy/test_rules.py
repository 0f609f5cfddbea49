import pytest

from riemdp import _errors as errors
from riemdp.privacy import GDP, RDP, Budget, PureDP, _rules
from riemdp.privacy._rules import Options, composition, conversion


class Loud(Budget):
    leaves_open = "it is only loud"

    def delta_at(self, epsilon):
        return 1.0 + 0.0 * epsilon

    def epsilon_at(self, delta):
        return 1.0 / (0.0 * delta)


@pytest.fixture
def tables(monkeypatch):
    for name in ("_conversions", "_compositions", "_lossless"):
        monkeypatch.setattr(_rules, name, getattr(_rules, name).copy())


def test_a_definition_fills_the_tables_in_both_directions(tables):
    loud = Loud()
    with pytest.raises(errors.NoConversionError, match=r"no GDP guarantee: it is only loud"):
        _rules.implied(loud, GDP, Options())
    with pytest.raises(errors.NoConversionError, match="no Loud guarantee"):
        _rules.implied(GDP(1.0), Loud, Options())
    assert _rules.implied(loud, Loud, Options()) is loud
    conversion(Loud, GDP)(lambda guarantee, options: GDP(options.order))
    conversion(GDP, Loud)(lambda guarantee, options: loud)
    assert _rules.implied(loud, GDP, Options(order=2.0)) == GDP(2.0)
    assert _rules.implied(GDP(1.0), Loud, Options()) is loud


def test_rules_are_not_inherited(tables):
    class Louder(Loud):
        pass

    conversion(Loud, GDP)(lambda guarantee, options: GDP(1.0))
    composition(Loud, lossless=True)(lambda parts: parts[0])
    with pytest.raises(errors.NoConversionError, match="no GDP guarantee"):
        _rules.implied(Louder(), GDP, Options())
    assert _rules.composes(Loud)
    assert not _rules.composes(Louder)


def test_compositions():
    assert _rules.composes(PureDP)
    assert not _rules.composes(PureDP, lossless=True)
    assert _rules.composes(RDP, lossless=True)
    assert not _rules.composes(Loud)
    assert _rules.together(PureDP, [PureDP(1.0), PureDP(2.0)]) == PureDP(3.0)
