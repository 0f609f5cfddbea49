from __future__ import annotations

import re

import pytest

import riemdp as library

SPHERE = ("plan", "--manifold", "sphere", "--dim", 2, "--radius", 0.5, "--n", 1000)


def row(text, mechanism):
    return re.search(rf"^ *{mechanism} +(.*)$", text, flags=re.MULTILINE)[1].split()


def test_shows_the_plan_of_the_library(riemdp):
    result = riemdp(*SPHERE, "--epsilon", 1, "--delta", 1e-6)
    assert result.exit_code == 0
    assert result.stderr == ""
    expected = library.plan(library.Sphere(2), 0.5, 1000, library.ApproxDP(1.0, 1e-6))
    for name in ("riemannian-laplace", "tangent-gaussian", "tangent-laplace"):
        found = expected[name]
        numbers = (found.sensitivity, found.sigma, found.expected_distance, found.quantile_95)
        assert row(result.stdout, name) == [
            found.summary,
            *(f"{x:.6g}" for x in numbers),
        ]
    assert f"auto takes {expected.best.mechanism}" in result.stdout


def test_says_why_a_mechanism_is_missing(riemdp):
    result = riemdp(*SPHERE, "--epsilon", 1)
    assert "not listed: ConformalLaplace" in result.stdout
    assert row(result.stdout, "tangent-gaussian") == ["tangent-mean", "-", "-", "-", "-"]
    assert re.search("^tangent-gaussian: .*pure epsilon", result.stdout, flags=re.MULTILINE)


def test_target_error(riemdp):
    result = riemdp(*SPHERE, "--epsilon", 1, "--target-error", 0.001)
    expected = library.plan(library.Sphere(2), 0.5, 1000, library.PureDP(1.0), target_error=0.001)[
        "riemannian-laplace"
    ]
    cells = row(result.stdout, "riemannian-laplace")
    assert cells[5:] == [
        str(expected.required_n),
        "ε",
        "=",
        f"{expected.required_budget.epsilon:.6g}",
    ]


@pytest.mark.fast(1)
@pytest.mark.parametrize("space", ["spd-log-euclidean", "spd-affine-invariant"])
def test_matrices(riemdp, space):
    arguments = ("--manifold", space, "--size", 3, "--radius", 1, "--n", 100, "--mu", 1)
    result = riemdp("plan", *arguments)
    assert result.exit_code == 0
    assert "(k=3)" in result.stdout
    assert "auto takes riemannian-gaussian (frechet-mean)" in result.stdout
    for name in ("riemannian-laplace", "riemannian-gaussian", "tangent-gaussian"):
        cells = row(result.stdout, name)[1:]
        # of noise in a tangent space of a negatively curved space no quantile is known
        known = cells[:-1] if (space, name[:7]) == ("spd-affine-invariant", "tangent") else cells
        assert "-" not in known


@pytest.mark.slow
def test_no_cell_is_cut(riemdp):
    arguments = ("--manifold", "spd-affine-invariant", "--size", 22, "--radius", 1, "--n", 10**9)
    result = riemdp("plan", *arguments, "--epsilon", 1.5, "--delta", 1e-9, "--target-error", 1e-5)
    assert "…" not in result.stdout


def test_exit_codes(riemdp, fails):
    assert "--dim" in fails(2, "plan", "--manifold", "sphere", "--radius", 1, "--n", 9, "--mu", 1)
    assert "give one budget" in fails(2, *SPHERE)
    assert "radius" in fails(2, *SPHERE, "--radius", 4, "--epsilon", 1)
    assert "target_error" in fails(2, *SPHERE, "--epsilon", 1, "--target-error", 0)
    assert "epsilon" in fails(2, *SPHERE, "--epsilon", 0)
    assert riemdp("plan", "--n", "many").exit_code == 2


def test_nothing_available_exits_with_3(riemdp, monkeypatch):
    # Every budget has its tangent mechanism, so this takes a plan without rows.
    empty = library.Plan(library.Sphere(2), 0.5, 1000, library.PureDP(1.0), None, ())
    monkeypatch.setattr("riemdp.cli._plan.make_plan", lambda *_, **__: empty)
    result = riemdp(*SPHERE, "--epsilon", 1)
    assert result.exit_code == 3
    assert result.stderr == "riemdp: no mechanism satisfies ε = 1 here\n"


def test_aligned_means(riemdp):
    space = ("--manifold", "PlanarShapes:k=5", "--radius", 0.7, "--n", 100, "--mu", 1)
    aligned = row(riemdp("plan", *space, "--aligned").stdout, "wrapped-gaussian")
    own = row(riemdp("plan", *space).stdout, "wrapped-gaussian")
    assert aligned[2] == "0.0168458"  # 2 tan(r) / n
    assert own[2] == "0.0579788"  # tan(2 r) / n


def test_a_private_number_is_supposed(riemdp):
    shared = ("plan", "--manifold", "sphere", "--dim", 2, "--radius", 0.5, "--mu", 0.5)
    result = riemdp(*shared, "--n", 400, "--adjacency", "add-remove")
    assert result.exit_code == 0
    assert "n = 400, μ = 0.5, add-remove" in result.stdout
    assert "n is private, and supposed here" in result.stdout
    people = riemdp(*shared, "--people", 400, "--users")
    assert "n = 400, μ = 0.5, replace-user" in people.stdout
    assert "supposed" not in people.stdout
    private = riemdp(*shared, "--n", 400, "--users")
    assert "n = 400, μ = 0.5, add-remove-user" in private.stdout
    assert "supposed" in private.stdout
    nothing = riemdp(*shared)
    assert nothing.exit_code == 2
    assert "--people" in nothing.stderr


def test_errors_are_stated_for_a_spread(riemdp):
    line = ("plan", "--manifold", "euclidean", "--dim", 2, "--radius", 1, "--n", 2000, "--mu", 1)
    found = {}
    for options in ((), ("--spread", 0.1)):
        result = riemdp(*line, "--statistic", "refined-mean", *options)
        found[options] = float(row(result.stdout, "tangent-gaussian")[3])
        assert ("an upper end" in result.stdout) == (not options)
        assert "refined-mean: how far clipping moved the value" in result.stdout
    assert found["--spread", 0.1] < 0.3 * found[()]
