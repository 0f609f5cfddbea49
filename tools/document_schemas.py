"""Write the JSON Schemas of documents, from the fields of the parts that documents name.

    python tools/document_schemas.py            says which stored ones differ
    python tools/document_schemas.py --write    stores them in src/riemdp/release/schemas

A schema says which keys there are and of which type. Whether the numbers belong together is for
``riemdp verify``; that no key occurs twice, only a reader can tell.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import json
from pathlib import Path
from typing import Any

import riemdp
from riemdp import _part
from riemdp._versions import PACKAGES, PATTERN

STORED = Path(riemdp.__file__).parent / "release" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
SORTS = ("definition", "manifold", "mechanism", "neighbours", "statistic")

TEXT = {"type": "string"}
FLAG = {"type": "boolean"}
NUMBER = {"type": "number"}
NOT_NEGATIVE = {"type": "number", "minimum": 0}
POSITIVE = {"type": "number", "exclusiveMinimum": 0}
INTEGER = {"type": "integer"}
COUNT = {"type": "integer", "minimum": 1}
INTEGERS = {"type": "array", "items": INTEGER}
#: JSON has no name for it.
SIZE = {"anyOf": [NUMBER, {"const": "infinity"}]}
VERSION = {"type": "string", "pattern": PATTERN}
SHA256 = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
#: Types of fields that are no parts, as the classes write them.
WORDS: dict[str, dict[str, Any]] = {
    "int": INTEGER,
    "float": SIZE,
    "str": TEXT,
    "bool": FLAG,
    "FloatArray": {"$ref": "#/$defs/numbers"},
    "RaoDistance": {"enum": ["angle", "parametric"]},
}


def schemas() -> dict[str, dict[str, Any]]:
    """Return the schemas by the name of their file."""
    release = _release()
    parts = {**_general(), **_parts()}
    return {
        "riemdp-release-3": _root("A release", "riemdp-release-3", release, parts),
        "riemdp-certificate-2": _root(
            "A release whose arrays are in a file beside it",
            "riemdp-certificate-2",
            _certificate(),
            {},
        ),
        "riemdp-private-means-2": _root(
            "Releases of the means of disjoint groups",
            "riemdp-private-means-2",
            _means(),
            {**parts, "release": release},
        ),
    }


def _root(
    title: str, name: str, body: dict[str, Any], definitions: dict[str, Any]
) -> dict[str, Any]:
    head = {"$schema": DIALECT, "$id": f"urn:riemdp:schema:{name}", "title": title}
    return {**head, **body, **({"$defs": definitions} if definitions else {})}


def closed(
    required: dict[str, Any], optional: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """Return the schema of an object with these keys and no others."""
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
        "additionalProperties": False,
        **more,
    }


def ref(name: str) -> dict[str, str]:
    """Return a reference to a definition of the same schema."""
    return {"$ref": f"#/$defs/{name}"}


def _general() -> dict[str, Any]:
    """Definitions that parts and documents share."""
    share = {"type": "array", "items": COUNT, "minItems": 2, "maxItems": 2}
    chosen = {"share": share, "rate": NUMBER, "top": NUMBER, "count": COUNT, "place": INTEGER}
    summed = {"share": share, "sigma": NUMBER, "grid": INTEGER, "rounded": INTEGERS}
    about = {"center": ref("numbers"), "radius": NUMBER}
    steps = [
        closed({"query": {"const": "pairs"}, **chosen, "penalty": NUMBER}),
        closed({"query": {"const": "axis"}, **chosen}),
        closed(
            {"query": {"const": "radius"}, **chosen, "penalty": NUMBER, "center": ref("numbers")}
        ),
        closed({"query": {"const": "count"}, **summed}),
        closed({"query": {"const": "centre"}, **summed, **about}),
        closed({"query": {"const": "guard"}, **summed, **about, "far": NUMBER}),
    ]
    search = closed(
        {
            "public_ball": ref("ball"),
            "budget": ref("definition"),
            "axis": FLAG,
            "steps": {"type": "array", "minItems": 1, "items": {"anyOf": steps}},
            "release": {"anyOf": [ref("definition"), {"type": "null"}]},
        }
    )
    anchor = closed(
        {
            "dataset": TEXT,
            "seq": {"type": "integer", "minimum": 0},
            "charge_id": TEXT,
            "hash": TEXT,
        },
        {"part": {"type": "integer", "minimum": 0}},
    )
    # of another package, with whatever fields it has
    foreign = {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"type": "string", "pattern": r"^[^.]+\."}},
    }
    return {
        "numbers": {"type": "array", "items": {"anyOf": [NUMBER, ref("numbers")]}},
        "ball": closed({"center": ref("numbers"), "radius": SIZE}, {"radii": ref("numbers")}),
        "search": search,
        "anchor": anchor,
        "foreign": foreign,
    }


def _parts() -> dict[str, Any]:
    """Every sort, and every part of it, as ``encode`` writes them."""
    found: dict[str, Any] = {}
    for sort in SORTS:
        own = _part.registered(sort)
        write = _mechanism if sort == "mechanism" else _part_schema
        found |= {f"{sort}:{name}": write(name, kind) for name, kind in sorted(own.items())}
        names = [ref(f"{sort}:{name}") for name in sorted(own)]
        found[sort] = {"anyOf": [*names, ref("foreign")]}
    return found


def _part_schema(name: str, kind: type[Any]) -> dict[str, Any]:
    fields = {field.name: _type(str(field.type)) for field in _fields(kind)}
    return closed({"type": {"const": name}, **fields})


def _mechanism(name: str, kind: type[Any]) -> dict[str, Any]:
    """Fields with their defaults are left out, and what follows from the ball or the queries."""
    options = sorted(kind.options)
    required: dict[str, Any] = {"type": {"const": name}}
    optional: dict[str, Any] = {}
    for field in _fields(kind):
        if field.name not in ("manifold", "sigma", *options):
            needed = field.default is dataclasses.MISSING
            (required if needed else optional)[field.name] = _type(str(field.type))
    if options:
        listed = {"type": "array", "items": {"enum": options}, "uniqueItems": True}
        optional["options"] = listed
    return closed(required, optional)


def _fields(kind: Any) -> list[dataclasses.Field[Any]]:
    found = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    return [field for field in found if field.init and field.metadata.get("written", True)]


def _type(text: str) -> dict[str, Any]:
    """Return the schema of a type as a class writes it."""
    return _of_node(ast.parse(text, mode="eval").body)


def _of_node(node: ast.expr) -> dict[str, Any]:
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return {"anyOf": [_of_node(left), _of_node(right)]}
        case ast.Subscript(value=ast.Name(id="Literal"), slice=values):
            return {"enum": list(_plain(values))}
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=[item, _])):
            return {"type": "array", "items": _of_node(item)}
        case ast.Name(id=name) if name in WORDS:
            return WORDS[name]
        case ast.Name(id=name):
            return ref(_sort_of(name))
    raise ValueError(f"no schema is known of a field of type {ast.unparse(node)}")


def _plain(node: ast.expr) -> tuple[Any, ...]:
    found = ast.literal_eval(node)
    return found if isinstance(found, tuple) else (found,)


def _sort_of(name: str) -> str:
    """Return the definition of a class of parts: of the part itself, or of its sort."""
    _part.catalogue()  # a class that is not loaded is no subclass yet
    left: list[type[Any]] = [_part.Part]
    while left:
        kind = left.pop()
        if kind.__name__ == name:
            registered = _part.registered(kind.sort)
            return f"{kind.sort}:{kind.name}" if kind.name in registered else str(kind.sort)
        left += kind.__subclasses__()
    raise ValueError(f"no schema is known of a field of type {name}")


def _release() -> dict[str, Any]:
    private_sizes = sorted(
        name for name, kind in _part.registered("neighbours").items() if not kind.size_is_public
    )
    public_sizes = sorted(set(_part.registered("neighbours")) - set(private_sizes))
    query = closed(
        {
            "dim": COUNT,
            "share": POSITIVE,
            "sensitivity": NOT_NEGATIVE,
            "tol": NOT_NEGATIVE,
            "sigma": POSITIVE,
            "grid": INTEGER,
        }
    )
    header = closed(
        {
            "nonce": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
            "versions": closed({}, dict.fromkeys(PACKAGES, VERSION)),
            "manifold": ref("manifold"),
            "ball": ref("ball"),
            "statistic": ref("statistic"),
            "neighbours": ref("neighbours"),
            "n": {"anyOf": [COUNT, {"type": "null"}]},
            "guarantee": ref("definition"),
            "mechanism": ref("mechanism"),
            "queries": {"type": "array", "minItems": 1, "items": query},
            "projected": FLAG,
            "private": FLAG,
            "proofs": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
            "reason": TEXT,
        },
        allOf=[_size(public_sizes, COUNT), _size(private_sizes, {"type": "null"})],
    )
    return closed(
        {
            "format": {"const": "riemdp-release/3"},
            "header": header,
            "rounded": INTEGERS,
            "shrunk": FLAG,
            "value": ref("numbers"),
        },
        {"search": ref("search"), "anchor": ref("anchor")},
    )


def _size(neighbours: list[str], size: dict[str, Any]) -> dict[str, Any]:
    """Return what ``n`` is under some relations."""
    named = {"properties": {"type": {"enum": neighbours}}, "required": ["type"]}
    return {
        "if": {"properties": {"neighbours": named}, "required": ["neighbours"]},
        "then": {"properties": {"n": size}},
    }


def _certificate() -> dict[str, Any]:
    declared = closed(
        {
            "shape": {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 0}},
            "type": {"enum": ["<f8", "<i8", "<u8"]},
        }
    )
    named = {"type": "string", "pattern": r"^[^/\\:\u0000]+\.[nN][pP][zZ]$"}
    arrays = {"type": "object", "minProperties": 1, "additionalProperties": declared}
    written = {
        "description": "A release with null in place of each array that is in the container",
        "type": "object",
        "required": ["format"],
        "properties": {"format": {"const": "riemdp-release/3"}},
    }
    return closed(
        {
            "format": {"const": "riemdp-certificate/2"},
            "digest": SHA256,
            "container": closed({"file": named, "sha256": SHA256, "arrays": arrays}),
            "release": written,
        }
    )


def _means() -> dict[str, Any]:
    header = {
        "names": {"type": "array", "minItems": 1, "items": {"type": ["string", "integer"]}},
        "guarantee": ref("definition"),
        "headers": {"type": "array", "minItems": 1, "items": SHA256},
    }
    return closed(
        {
            "format": {"const": "riemdp-private-means/2"},
            "header": closed(header),
            "releases": {"type": "array", "minItems": 1, "items": ref("release")},
        }
    )


def written(schema: dict[str, Any]) -> str:
    """Return the text of a schema."""
    return json.dumps(schema, separators=(",", ":"), ensure_ascii=False) + "\n"


def main() -> None:
    """Compare the stored schemas, or store them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="store them")
    write = parser.parse_args().write
    for name, schema in schemas().items():
        path = STORED / f"{name}.schema.json"
        if write:
            STORED.mkdir(exist_ok=True)
            path.write_text(written(schema), encoding="utf-8", newline="\n")
        elif not path.exists() or path.read_text(encoding="utf-8") != written(schema):
            print(f"{path.name} differs")


if __name__ == "__main__":
    main()
