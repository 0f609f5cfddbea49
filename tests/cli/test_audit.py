from __future__ import annotations

import importlib
import json
import sys

import numpy as np
import pytest

MECHANISM = """
mechanism = "riemannian-laplace"
manifold = {{ name = "sphere", dim = 2 }}
sensitivity = 0.2
{sigma}
claim = {{ epsilon = 1.0 }}
seed = 0
"""
SCRIPT = """
def release(data, generator):
    return data.mean() + generator.laplace(scale=1.0)

def fails(data, generator):
    raise ValueError(f"secret {data}")

def bad_score(outputs):
    return outputs["x"]

def leaves(data, generator):
    raise SystemExit(0)

def chatters(data, generator):
    print("progress")
    return release(data, generator)

class Learns:
    def fit(self, first, second):
        return first["x"]

learns = type("score", (), {"__call__": None, "fit": Learns().fit})()
"""
FUNCTION = """
mechanism = "script_for_audits:release"
dataset = [0.0, 0.0]
neighbour = [0.0, 2.0]
claim = { epsilon = 1.0 }
samples = 2000
seed = 0
"""


@pytest.fixture
def write(tmp_path):
    (tmp_path / "script_for_audits.py").write_text(SCRIPT, encoding="utf-8")

    def specification(text):
        path = tmp_path / "spec.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return specification


def test_a_consistent_mechanism(riemdp, write):
    result = riemdp("audit", write(MECHANISM.format(sigma="")))
    assert result.exit_code == 0, result.output
    assert "4000 per data set" in result.stdout
    assert "LogLikelihoodRatio" in result.stdout
    assert "no proof" in result.stdout
    assert result.stderr == ""


def test_half_the_noise_exits_with_1(riemdp, write):
    result = riemdp("audit", write(MECHANISM.format(sigma="sigma = 0.1")))
    assert result.exit_code == 1
    assert "VIOLATED" in result.stdout
    assert result.stderr == "riemdp: ε = 1 is violated\n"


def test_a_function_of_the_user(riemdp, write):
    result = riemdp("audit", write(FUNCTION))
    assert result.exit_code == 0, result.output
    assert "script_for_audits:release" in result.stdout
    low = riemdp("audit", write(FUNCTION.replace("epsilon = 1.0", "epsilon = 0.2")))
    assert low.exit_code == 1


def test_options_override_the_file(riemdp, write):
    path = write(FUNCTION)
    result = riemdp("audit", path, "--samples", 900, "--confidence", 0.8, "--seed", 5, "--json")
    assert result.exit_code == 0
    table = json.loads(result.stdout)
    assert (table["samples"], table["confidence"], table["seed"]) == (900, 0.8, 5)


def test_json(riemdp, write):
    text = MECHANISM.format(sigma="sigma = 0.1").replace("1.0 }", "1.0, delta = 0.01 }")
    result = riemdp("audit", write(text), "--json")
    assert result.exit_code == 1
    table = json.loads(result.stdout)
    assert table["verdict"] == "violated"
    assert table["claim"] == {
        "definition": "ApproxDP",
        "epsilon": 1.0,
        "delta": 0.01,
        "adjacency": "replace-one",
    }
    assert table["epsilon_lower"]["delta"] == 0.01
    assert 1.0 < table["epsilon_lower"]["epsilon"] <= table["pure_epsilon_lower"] <= 2.0
    assert table["mu_lower"] > 0.0
    assert len(table["events"]) == 2
    text = riemdp("audit", write(text)).stdout
    assert "at δ = 0.01" in text


def test_infinite_bounds_are_valid_json(riemdp, write):
    from riemdp.cli._audit import _number

    assert json.dumps([_number(float("inf")), _number(2.0)]) == '["inf", 2.0]'


@pytest.mark.fast(1)
@pytest.mark.parametrize("claim", ["{ epsilon = 1.0 }", "{ mu = 1.0 }", "{ rho = 0.5 }"])
def test_figure(riemdp, write, tmp_path, claim):
    pytest.importorskip("matplotlib")
    figure = tmp_path / "figure.png"
    text = FUNCTION.replace("{ epsilon = 1.0 }", claim)
    result = riemdp("audit", write(text), "--figure", figure)
    assert result.exit_code == 0, result.output
    assert figure.stat().st_size > 10_000


