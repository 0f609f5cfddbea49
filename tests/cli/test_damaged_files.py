"""Bytes of inputs changed at random: one line on stderr and the code for bad input, or a result."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest

SPACE = ("--manifold", "spd-log-euclidean", "--radius", 1, "--center", "identity")
BUDGET = ("--mu", 1, "--mechanism", "tangent-gaussian")
ROUNDS = 15
#: Values that a field of a release may be changed to.
VALUES = (
    None, True, 0, -1, 2**63, 10**400, 1e308, 5e-324, "", "x\n\x1b[31m", [], {}, [[]], [1], 0.5,
)  # fmt: skip


def changed(content, generator):
    """Bytes with a few of them overwritten, left out, put in or cut off, most at either end."""
    content = bytearray(content)
    for _ in range(generator.integers(1, 5)):
        size = len(content)
        place = int(
            generator.choice([generator.integers(size), min(generator.integers(160), size)])
        )
        place = min(max(place, 0), size - 1)
        if generator.random() < 0.3:
            place = size - 1 - min(place, 160, size - 1)
        match generator.integers(5):
            case 0:
                content[place] = generator.integers(256)
            case 1:
                content[place] ^= 1 << int(generator.integers(8))
            case 2:
                del content[place : place + int(generator.integers(1, 30))]
            case 3:
                content[place:place] = generator.bytes(generator.integers(1, 10))
            case 4:
                content[place : place + 1] = generator.choice([b"9", b"-", b"(", b"{", b"'", b"e"])
        if not content:
            break
    return bytes(content)


def check(result, codes):
    assert result.exit_code in codes, result.output
    assert "Traceback" not in result.output
    if result.exit_code == 2:
        assert result.stdout == ""
        assert result.stderr.startswith("riemdp: ")
        assert result.stderr.count("\n") == 1
        assert result.stderr.rstrip("\n").isprintable()


@pytest.mark.fast(2)
@pytest.mark.parametrize("kind", ["npy", "npz", "zipped", "csv"])
def test_records(riemdp, matrices, tmp_path, kind):
    generator = np.random.default_rng(13)
    array = np.load(matrices)
    stream = io.BytesIO()
    if kind == "csv":
        np.savetxt(stream, array.reshape(-1, 9), delimiter=",")
    else:
        (np.savez if kind == "npz" else np.save)(stream, array)
    seen = set()
    for _ in range(ROUNDS):
        content = changed(stream.getvalue(), generator)
        path = tmp_path / f"data.{'npz' if kind == 'zipped' else kind}"
        if kind == "zipped":  # damage that the checksums of the archive do not tell
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("x.npy", content)
        else:
            path.write_bytes(content)
        result = riemdp("mean", path, *SPACE, *BUDGET)
        check(result, {0, 2})
        seen.add(result.exit_code)
    assert 2 in seen


def test_releases(riemdp, matrices, tmp_path):
    generator = np.random.default_rng(14)
    path = tmp_path / "release.json"
    made = ("mean", matrices, *SPACE, *BUDGET, "--seed", 1, "--release", path)
    assert riemdp(*made).exit_code == 0
    content = path.read_bytes()
    seen = set()
    for number in range(2 * ROUNDS):
        if number % 2:
            path.write_bytes(changed(content, generator))
        else:
            document = node = json.loads(content)
            while True:
                key = generator.choice(list(node)) if isinstance(node, dict) else 0
                if not isinstance(node[key], (dict, list)) or generator.random() < 0.3:
                    break
                node = node[key]
            node[key] = VALUES[generator.integers(len(VALUES))]
            path.write_text(json.dumps(document), encoding="utf-8")
        result = riemdp("verify", path)
        check(result, {0, 1, 2, 3})
        seen.add(result.exit_code)
    assert seen >= {1, 2}
