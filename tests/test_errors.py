import inspect

import pytest

import riemdp
from riemdp import _errors

ERRORS = [kind for _, kind in inspect.getmembers(_errors, inspect.isclass)]
ERRORS.remove(riemdp.PublicWarning)


@pytest.mark.parametrize("kind", ERRORS)
def test_every_error_is_public_under_one_base(kind):
    assert issubclass(kind, _errors.RiemdpError)
    assert getattr(riemdp, kind.__name__) is kind


@pytest.mark.parametrize("kind", [_errors.NotOnManifoldError, _errors.InvalidParameterError])
def test_errors_about_values_are_value_errors(kind):
    with pytest.raises(ValueError, match="row 3"):
        raise kind("row 3")
