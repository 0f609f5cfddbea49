from __future__ import annotations

import json
import os
import warnings
from pathlib import Path

import numpy as np
import pytest

import riemdp as library
from riemdp.mechanisms import MECHANISMS

BALL = ("--manifold", "spd-log-euclidean", "--center", "identity", "--radius", 2)
BUDGET = ("--epsilon", 1, "--delta", 1e-6)


def test_writes_the_release_it_prints(riemdp, matrices, tmp_path):
    output, document = tmp_path / "mean.npy", tmp_path / "release.json"
    result = riemdp("mean", matrices, *BALL, *BUDGET, "--output", output, "--release", document)
    assert result.exit_code == 0
    assert result.stderr == ""
    value = np.load(output)
    release = library.Release.from_json(document.read_text(encoding="utf-8"))
    np.testing.assert_array_equal(release.value, value)
    assert release.private
    assert release.guarantee == library.ApproxDP(1.0, 1e-6)
    assert release.n == 50
    assert release.ball.manifold == library.SPDLogEuclidean(3)
    assert release.ball.radius == 2.0
    np.testing.assert_array_equal(release.ball.center, np.eye(3))
    for shown in ("ε = 1, δ = 1e-06", "replace-one", "frechet-mean of n = 50", "secure generator"):
        assert shown in result.stdout
    printed = result.stdout.split("secure generator")[1].replace("[", " ").replace("]", " ")
    np.testing.assert_array_equal(np.array(printed.split(), dtype=float).reshape(3, 3), value)


def test_is_the_mean_of_the_library(riemdp, matrices, tmp_path):
    output = tmp_path / "mean.csv"
    result = riemdp(
        "mean", matrices, *BALL, "--mu", 1, "--mechanism", "tangent-gaussian",
        "--seed", 3, "--output", output,
    )  # fmt: skip
    assert result.exit_code == 0
    expected = library.private_mean(
        np.load(matrices),
        library.Ball(library.SPDLogEuclidean(3), np.eye(3), 2.0),
        library.GDP(1.0),
        mechanism="tangent-gaussian",
        generator=np.random.default_rng(3),
    )
    np.testing.assert_array_equal(np.loadtxt(output, delimiter=",").reshape(3, 3), expected.value)


def test_parts_of_a_value_are_printed_by_name_and_written_in_a_row(riemdp, matrices, tmp_path):
    output, document = tmp_path / "moments.csv", tmp_path / "release.json"
    result = riemdp(
        "mean", matrices, *BALL, "--mu", 1, "--statistic", "moments:second=matrix",
        "--output", output, "--release", document,
    )  # fmt: skip
    assert result.exit_code == 0
    for name in ("mean:", "second_moment:", "covariance:", "variance:", "mean_sd:"):
        assert f"\n{name}\n" in result.stdout
    release = library.Release.from_json(document.read_text(encoding="utf-8"))
    np.testing.assert_array_equal(np.loadtxt(output, delimiter=","), release.raw)
    assert library.verify(release).passed
    assert riemdp("mean", matrices, *BALL, "--mu", 1, "--statistic", "variance").exit_code == 0


def test_a_median_says_what_its_error_is_not(riemdp, matrices, tmp_path):
    document = tmp_path / "release.json"
    result = riemdp(
        "mean", matrices, *BALL, "--mu", 1, "--statistic", "geometric-median:steps=3",
        "--release", document,
    )  # fmt: skip
    assert result.exit_code == 0
    release = library.Release.from_json(document.read_text(encoding="utf-8"))
    assert f"expected error  {release.expected_distance:.6g}\n" in result.stdout
    assert "stopping moved the value is not bounded" in result.stdout
    assert riemdp("verify", document).exit_code == 0


def test_seeded_release_is_marked_everywhere(riemdp, matrices, tmp_path):
    document = tmp_path / "release.json"
    result = riemdp("mean", matrices, *BALL, *BUDGET, "--seed", 1, "--release", document)
    assert "not private" in result.stderr
    assert "NOT private" in result.stdout
    assert json.loads(document.read_text(encoding="utf-8"))["header"]["private"] is False


