"""JSON Schemas of documents: they are those of this version, and say what its reader says."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pytest

import document_schemas as tool
from riemdp import (
    GDP,
    KLDP,
    RDP,
    ZCDP,
    ApproxDP,
    Ball,
    Euclidean,
    Grassmann,
    Hyperbolic,
    KendallShapes,
    MeanCDP,
    PlanarShapes,
    Power,
    PrivateMeans,
    Product,
    ProductBall,
    ProjectiveSpace,
    PureDP,
    RaoDP,
    Release,
    Rotations,
    SPDAffineInvariant,
    SPDLogCholesky,
    SPDLogEuclidean,
    SPDPower,
    Sphere,
    Torus,
    _part,
    private_mean,
    private_means,
    private_moments,
    statistics,
)
from riemdp._part_document import encode
from riemdp.privacy import Anchor
from riemdp.release._serialise import mechanism_to_dict
from riemdp.spaces import Aligned, FlatProduct

ROOT = Path(__file__).resolve().parents[1]

STORED = sorted((ROOT / "tests" / "data" / "release-3").glob("*.json"))
LINE = Ball(Euclidean(2), [0.0, 0.0], 1.0)
ROWS = np.zeros((5, 2))


@pytest.fixture(scope="module")
def jsonschema():
    return pytest.importorskip("jsonschema", reason="in the extra `test`")


@pytest.fixture(scope="module")
def validators(jsonschema):
    """A validator by the format that it is for, from what the package ships."""
    found = {}
    for path in tool.STORED.glob("*.schema.json"):
        schema = json.loads(path.read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        name = schema["properties"]["format"]["const"]
        found[name] = jsonschema.Draft202012Validator(schema)
    return found


@pytest.fixture(scope="module")
def parts(validators, jsonschema):
    """Function that validates a part of a sort."""
    definitions = validators["riemdp-release/3"].schema["$defs"]

    def problems(sort, document):
        one = {"$ref": f"#/$defs/{sort}", "$defs": definitions}
        return list(jsonschema.Draft202012Validator(one).iter_errors(document))

    return problems


def test_the_stored_schemas_are_those_of_this_version():
    stored = {p.name: p.read_text(encoding="utf-8") for p in tool.STORED.glob("*.json")}
    made = {f"{name}.schema.json": tool.written(each) for name, each in tool.schemas().items()}
    assert stored.keys() == made.keys()
    assert [name for name in made if made[name] != stored[name]] == [], "run `make api`"


@pytest.mark.fast(12)
@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_every_stored_document_validates(validators, path):
    document = json.loads(path.read_text())
    assert list(validators[document["format"]].iter_errors(document)) == []


def documents():
    """Documents of this version, by what is special about them."""
    mean = private_mean(ROWS, LINE, GDP(1.0))
    fields = {name: getattr(mean, name) for name in Release.__dataclass_fields__ if name != "raw"}
    pair = Product(Euclidean(1), Sphere(1))
    box = ProductBall(pair, pair.origin, rms_radius=1.0, radii=(1.0, 0.5))
    found = {
        "mean": mean,
        "free": private_mean(ROWS[:2], LINE, GDP(0.1)),
        "add-remove": private_mean(ROWS, LINE, GDP(1.0), adjacency="add-remove"),
        "moments": private_moments(ROWS, LINE, GDP(1.0), second="matrix"),
        "anchor": Release(**{**fields, "anchor": Anchor("study", 3, "c" * 32, "0" * 64, 2)}),
        "shrunk": private_mean(np.zeros((5, 4)), Ball(Euclidean(4), np.zeros(4), 1.0),
                               GDP(1.0)).shrink(),
        "box": private_mean([pair.origin] * 3, box, GDP(1.0)),
    }  # fmt: skip
    return {name: json.loads(release.to_json()) for name, release in found.items()}


@pytest.fixture(scope="module")
def made():
    return documents()


def test_documents_of_this_version_validate(validators, made):
    validator = validators["riemdp-release/3"]
    problems = {name: list(validator.iter_errors(each)) for name, each in made.items()}
    assert not any(problems.values()), problems
    assert made["add-remove"]["header"]["n"] is None
    assert {"radii"} < set(made["box"]["header"]["ball"])


@pytest.mark.slow
def test_a_release_on_a_ball_that_was_found_validates(validators):
    rows = np.random.default_rng(0).normal(0.0, 0.05, (4000, 2))
    release = private_mean(rows, Ball(Euclidean(2), [0.0, 0.0], 5.0), GDP(1.0), method="adaptive")
    document = json.loads(release.to_json())
    assert {step["query"] for step in document["search"]["steps"]} >= {"centre", "radius"}
    assert list(validators["riemdp-release/3"].iter_errors(document)) == []


def test_certificates_and_means_of_groups_validate(validators, tmp_path):
    release = private_mean(ROWS, LINE, GDP(1.0))
    release.save(tmp_path / "large.json", container=True)
    certificate = json.loads((tmp_path / "large.json").read_text())
    validator = validators["riemdp-certificate/2"]
    assert list(validator.iter_errors(certificate)) == []
    certificate["container"]["file"] = "../large.npz"
    assert list(validator.iter_errors(certificate)) != []
    means = json.loads(private_means({"a": ROWS, 2: ROWS + 0.1}, LINE, GDP(1.0)).to_json())
    validator = validators["riemdp-private-means/2"]
    assert list(validator.iter_errors(means)) == []
    assert len(PrivateMeans.from_json(json.dumps(means))) == 2
    del means["releases"][1]["header"]["queries"][0]["tol"]
    assert list(validator.iter_errors(means)) != []


CHANGES = {
    "no format": lambda d: d.pop("format"),
    "another format": lambda d: d.update(format="riemdp-release/2"),
    "a key more": lambda d: d.update(mean=1.0),
    "a flag that is none": lambda d: d["header"].update(private=1),
    "a text for a number": lambda d: d["header"]["queries"][0].update(sensitivity="0.4"),
    "a flag for a number": lambda d: d["header"]["queries"][0].update(tol=True),
    "n of nobody": lambda d: d["header"].update(n=0),
    "n in part": lambda d: d["header"].update(n=2.5),
    "n private": lambda d: d["header"].update(n=None),
    "a value of texts": lambda d: d.update(value=["a", "b"]),
    "another definition": lambda d: d["header"]["guarantee"].update(type="Blessing"),
    "a definition without its number": lambda d: d["header"]["guarantee"].pop("mu"),
    "a definition with another's number": lambda d: d["header"]["guarantee"].update(epsilon=1.0),
    "a manifold as a definition": lambda d: d["header"].update(guarantee=d["header"]["manifold"]),
    "a dimension in part": lambda d: d["header"]["manifold"].update(dim=2.5),
    "a radius in words": lambda d: d["header"]["ball"].update(radius="wide"),
    "a ball with a colour": lambda d: d["header"]["ball"].update(colour="red"),
    "a mechanism with options it has not": lambda d: d["header"]["mechanism"].update(
        options=["ball"]
    ),
    "proofs that are numbers": lambda d: d["header"]["proofs"].update(Euclidean=1),
    "a grid without integers": lambda d: d.pop("rounded"),
    "integers that are none": lambda d: d.update(rounded=[0.5, 1.5]),
    "an anchor without hash": lambda d: d.update(anchor={"dataset": "a", "seq": 1}),
    "a header with a key more": lambda d: d["header"].update(mean=1.0),
    "a query with a key more": lambda d: d["header"]["queries"][0].update(mean=1.0),
    "no query": lambda d: d["header"].update(queries=[]),
    "a nonce that is short": lambda d: d["header"].update(nonce="0"),
    "versions that are numbers": lambda d: d["header"].update(versions={"numpy": 2}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_neither_the_schema_nor_the_reader_takes_a_wrong_document(validators, made, change):
    document = copy.deepcopy(made["mean"])
    change(document)
    assert list(validators["riemdp-release/3"].iter_errors(document)) != []
    with pytest.raises(ValueError):  # noqa: PT011 -- errors of every class there is
        Release.from_json(json.dumps(document))


def test_every_key_that_the_schema_needs_the_reader_needs(validators, made):
    schema = validators["riemdp-release/3"].schema
    optional = set(schema["properties"]) - set(schema["required"])
    assert optional == {"search", "anchor"}
    for key in schema["required"]:
        document = {name: each for name, each in made["mean"].items() if name != key}
        with pytest.raises(ValueError):  # noqa: PT011
            Release.from_json(json.dumps(document))


SUMS = statistics.Moments(second="scalar")
PARTS = [
    PureDP(1.0),
    ApproxDP(1.0, 1e-6),
    GDP(1.0),
    RaoDP(0.5, distance="angle"),
    KLDP(0.5),
    RDP(order=2.0, epsilon=0.5),
    ZCDP(0.5),
    MeanCDP(0.1, 0.2),
    Sphere(2),
    Aligned(PlanarShapes(3), PlanarShapes(3).origin),
    Euclidean(1),
    Grassmann(1, 3),
    Hyperbolic(2),
    KendallShapes(4),
    PlanarShapes(4),
    Power(Sphere(1), 2),
    Power(Euclidean(1), 2),
    Product(Sphere(1), SPDAffineInvariant(2)),
    FlatProduct(Euclidean(1), SPDLogEuclidean(2)),
    ProjectiveSpace(2),
    Rotations(),
    SPDAffineInvariant(2),
    SPDLogCholesky(2),
    SPDLogEuclidean(2),
    SPDPower(2),
    Torus(2),
    statistics.ReplaceOne(),
    statistics.ReplacePoint(),
    statistics.Groups(2),
    statistics.AddRemove(),
    statistics.ReplaceUser(),
    statistics.AddRemoveUser(3),
    statistics.FrechetMean(),
    statistics.TangentMean(),
    statistics.PointStatistic(0.1, 10, "a paper"),
    SUMS,
    statistics.Counted(SUMS, 1.0),
    statistics.ClassMoments(("one", "two")),
    statistics.DirectionalMoments((1, 2)),
    statistics.RefinedMean(),
    statistics.GeometricMedian(),
    statistics.HuberMean(),
    statistics.Recentred(SUMS),
    statistics.TangentRegression(0.0, 1.0),
    statistics.MeanRotation(),
    statistics.ProcrustesMean(),
    statistics.Variance(),
    statistics.DirectVariance(),
    statistics.Counted(statistics.TangentMean(), 1.0, weighs=True),
    statistics.Weighted(statistics.FrechetMean(), 0.1),
    statistics.Weighted(SUMS, 0.1),
]


def test_there_is_a_part_of_every_name():
    sorts = set(tool.SORTS) - {"mechanism"}
    assert {part.name for part in PARTS} == {n for sort in sorts for n in _part.registered(sort)}


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_what_encode_writes_validates(parts, part):
    document = json.loads(json.dumps(encode(part)))
    assert parts(part.sort, document) == []
    assert parts(part.sort, {**document, "more": 1}) != []
    assert [sort for sort in tool.SORTS if parts(sort, document) == []] == [part.sort]


@pytest.mark.parametrize("name", sorted(_part.registered("mechanism")))
def test_what_is_written_of_a_mechanism_validates(parts, name):
    kind = _part.registered("mechanism")[name]
    space = Euclidean(1) if name == "generalized-gaussian" else Euclidean(2)
    ball = Ball(space, space.origin, 0.5)
    own = {"power": 2.0} if name == "generalized-gaussian" else {"manifold": space}
    plain = kind(sigma=0.1, **own)
    with_options = {option: make(ball) for option, make in kind.options.items()}
    for mechanism in (plain, kind(sigma=0.1, **own, **with_options)):
        document = mechanism_to_dict(mechanism, ball)
        assert parts("mechanism", json.loads(json.dumps(document))) == []
    assert parts("mechanism", {"type": name, "sigma": 0.1}) != []
    assert parts("mechanism", {"type": name, "manifold": None}) != []


def test_parts_of_other_packages_are_not_described(parts):
    assert parts("statistic", {"type": "outside.Range", "width": [1, 2]}) == []
    assert parts("statistic", {"type": "Range"}) != []