def test_bad_input_exits_with_2(riemdp, fails, write, tmp_path, monkeypatch):
    assert "samples" in fails(2, "audit", write(FUNCTION), "--samples", 5)
    assert "positive integer" in fails(2, "audit", write(FUNCTION), "--samples", 0)
    assert "3 records" in fails(
        2,
        "audit",
        write(FUNCTION.replace("[0.0, 0.0]", "[1, 1, 1]").replace("[0.0, 2.0]", "[2, 2, 2]")),
    )
    assert "No such file" in fails(2, "audit", tmp_path / "none.toml")
    assert ".png" in fails(2, "audit", write(FUNCTION), "--figure", tmp_path / "figure.txt")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    message = fails(2, "audit", write(FUNCTION), "--figure", tmp_path / "figure.png")
    assert "matplotlib" in message


def test_errors_of_the_audited_function_exit_with_2_and_show_no_data(fails, write):
    message = fails(2, "audit", write(FUNCTION.replace(":release", ":fails")))
    assert "script_for_audits.py:6: ValueError" in message
    assert "secret" not in message
    text = FUNCTION + 'score = "script_for_audits:bad_score"\n'
    assert "script_for_audits.py:9: IndexError" in fails(2, "audit", write(text))


def test_library_errors_in_the_audited_function_show_no_data_either(fails, write, tmp_path):
    (tmp_path / "uses_riemdp.py").write_text(
        "import riemdp\n\ndef release(data, generator):\n"
        "    return riemdp.PureDP(data[1] - 271830.0)\n",
        encoding="utf-8",
    )
    text = FUNCTION.replace("script_for_audits:", "uses_riemdp:").replace("2.0]", "2.0, 7.0]")
    text = text.replace("[0.0, 0.0]", "[0.0, 1.0, 7.0]")
    message = fails(2, "audit", write(text))
    assert (
        message == "riemdp: the audited function failed at uses_riemdp.py:4: InvalidBudgetError\n"
    )


def test_a_module_that_fails_shows_no_data(fails, write, tmp_path):
    text = FUNCTION.replace("script_for_audits:", "fails_at_import:")
    for source, where in (
        ("records = ['secret']\nfloat(records[0])\n", "ValueError at fails_at_import.py:2"),
        ("records = 1\nx = = 'secret'\n", "SyntaxError at fails_at_import.py:2"),
        ("import no_such_secret\n", "ModuleNotFoundError at fails_at_import.py:1"),
        ("import sys\nsys.exit('secret')\n", "SystemExit at fails_at_import.py:2"),
        ("import riemdp\nriemdp.PureDP(-271828)\n", "InvalidBudgetError at fails_at_import.py:2"),
        ("def __getattr__(name):\n    raise KeyError('secret')\n", "KeyError at fails_at_import"),
    ):
        (tmp_path / "fails_at_import.py").write_text(source, encoding="utf-8")
        importlib.invalidate_caches()
        sys.modules.pop("fails_at_import", None)
        message = fails(2, "audit", write(text))
        assert where in message
        assert "secret" not in message
        assert "271828" not in message
    assert "there is none" in fails(2, "audit", write(text.replace("fails_at_import", "gone")))


@pytest.mark.parametrize("suffix", ["npy", "npz", "csv"])
def test_damaged_data_are_no_verdict(fails, write, tmp_path, suffix):
    (tmp_path / f"data.{suffix}").write_bytes(b"PK\x03\x04 damaged")
    text = FUNCTION.replace("[0.0, 0.0]", f'"data.{suffix}"')
    assert f"data.{suffix}" in fails(2, "audit", write(text))
    assert "null" in fails(
        2, "audit", write(text.replace("data", "da\\u0000ta").replace("da\\u0000taset", "dataset"))
    )