def test_two_runs_differ_and_two_seeded_ones_do_not(riemdp, matrices):
    private = {riemdp("mean", matrices, *BALL, *BUDGET).stdout for _ in range(2)}
    seeded = {riemdp("mean", matrices, *BALL, *BUDGET, "--seed", 1).stdout for _ in range(2)}
    assert len(private) == 2
    assert len(seeded) == 1


def test_every_budget_and_mechanism(riemdp, matrices):
    for budget in (("--epsilon", 1), BUDGET, ("--mu", 1), ("--rho", 0.5)):
        assert riemdp("mean", matrices, *BALL, *budget).exit_code == 0
    for name in ("auto", *MECHANISMS):
        result = riemdp("mean", matrices, *BALL, *BUDGET, "--mechanism", name)
        assert result.exit_code == 0
        assert name in result.stdout or name == "auto"


@pytest.mark.fast(3)
@pytest.mark.parametrize(
    ("space", "rows"),
    [
        (("euclidean", "origin", 1), [[0.1, 0.2], [0.3, -0.2]]),
        (("sphere", "north-pole", 0.5), [[0, 0, 1], [0, 0.6, 0.8]]),
        (("sphere", "north-pole", 0.5), [[0, 1], [0.6, 0.8]]),
        (("hyperbolic", "origin", 0.5), [[1, 0, 0], [1.25, 0.75, 0]]),
        (("spd-log-euclidean", "identity", 1), [[1, 0, 0, 1], [2, 0.5, 0.5, 1]]),
        (("spd-affine-invariant", "identity", 1), [[1, 0, 0, 1], [2, 0.5, 0.5, 1]]),
    ],
)
def test_every_space_from_csv(riemdp, tmp_path, space, rows):
    manifold, center, radius = space
    np.savetxt(tmp_path / "data.csv", np.repeat(rows, 50, axis=0), delimiter=",")
    result = riemdp(
        "mean", tmp_path / "data.csv", "--manifold", manifold, "--center", center,
        "--radius", radius, "--mu", 1,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "of n = 100" in result.stdout


def test_curvature_key_and_center_from_a_file(riemdp, tmp_path):
    points = 0.5 * np.array([[0, 0, 1], [0, 0.6, 0.8]] * 50)
    np.savez(tmp_path / "data.npz", other=np.zeros(3), points=points)
    np.save(tmp_path / "center.npy", [0.0, 0.3, 0.4])
    arguments = (
        "mean", tmp_path / "data.npz", "--manifold", "sphere", "--curvature", 4,
        "--center", tmp_path / "center.npy", "--radius", 0.3, "--epsilon", 1,
    )  # fmt: skip
    assert "curvature=4.0" in riemdp(*arguments, "--key", "points").stdout
    assert riemdp(*arguments).exit_code == 2


def test_bad_data_exit_with_2_and_show_no_value(fails, matrices, tmp_path):
    array = np.load(matrices)
    for change, condition in (
        (np.nan, "NaN or infinite"),
        (271828.0, "symmetric"),
    ):
        broken = array.copy()
        broken[7, 0, 1] = change
        np.save(tmp_path / "broken.npy", broken)
        message = fails(2, "mean", tmp_path / "broken.npy", *BALL, *BUDGET)
        assert "row 7" in message
        assert condition in message
        assert "271828" not in message
    np.save(tmp_path / "empty.npy", np.zeros((0, 3, 3)))
    assert "no records" in fails(2, "mean", tmp_path / "empty.npy", *BALL, *BUDGET)
    np.save(tmp_path / "flat.npy", np.zeros((5, 9)))
    assert "(n, k, k)" in fails(2, "mean", tmp_path / "flat.npy", *BALL, *BUDGET)


def test_bad_usage_exits_with_2(riemdp, fails, matrices, tmp_path):
    assert "give one budget" in fails(2, "mean", matrices, *BALL)
    assert "--delta goes with" in fails(2, "mean", matrices, *BALL, "--mu", 1, "--delta", 0.1)
    assert "No such file" in fails(2, "mean", tmp_path / "none.npy", *BALL, *BUDGET)
    assert "must end in" in fails(2, "mean", matrices, *BALL, *BUDGET, "--output", "mean.txt")
    assert "radius" in fails(2, "mean", matrices, *BALL[:-1], -1, *BUDGET)
    sphere = ("--manifold", "sphere", *BALL[2:])
    assert "(n, d + 1)" in fails(2, "mean", matrices, *sphere, *BUDGET)
    for arguments in (BALL[:4], (*BALL, "--mechanism", "none"), (*BALL, "--seed", -1), ("--what",)):
        result = riemdp("mean", matrices, *arguments, *BUDGET)
        assert result.exit_code == 2
        assert "Traceback" not in result.output


def test_ball_beyond_the_limit_exits_with_2(fails, tmp_path):
    np.save(tmp_path / "points.npy", [[0.0, 0.0, 1.0]] * 10)
    message = fails(
        2, "mean", tmp_path / "points.npy", "--manifold", "sphere", "--center", "north-pole",
        "--radius", 1.6, "--epsilon", 1, "--mechanism", "riemannian-laplace",
    )  # fmt: skip
    assert "radius" in message


def test_budget_outside_its_domain_exits_with_2(fails, matrices):
    for budget in (("--epsilon", 0), ("--epsilon", "nan"), ("--epsilon", 1, "--delta", 1)):
        fails(2, "mean", matrices, *BALL, *budget)
    for budget in (("--mu", -1), ("--rho", "inf")):
        fails(2, "mean", matrices, *BALL, *budget)


def test_budget_of_the_wrong_kind_exits_with_3(fails, matrices):
    gaussian = ("--mechanism", "tangent-gaussian")
    assert "pure" in fails(3, "mean", matrices, *BALL, "--epsilon", 1, *gaussian)


def test_not_attainable_exits_with_3(fails, tmp_path):
    np.save(tmp_path / "points.npy", [[1.0, 0.0, 0.0, 0.0]] * 2)
    message = fails(
        3, "mean", tmp_path / "points.npy", "--manifold", "hyperbolic", "--center", "origin",
        "--radius", 1, "--epsilon", 0.1, "--mechanism", "riemannian-laplace",
    )  # fmt: skip
    assert "normaliser" in message


def test_nothing_is_written_when_it_fails(fails, matrices, tmp_path):
    output, document = tmp_path / "mean.npy", tmp_path / "release.json"
    fails(2, "mean", matrices, *BALL, "--epsilon", -1, "--output", output, "--release", document)
    assert not output.exists()
    assert not document.exists()


def test_outputs_are_checked_before_the_draw(fails, matrices, tmp_path, monkeypatch):
    monkeypatch.setattr("riemdp.cli._mean.private_mean", lambda *_, **__: pytest.fail("drawn"))
    folder = tmp_path / "release.json"
    folder.mkdir()
    assert "is a folder" in fails(2, "mean", matrices, *BALL, *BUDGET, "--release", folder)
    before = matrices.read_bytes()
    again = tmp_path / "release.json" / ".." / matrices.name
    for path in (matrices, again):
        assert "is an input" in fails(2, "mean", matrices, *BALL, *BUDGET, "--output", path)
    center = tmp_path / "center.npy"
    np.save(center, np.eye(3))
    ball = ("--manifold", "spd-log-euclidean", "--center", center, "--radius", 2)
    assert "is an input" in fails(2, "mean", matrices, *ball, *BUDGET, "--output", center)
    assert matrices.read_bytes() == before


def hard_link(link, target):
    os.link(target, link)


@pytest.mark.parametrize("link", [Path.symlink_to, hard_link])
@pytest.mark.parametrize(("option", "name"), [("--output", "m.npy"), ("--release", "m.json")])
def test_no_input_is_overwritten_under_another_name(fails, matrices, link, option, name):
    center, output = matrices.with_name("center.npy"), matrices.with_name(name)
    np.save(center, np.eye(3))
    ball = (*BALL[:2], "--center", center, *BALL[4:])
    for target in (matrices, center):
        before = target.read_bytes()
        link(output, target)
        assert "is an input" in fails(2, "mean", matrices, *ball, *BUDGET, option, output)
        assert target.read_bytes() == before
        output.unlink()


def test_the_name_of_an_output_is_kept(riemdp, matrices, tmp_path):
    # With a suffix of its own, NumPy would write into the input.
    data = matrices.rename(tmp_path / "data.NPY.npy")
    before = data.read_bytes()
    output = tmp_path / "data.NPY"
    assert riemdp("mean", data, *BALL, *BUDGET, "--output", output).exit_code == 0
    assert data.read_bytes() == before
    with output.open("rb") as file:
        assert np.load(file).shape == (3, 3)
    assert sorted(os.listdir(tmp_path)) == ["data.NPY", "data.NPY.npy"]


def test_links_as_outputs(fails, matrices, tmp_path):
    output, kept = tmp_path / "mean.csv", tmp_path / "kept.txt"
    output.symlink_to(kept)
    assert "link to nothing" in fails(2, "mean", matrices, *BALL, *BUDGET, "--output", output)
    assert not kept.exists()
    kept.touch()
    assert "is there already" in fails(2, "mean", matrices, *BALL, *BUDGET, "--output", output)
    assert kept.read_bytes() == b""


def test_two_outputs_are_two_files(fails, matrices, tmp_path):
    arguments = ("--release", tmp_path / "mean.json", "--details", tmp_path / "mean.json")
    assert "for two outputs" in fails(2, "mean", matrices, *BALL, *BUDGET, *arguments)


def test_a_failed_write_leaves_all_as_it_was(riemdp, matrices, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("riemdp.cli._mean.write_array", full)
    arguments = ("--output", tmp_path / "mean.npy", "--release", tmp_path / "mean.json")
    result = riemdp("mean", matrices, *BALL, *BUDGET, *arguments)
    assert result.exit_code == 2
    assert "No space left" in result.stderr
    assert "frechet-mean of n = 50" in result.stdout  # which was paid for
    assert os.listdir(tmp_path) == ["matrices.npy"]


@pytest.mark.parametrize("option", ["--release", "--output"])
def test_what_was_paid_for_is_not_overwritten(riemdp, fails, matrices, tmp_path, option):
    """The second call is refused before it is charged for."""
    url, file = tmp_path / "ledger.db", tmp_path / f"mean.{'json' if option[2] == 'r' else 'npy'}"
    register = ("--mu", 1, "--unit", "person", "--adjacency", "replace-one", "--ledger", url)
    riemdp("ledger", "register", "study", *register)
    paid = ("--mu", 0.1, "--ledger", url, "--dataset", "study", "--dim", 3, "--n", 50)
    call = ("mean", matrices, "--manifold", "spd-log-euclidean", *BALL[2:], *paid, option, file)
    call = tuple("--size" if each == "--dim" else each for each in call)
    assert riemdp(*call).exit_code == 0
    before = file.read_bytes()
    assert "is there already" in fails(2, *call)
    assert file.read_bytes() == before
    (dataset,) = json.loads(riemdp("ledger", "export", "--ledger", url).stdout)["datasets"]
    assert len(dataset["entries"]) == 1


@pytest.mark.parametrize("container", [False, True])
def test_a_file_that_came_meanwhile_stays_and_so_does_the_release(
    riemdp, matrices, tmp_path, monkeypatch, container
):
    """As another process of the same call would make it, after both were charged."""
    release, output = tmp_path / "mean.json", tmp_path / "mean.csv"
    there = release.with_suffix(".npz") if container else release
    found = library.private_mean

    def meanwhile(*arguments, **options):
        there.write_bytes(b"another")
        (tmp_path / "mean-1.json").write_bytes(b"one more")
        return found(*arguments, **options)

    monkeypatch.setattr("riemdp.cli._mean.private_mean", meanwhile)
    if container:
        monkeypatch.setattr("riemdp.cli._mean._MOST_INLINE", 0)
        monkeypatch.setattr("riemdp.release._container.SMALL", 0)
    result = riemdp(
        "mean", matrices, *BALL, *BUDGET, "--release", release, "--output", output
    )  # fmt: skip
    assert result.exit_code == 0
    assert "mean-2.json" in result.stderr
    assert there.read_bytes() == b"another"
    assert (tmp_path / "mean-1.json").read_bytes() == b"one more"
    kept = tmp_path / "mean-2.json"
    assert kept.with_suffix(".npz").exists() == container
    assert library.verify(kept).passed
    value = np.loadtxt(tmp_path / "mean-2.csv", delimiter=",")
    np.testing.assert_array_equal(library.Release.load(kept).raw.reshape(-1), value)
    assert not output.exists()


def test_more_numbers_than_the_limit(riemdp, fails, matrices, tmp_path):
    np.savez_compressed(tmp_path / "large.npz", np.zeros(2**26 + 1, np.uint8))
    large = tmp_path / "large.npz"
    message = fails(2, "mean", large, *BALL, *BUDGET)
    assert message.endswith(
        "16777216 numbers, the limit; if you trust the file and memory allows, raise it with "
        "--max-numbers\n"
    )
    # the way out: it is read, and refused for its shape
    assert "data must have shape" in fails(2, "mean", large, *BALL, *BUDGET, "--max-numbers", 2**27)
    np.savetxt(tmp_path / "rows.csv", np.load(matrices).reshape(-1, 9), delimiter=",")
    for name in ("matrices.npy", "rows.csv"):
        arguments = ("mean", tmp_path / name, *BALL, *BUDGET, "--max-numbers")
        assert "more than 449 numbers" in fails(2, *arguments, 449)
        assert riemdp(*arguments, 450).exit_code == 0


def test_names_and_keys_cannot_forge_lines(fails, matrices, tmp_path):
    name = "a\nok    guarantee\x1b[2K.npz"
    np.savez(tmp_path / name, **{"x\ny": np.zeros(2), "\x1b[31mz": np.zeros(2)})
    message = fails(2, "mean", tmp_path / name, *BALL, *BUDGET)
    assert "\x1b" not in message
    assert r"\x1b[31mz" in message
    assert "\x1b" not in fails(2, "mean", tmp_path / f"no{name}", *BALL, *BUDGET)


def test_no_warning_tells_of_the_data(riemdp, matrices, monkeypatch):
    real = library.private_mean

    def loud(*args, **kwargs):
        warnings.warn("overflow in row 3", RuntimeWarning, stacklevel=1)
        return real(*args, **kwargs)

    monkeypatch.setattr("riemdp.cli._mean.private_mean", loud)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert riemdp("mean", matrices, *BALL, *BUDGET).exit_code == 0
    assert caught == []


def test_output_tells_nothing_of_clipping(riemdp, matrices, tmp_path):
    # All records in the ball, or most of them outside: but for the value the output is the same.
    shown = []
    for factor in (1.0, 50.0):
        np.save(tmp_path / "data.npy", factor * np.load(matrices))
        result = riemdp("mean", tmp_path / "data.npy", *BALL, *BUDGET)
        assert result.stderr.count("\n") <= (factor > 1.0)  # of where the value lies
        shown.append(result.stdout.split("secure generator")[0])
    assert shown[0] == shown[1]


def test_what_protects_the_bits_is_said(riemdp, tmp_path):
    np.save(tmp_path / "points.npy", np.zeros((50, 2)))
    arguments = ("mean", tmp_path / "points.npy", "--manifold", "euclidean", "--center", "origin")
    arguments += ("--radius", 1)
    exact = riemdp(*arguments, "--epsilon", 1)
    assert "exact draw on the grid 2^-45\n" in exact.stdout


def test_a_smaller_ball_is_found_within_the_budget(riemdp, fails, tmp_path):
    rng = np.random.default_rng(0)
    file, document = tmp_path / "points.csv", tmp_path / "release.json"
    np.savetxt(file, 0.3 + rng.normal(0.0, 0.02, (600, 2)), delimiter=",")
    space = ("--manifold", "euclidean", "--center", "origin", "--radius", 1, "--mu", 1)
    result = riemdp(
        "mean", file, *space, "--method", "adaptive", "--seed", 0, "--release", document
    )
    assert result.exit_code == 0
    release = library.Release.from_json(document.read_text(encoding="utf-8"))
    assert release.ball.radius < 0.3
    assert release.guarantee == library.GDP(1.0)
    assert f"found in {len(release.search.steps)} steps" in result.stdout
    assert library.verify(release).passed
    shown = riemdp("verify", document)
    assert "pairs" in shown.stdout
    fails(2, "mean", file, *space, "--method", "adaptive", "--statistic", "tangent-mean")


def test_records_are_aligned_to_the_centre(riemdp, fails, tmp_path):
    random = np.random.default_rng(0)
    template = random.normal(size=(5, 3))
    np.save(tmp_path / "template.npy", template)
    np.save(tmp_path / "bodies.npy", template + 0.1 * random.normal(size=(30, 5, 3)))
    arguments = ["mean", tmp_path / "bodies.npy", "--manifold", "KendallShapes:k=5"]
    arguments += ["--center", tmp_path / "template.npy", "--radius", 0.9, "--mu", 1]
    file = tmp_path / "mean.json"
    assert riemdp(*arguments, "--aligned", "--release", file).exit_code == 0
    released = library.Release.from_json(file.read_text(encoding="utf-8"))
    assert released.ball == library.QuotientBall(
        library.KendallShapes(5), template, 0.9, mean="aligned"
    )
    assert "Align the records" in fails(2, *arguments)
    sphere = ("--manifold", "sphere", "--center", "north-pole", "--radius", 1, "--mu", 1)
    np.save(tmp_path / "points.npy", np.eye(3))
    assert "must be a quotient" in fails(2, "mean", tmp_path / "points.npy", *sphere, "--aligned")


def test_the_number_of_records_may_be_private(riemdp, matrices, tmp_path):
    document = tmp_path / "release.json"
    result = riemdp(
        "mean", matrices, *BALL, "--mu", 0.5, "--adjacency", "add-remove", "--release", document
    )
    assert result.exit_code == 0
    release = library.Release.from_json(document.read_text(encoding="utf-8"))
    assert release.n is None
    assert release.guarantee == library.GDP(0.5, adjacency="add-remove")
    shown = f"counted frechet-mean of n private, {release.count:.6g} with noise,"
    assert shown in result.stdout
    assert "add-remove neighbours" in result.stdout
    assert "50" not in result.stderr
    assert riemdp("verify", document).exit_code == 0
    named = riemdp("mean", matrices, *BALL, "--mu", 0.5, "--adjacency", "add-remove")
    assert "n private" in named.stdout
    groups = riemdp("mean", matrices, *BALL, "--mu", 0.5, "--adjacency", "groups:records=2")
    assert "groups of 2" in groups.stdout


def test_no_records_are_data_where_their_number_is_private(riemdp, tmp_path):
    np.save(tmp_path / "none.npy", np.empty((0, 3, 3)))
    given = ("mean", tmp_path / "none.npy", *BALL, "--mu", 0.5)
    assert riemdp(*given, "--adjacency", "add-remove").exit_code == 0
    refused = riemdp(*given)
    assert refused.exit_code != 0
    assert "holds no records" in refused.stderr
    np.save(tmp_path / "shape.npy", np.empty((17, 3)))
    wrong = riemdp("mean", tmp_path / "shape.npy", *BALL, "--mu", 0.5, "--adjacency", "add-remove")
    assert wrong.exit_code != 0
    assert "17" not in wrong.stderr


@pytest.mark.parametrize("kind", ["npy", "csv", "txt"])
def test_people_are_protected_with_all_their_records(riemdp, fails, matrices, tmp_path, kind):
    users, document = tmp_path / f"users.{kind}", tmp_path / "release.json"
    ids = np.arange(50) // 5
    if kind == "npy":
        np.save(users, ids)
    elif kind == "csv":
        np.savetxt(users, ids[:, None], fmt="%d")
    else:
        users.write_text("".join(f"person {i}\n" for i in ids), encoding="utf-8")
    given = ("mean", matrices, *BALL, "--mu", 0.5, "--users", users)
    result = riemdp(*given, "--people", 10, "--release", document)
    assert result.exit_code == 0
    assert "of n = 10 people" in result.stdout
    assert "replace-user neighbours" in result.stdout
    private = riemdp(*given)
    assert "add-remove-user neighbours" in private.stdout
    assert "n = 10" not in private.stdout  # a count with its noise may begin so
    assert "people=" in fails(2, *given, "--adjacency", "replace-one")
    assert "people" in fails(2, *given, "--n", 10)
    release = library.Release.from_json(document.read_text(encoding="utf-8"))
    assert release.guarantee == library.GDP(0.5, adjacency="replace-user")
    assert riemdp("verify", document).exit_code == 0
    short = tmp_path / "short.npy"
    np.save(short, ids[1:])
    refused = riemdp("mean", matrices, *BALL, "--mu", 0.5, "--users", short)
    assert "one for each point" in refused.stderr
    np.save(short, ids + 0.5)
    refused = riemdp("mean", matrices, *BALL, "--mu", 0.5, "--users", short)
    assert "an integer for each record" in refused.stderr
    np.save(short, ids.astype(str))
    refused = riemdp("mean", matrices, *BALL, "--mu", 0.5, "--users", short)
    assert "ids that are texts are read from a .txt" in refused.stderr
    blank = tmp_path / "blank.txt"
    blank.write_text("a\n" * 20 + " \n" + "b\n" * 29, encoding="utf-8")
    refused = riemdp("mean", matrices, *BALL, "--mu", 0.5, "--users", blank)
    assert "line 21 of blank.txt is blank" in refused.stderr


NAMES = ("xx", "xy", "xz", "yy", "yz", "zz")
UPPER = np.triu_indices(3)


@pytest.fixture
def table(matrices, tmp_path):
    """The matrices as six columns, five rows a person."""
    path, six = tmp_path / "tensors.csv", np.load(matrices)[:, *UPPER]
    rows = [",".join([*map(repr, row.tolist()), f"p{i // 5}"]) for i, row in enumerate(six)]
    path.write_text("\n".join([",".join([*NAMES, "person"]), *rows]), encoding="utf-8")
    return path


def test_columns_of_a_table(riemdp, fails, matrices, table, tmp_path):
    users, value = tmp_path / "users.txt", tmp_path / "mean.npz"
    users.write_text("".join(f"p{i // 5}\n" for i in range(50)), encoding="utf-8")
    budget = (*BALL, "--mu", 1, "--seed", 3)
    columns = ("--points", ",".join(NAMES), "--layout", "tensor-fsl")
    people = ("--people", 10)
    by_column = riemdp(
        "mean", table, *budget, *columns, "--users", "person", *people, "--output", value
    )
    assert by_column.exit_code == 0, by_column.output
    assert "of n = 10 people" in by_column.stdout
    by_file = riemdp("mean", matrices, *budget, "--users", users, *people)
    assert by_column.stdout == by_file.stdout
    with np.load(value, allow_pickle=False) as arrays:
        assert arrays["value"].shape == (3, 3)
    # what a row is has to be said, and is
    assert "say what a row" in fails(2, "mean", table, *budget, *columns)
    epochs = riemdp("mean", table, *budget, *columns, "--unit", "epoch")
    assert "record          epoch" in epochs.stdout
    assert "of n = 50," in epochs.stdout
    # six numbers without an order are no matrix
    assert "square matrix" in fails(2, "mean", table, *budget, *columns[:2], "--unit", "epoch")
    assert "names with commas" in fails(2, "mean", table, *budget, "--points", "xx,,xy")
    assert "'zy'" in fails(2, "mean", table, *budget, "--points", "zy", "--unit", "epoch")
    wrong = (*budget[:-2], *columns, "--labels", "person", "--unit", "epoch")
    assert "takes no labels" in fails(2, "mean", table, *wrong)


def test_columns_of_parquet(riemdp, matrices, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path, given = tmp_path / "data.parquet", np.load(matrices)
    columns = {"flat": given.reshape(50, 9).tolist(), "six": given[:, *UPPER].tolist()}
    parquet.write_table(pyarrow.table(columns), path)
    budget = (*BALL, "--mu", 1, "--seed", 3, "--unit", "person")
    wanted = riemdp("mean", matrices, *budget).stdout
    assert riemdp("mean", path, *budget, "--points", "flat").stdout == wanted
    six = ("--points", "six", "--layout", "tensor-fsl")
    assert riemdp("mean", path, *budget, *six).stdout == wanted
    wrong = ("--points", "six", "--layout", "tensor-mrtrix")
    assert riemdp("mean", path, *budget, *wrong).stdout != wanted
