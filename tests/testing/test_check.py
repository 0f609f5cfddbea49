"""What can be checked, and under which names."""

from __future__ import annotations

import pytest

from riemdp import InvalidParameterError, Part, Sphere
from riemdp.testing import check_part, part_checks


class Flat(Sphere):
    name = "tests.Flat"
    curvature_bound = 0.0


@pytest.mark.parametrize("part", [None, Sphere, "Sphere", Part()])
def test_what_is_no_part_is_refused(part):
    with pytest.raises(InvalidParameterError, match="no part that can be checked"):
        check_part(part)


def test_the_checks_one_by_one(failures):
    names = [name for name, _ in part_checks(Sphere(2))]
    assert len(names) == len(set(names)) >= 11
    assert failures(Sphere(2)) == []


def test_a_part_that_documents_cannot_name(failures):
    assert failures(Flat(2), registered=False)[0] == "document"
