"""The playground decides as a real server did: what `check` can be asked, its page can be asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from celadon.cli.playground.judging import Desk
from celadon.cli.playground.panes import FORMAT, state_of
from tests.recorded.test_check import FOLDER, INEXPRESSIBLE, Question, questions

OURS: Final = {name for name in INEXPRESSIBLE if not name.startswith("user-")}
"""The page knows users with a uid."""
UIDS: Final = {"admin": "admin-uid", "alice": "alice-uid", "bob": "bob-uid"}

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="conformance/policy not found")


def state_of_question(asked: Question) -> dict[str, Any]:
    """What the page would hold."""
    given = list(asked.options)
    words: dict[str, list[str]] = {}
    while given:
        name = given.pop(0)
        words.setdefault(name, []).append("" if name == "--dry-run" else given.pop(0))
    (name,) = words["--as"]
    user = {"username": name, "groups": words["--as-group"], "uid": UIDS[name]}
    cluster = {"apiVersion": "v1", "kind": "List", "items": asked.cluster}
    wanted = asked.wanted
    return {
        "version": FORMAT,
        "mode": "validating",
        "fieldValidation": words["--field-validation"][0],
        "dryRun": "--dry-run" in words,
        "panes": {
            "cluster": json.dumps(cluster),
            "object": wanted if isinstance(wanted, str) else json.dumps(wanted),
            "user": json.dumps(user),
        },
    }


@pytest.mark.thorough
@pytest.mark.parametrize(
    "path",
    [one for one in sorted(FOLDER.glob("*.json")) if one.stem not in OURS],
    ids=lambda path: path.stem,
)
def test_the_playground_agrees(path: Path) -> None:
    for asked in questions(json.loads(path.read_text())):
        objects = Desk().verdict(state_of(state_of_question(asked)))["report"]["objects"]
        (found,) = (one for one in objects if "generatedBy" not in one)
        refusal = None
        if asked.answer["code"] != 201:  # a message whose order is random is not recorded
            refusal = asked.answer["body"].get("message", found.get("message"))
            assert found["code"] == asked.answer["code"]
        assert found.get("message") == refusal
        assert found["allowed"] is (refusal is None)
        said = [one.encode("latin-1").decode() for one in asked.answer["warnings"]]
        assert found.get("warnings", []) == said
