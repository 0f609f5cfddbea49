import pytest

from riemdp import InvalidParameterError, _document


def test_json_is_read_as_it_is():
    assert _document.load('{"a": [1, 0.1, true, null, "x"]}') == {"a": [1, 0.1, True, None, "x"]}
    assert isinstance(_document.load("1"), int)


@pytest.mark.parametrize(
    "text",
    ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "a": 2}}]', "NaN", "[Infinity]", "-Infinity", "1e999"],
)
def test_ambiguous_json_is_refused(text):
    with pytest.raises(InvalidParameterError):
        _document.load(text)


def test_keys_are_exact():
    assert _document.fields({"a": 1}, {"a"}, {"b"}) == {"a": 1}
    assert _document.fields({"a": 1, "b": 2}, {"a"}, {"b"}) == {"a": 1, "b": 2}
    with pytest.raises(InvalidParameterError, match="missing: a"):
        _document.fields({"b": 2}, {"a"}, {"b"})
    with pytest.raises(InvalidParameterError, match="unknown: 'c'"):
        _document.fields({"a": 1, "c": 2}, {"a"}, {"b"})
    for other in ([], None, "a", 3):
        with pytest.raises(InvalidParameterError, match="object"):
            _document.fields(other, set())


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (_document.number, [1, 0.5, -2.0], [True, "1", None, [1], {}]),
        (_document.text, ["", "x"], [1, None, True, ["x"]]),
        (_document.flag, [True, False], [1, 0, "true", None, []]),
        (
            _document.numbers,
            [[], [[]], [1, 2.5], [[1.0], [2]], [[1], [[2.0]]]],
            [
                1.0,
                "x",
                [True],
                [["1"]],
                [None],
                {},
                [[1.0], [True]],
                [1.0, [None]],
                [[[1]], [["x"]]],
            ],
        ),
    ],
)
def test_types_are_exact(check, good, bad):
    for value in good:
        assert check(value, "field") is value
    for value in bad:
        with pytest.raises(InvalidParameterError, match="field must be"):
            check(value, "field")


def test_the_canonical_text_is_one():
    text = '{"a":[0.1,1e-07,-0.0,12345678901234567890],"b":{"z":true,"é":null}}'
    document = {"b": {"é": None, "z": True}, "a": [0.1, 1e-7, -0.0, 12345678901234567890]}
    assert _document.canonical(document) == text.encode()
    assert _document.digest(document) == _document.digest(_document.load(text))
    assert _document.digest({"a": 1}) != _document.digest({"a": 1.0})
    for wrong in (float("nan"), float("inf"), "\ud800"):
        with pytest.raises(ValueError):  # noqa: PT011
            _document.canonical({"a": wrong})


def test_a_key_twice_is_refused_at_every_level():
    text = '{"a": {"b": [{"c": 1}]}}'
    assert _document.load(text)
    for key, value in (("a", "{}"), ("b", "[]"), ("c", "2")):
        with pytest.raises(InvalidParameterError, match="twice"):
            _document.load(text.replace(f'"{key}":', f'"{key}": {value}, "{key}":'))
