from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from riemdp.privacy._rounding import half_square_up, quotient_up

positive = st.floats(min_value=1e-100, max_value=1e100)


@given(positive, positive)
def test_quotient_is_never_under_the_exact_one(numerator, denominator):
    result = quotient_up(numerator, denominator)
    exact = Fraction(numerator) / Fraction(denominator)
    assert exact <= Fraction(result) <= exact * (1 + Fraction(1, 2**51))


@given(positive)
def test_half_square_is_never_under_the_exact_one(value):
    result = half_square_up(value)
    exact = Fraction(value) ** 2 / 2
    assert exact <= Fraction(result) <= exact * (1 + Fraction(1, 2**51))


def test_exact_results_stay_as_they_are():
    assert quotient_up(1.0, 4.0) == 0.25
    assert half_square_up(3.0) == 4.5


def test_plain_division_is_not_enough():
    assert quotient_up(1.0, 10.0) == 0.1  # the float 0.1 lies above one tenth
    assert quotient_up(1.0, 3.0) > 1.0 / 3.0  # the float 1/3 lies under one third
