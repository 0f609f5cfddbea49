import json

import pytest

from riemdp import InvalidParameterError
from riemdp.privacy import Anchor, label_of_groups, parts_paid

ANCHOR = Anchor("study", 3, "ab12", "cd34")


def test_an_anchor_comes_back_from_its_document():
    document = json.loads(json.dumps(ANCHOR.document()))
    assert document == {"dataset": "study", "seq": 3, "charge_id": "ab12", "hash": "cd34"}
    assert Anchor.from_document(document) == ANCHOR


@pytest.mark.parametrize(
    "changed",
    [{"seq": 1.5}, {"seq": -1}, {"seq": True}, {"seq": "3"}, {"hash": 5}, {"more": 1}, "hash"],
    ids=str,
)
def test_what_is_no_anchor_is_refused(changed):
    document = ANCHOR.document()
    if isinstance(changed, str):
        del document[changed]
    else:
        document.update(changed)
    with pytest.raises(InvalidParameterError):
        Anchor.from_document(document)
    with pytest.raises(InvalidParameterError):
        Anchor.from_document(list(ANCHOR))


def test_a_label_says_how_many_parts_were_paid():
    assert parts_paid(label_of_groups("private_means", 12)) == 12
    for label in ("private_mean", "means of 0 groups", "means of x groups", "of 3 groups of 2", ""):
        assert parts_paid(label) == 0
    assert parts_paid(f"means of {'9' * 5000} groups") == 0


def test_a_part_is_written_where_there_is_one():
    whole = Anchor("study", 1, "id", "hash")
    assert "part" not in whole.document()
    part = whole._replace(part=2)
    assert part.document()["part"] == 2
    assert Anchor.from_document(part.document()) == part
    assert Anchor.from_document(whole.document()) == whole
