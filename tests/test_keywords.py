import inspect

import pytest

import riemdp
from riemdp._keywords import with_advice


@with_advice
def released(points, ball=None, budget=None, *, generator=None, tol=0.5):
    """Return both."""
    return points, tol


@with_advice
def handed_on(points, **options):
    return released(points, **options)


class Model:
    @with_advice
    def __init__(self, budget, random_state=None):
        self.budget = budget


def test_what_is_known_gets_through():
    assert released(1) == (1, 0.5)
    assert released(points=2, tol=3) == (2, 3)
    assert released.__doc__ == "Return both."
    assert list(inspect.signature(released).parameters)[::4] == ["points", "tol"]
    assert Model(budget=3).budget == 3


@pytest.mark.parametrize(("name", "words"), [("eps", "PureDP"), ("seed", "secure"), ("X", "point")])
def test_names_of_other_libraries_are_answered(name, words):
    for function in (released, handed_on):
        with pytest.raises(TypeError, match=rf"released\(\) takes no keyword '{name}'; .*{words}"):
            function(1, **{name: 1})


def test_a_constructor_goes_by_the_name_of_its_class():
    with pytest.raises(TypeError, match=r"^Model\(\) takes no keyword 'seed'; .* random_state"):
        Model(1, seed=2)


def test_what_is_nearly_right_is_put_right():
    with pytest.raises(TypeError, match="'generater'; did you mean generator"):
        released(1, generater=1)
    with pytest.raises(TypeError, match=r"'sel'$"):  # never self
        Model(1, sel=1)


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


#: A keyword of another library, and what is said of it.
ELSEWHERE = {
    "plan": ("epsilon", "the budget is an object"),
    "plan_grid": ("seed", "nothing is drawn"),
    "advise_ball": ("center", "what is advised"),
    "audit": ("epsilon", "the claim is an object"),
    "combine": ("seed", "nothing is drawn"),
    "verify": ("verbose", "riemdp.progress"),
    "frechet_mean": ("X", "called points"),
    "tangent_mean": ("manifold", r"riemdp.Ball\("),
    "two_sample_test": ("rng", "nothing is drawn"),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_other_functions_answer_too(name):
    keyword, words = ELSEWHERE[name]
    arguments = (riemdp.Sphere(2), 0.7, [9], [riemdp.GDP(1.0)]) if name == "plan_grid" else ()
    with pytest.raises(TypeError, match=rf"takes no keyword '{keyword}'; .*{words}"):
        getattr(riemdp, name)(*arguments, **{keyword: 0})


def test_a_function_that_was_forgotten_would_be_seen():
    with pytest.raises(TypeError) as said:
        riemdp.compose(epsilon=1.0)
    assert "takes no keyword" not in str(said.value)


def test_estimators_answer_and_keep_their_parameters():
    estimators = pytest.importorskip("riemdp.estimators")
    names = [name for name in estimators.__all__ if name.startswith("Private")]
    assert len(names) >= 7
    for name in names:
        kind = getattr(estimators, name)
        with pytest.raises(TypeError, match=rf"^{name}\(\) takes no keyword 'epsilon'; .*PureDP"):
            kind(epsilon=1.0)
        assert {"ball", "budget"} <= set(inspect.signature(kind).parameters)
        assert {"ball", "random_state"} <= set(kind._get_param_names())