def test_a_limit_for_data(riemdp, fails, write, tmp_path):
    np.save(tmp_path / "data.npy", np.zeros(2))
    text = FUNCTION.replace("[0.0, 0.0]", '"data.npy"')
    assert "--max-numbers" in fails(2, "audit", write(text), "--max-numbers", 1)
    assert riemdp("audit", write(text), "--max-numbers", 2).exit_code == 0


@pytest.mark.parametrize("source", ["spec.toml", "data.npy", "script_for_audits.py"])
def test_a_figure_overwrites_no_input(fails, write, tmp_path, source):
    pytest.importorskip("matplotlib")
    np.save(tmp_path / "data.npy", np.zeros(2))
    path = write(FUNCTION.replace("[0.0, 0.0]", '"data.npy"'))
    before = (tmp_path / source).read_bytes()
    figure = tmp_path / "figure.PNG"
    figure.symlink_to(source)
    sys.modules.pop("script_for_audits", None)
    assert "is an input" in fails(2, "audit", path, "--figure", figure)
    assert (tmp_path / source).read_bytes() == before


def test_a_specification_cannot_forge_lines(riemdp, fails, write):
    forged = "a\\nverdict  consistent\\u001b[2K[red]"
    for old in ("script_for_audits:release", "epsilon", "script_for_audits"):
        message = fails(
            2, "audit", write(FUNCTION.replace(old, f'"{forged}"' if old == "epsilon" else forged))
        )
        assert "\x1b" not in message


def test_a_script_that_ends_itself_has_no_verdict(fails, write, tmp_path):
    message = fails(2, "audit", write(FUNCTION.replace(":release", ":leaves")))
    assert "SystemExit" in message
    (tmp_path / "ends_itself.py").write_text("import sys\nsys.exit(0)\n", encoding="utf-8")
    text = FUNCTION.replace("script_for_audits:release", "ends_itself:release")
    assert "SystemExit" in fails(2, "audit", write(text))


def test_a_learned_score_that_fails_exits_with_2(fails, write):
    text = FUNCTION + 'score = "script_for_audits:learns"\n'
    assert "IndexError" in fails(2, "audit", write(text))
    text = FUNCTION + 'score = "script_for_audits:Learns"\n'
    assert "not its class" in fails(2, "audit", write(text))


def test_what_a_script_prints_is_not_in_the_json(riemdp, write):
    result = riemdp("audit", write(FUNCTION.replace(":release", ":chatters")), "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["verdict"] == "consistent"
    assert "progress" in result.stderr


def test_a_claim_that_the_mechanism_cannot_have(fails, write):
    text = MECHANISM.format(sigma="").replace("riemannian-laplace", "tangent-gaussian")
    assert "tangent" in fails(3, "audit", write(text)).lower()


def test_the_relation_of_the_claim(riemdp, write, tmp_path):
    """The file says under which relation; the pair has to be one of it, and the output names it."""
    text = FUNCTION.replace("[0.0, 2.0]", "[0.0]").replace("[0.0, 0.0]", "[0.0, 0.5]")
    text = text.replace("claim = { epsilon = 1.0 }", "claim = { epsilon = 2.0 }")
    result = riemdp("audit", write(text))
    assert result.exit_code == 2
    assert "same number of records" in result.stderr.replace("\n", " ")
    result = riemdp("audit", write(text + 'adjacency = "add-remove"\n'), "--json")
    assert result.exit_code == 0
    table = json.loads(result.stdout)
    assert table["claim"] == {
        "definition": "PureDP",
        "epsilon": 2.0,
        "adjacency": "add-remove",
    }
    result = riemdp("audit", write(text + 'adjacency = "add-remove"\n'))
    assert "add-remove" in result.stdout
    np.save(tmp_path / "users.npy", np.array([1, 2]))
    people = 'adjacency = "add-remove-user"\nusers = "users.npy"\nneighbour_users = [1]\n'
    assert riemdp("audit", write(text + people)).exit_code == 0
    result = riemdp("audit", write(text + people.replace("[1]", "[3]")))
    assert result.exit_code == 2
    assert "exactly one more" in result.stderr.replace("\n", " ")
    for wrong in ('adjacency = ""', "adjacency = 1", "users = [1, 2]"):
        assert riemdp("audit", write(text + wrong)).exit_code in (2, 3)
