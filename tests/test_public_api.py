"""What callers may rely on, held against a stored description: see docs/stability.md."""

from __future__ import annotations

import dataclasses
import difflib

import pytest

import public_api
import riemdp


@pytest.fixture(scope="module")
def found():
    return list(public_api.lines())


def changes(found):
    stored = public_api.STORED.read_text(encoding="utf-8").splitlines()
    return [
        line
        for line in difflib.unified_diff(stored, found, "stored", "found", lineterm="", n=0)
        if not line.startswith("@@")
    ]


def test_the_public_interface_is_the_stored_one(found):
    differences = changes(found)
    assert not differences, "\n".join(
        [
            *differences,
            "",
            "If that is meant, say so in CHANGELOG.md and run `make api`.",
        ]
    )


@pytest.mark.parametrize(
    ("line", "to"),
    [
        ("plan(", "blueprint("),
        ("    contains(self, points)", "    contains(self, point)"),
        ("class GDP of Budget, Part(", "class GDP of Part("),
        ("riemdp verify ", "riemdp check "),
        ("BUDGET 3", "BUDGET 4"),
        ("mechanism tangent-gaussian", "mechanism gaussian"),
    ],
)
def test_a_change_is_seen(found, line, to):
    assert any(each.startswith(line) for each in found)
    changed = [to + each[len(line) :] if each.startswith(line) else each for each in found]
    assert len(changes(changed)) >= 2


def test_every_public_name_is_in_it(found):
    first = found[: found.index("")]
    names = [line.removeprefix("class ").split("(")[0].split()[0] for line in first[1:]]
    named = [name for name, line in zip(names, first[1:], strict=True) if line[0] != " "]
    assert named == sorted(riemdp.__all__)


def test_what_is_written_of_a_class_and_a_function():
    @dataclasses.dataclass
    class Base:
        size: int
        note: str = "none"

        def grow(self, by: int = 2, *, twice: bool = False) -> int:
            return by if twice else self.size

        @classmethod
        def empty(cls):
            return cls(0)

    class Derived(Base):
        @property
        def area(self):
            return self.size

        def _hidden(self):
            return 0

    Base.__module__ = Derived.__module__ = "riemdp.made_up"
    alone = list(public_api._described("Derived", Derived, {}))
    assert alone == [
        "class Derived(size, note='none')",
        "    area",
        "    empty(cls) (classmethod)",
        "    grow(self, by=2, *, twice=False)",
        "    note",
    ]
    beside = list(public_api._described("Derived", Derived, {id(Base): "riemdp.Base"}))
    assert beside == ["class Derived of Base(size, note='none')", "    area"]
