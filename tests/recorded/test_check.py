"""`celadon check` gives the verdicts that a real server gave: one write path serves both.

Whatever of the recorded policies the command can be asked is asked of it: the objects of a scenario
and what a client wanted to create are written to files, and what the command says is compared with
the recorded answer: whether the object was let in, the sentence, the warnings.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

import pytest

from tests.cli.files import run
from tests.paths import shared_folder
from tests.recorded.scenarios import SAMPLE

RECORDED: Final = shared_folder() / "conformance"
FOLDER: Final = RECORDED / "policy"
FIELDS: Final = (
    "api/cr-create-and-default",
    "api/cr-duplicate-fields",
    "api/kubectl-create-strict",
    "fuzz/api/cr-random-schema-22",
    "fuzz/api/cr-random-schema-51",
    "fuzz/api/cr-random-schema-71",
)
"""Recordings about fields that kinds do not have, or that documents have twice."""
USERS: Final = {
    "admin": ("admin", "system:masters"),
    "alice": ("alice", "devs"),
    "bob": ("bob", "ops", "qa"),
}
EVERYBODY: Final = "system:authenticated"
ALONE: Final = ("--no-generated-pods",)
"""The recorded server ran no controllers of workloads."""

INEXPRESSIBLE: Final = {
    "authz-forbidden-before-admission": "whether the client may create at all is not asked",
    "denial-generate-name": "the server ends a generated name at random",
    "match-policy-lease-candidates": "of versions that are off by default it knows too little",
    "obj-namespace-missing": "a namespace that is not given is assumed to exist",
    "op-object-server-fields": "a manifest has no managed fields",
    "op-options-field-manager": "the command asks as kubectl does, which names itself",
    "user-admin": "users of the command have no uid",
    "user-alice-and-bob": "users of the command have no uid",
}

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="conformance/policy not found")


def query_options(query: str) -> tuple[str, ...] | None:
    """The options for a query; None if there are none for it."""
    given = dict(parse_qsl(query))
    dry_run = {"All": ("--dry-run",), None: ()}.get(given.pop("dryRun", None))
    given.pop("fieldManager", None)
    validation = given.pop("fieldValidation", "Warn")
    return None if given or dry_run is None else (*dry_run, "--field-validation", validation)


@dataclass(frozen=True, slots=True)
class Question:
    """A create request, what was there before it, and what a server said to it."""

    cluster: tuple[Any, ...]
    wanted: Any
    options: tuple[str, ...]
    answer: Any


def questions(scenario: Any) -> Iterator[Question]:
    """Those steps that a command can be asked, up to the first that changes what is there in
    another way than by creating."""
    cluster = [one.get("body", one) for one in scenario["setup"]]
    for step in scenario["steps"]:
        path, _, query = step["path"].partition("?")
        method, body, answer = step.get("method", "GET"), step.get("body"), step["want"]
        if method == "GET":
            continue
        wanted = placed(path, body) if method == "POST" and "headers" not in step else None
        user = step.get("user", "admin")
        options = query_options(query)
        if wanted is not None and options is not None and user in USERS and is_judged(wanted):
            yield Question(tuple(cluster), wanted, (*identity(user), *options), answer)
        if answer["code"] < 300 and "dryRun=All" not in query:
            if wanted is None:
                return
            cluster.append(wanted)


def placed(path: str, body: Any) -> Any:
    """The body in the namespace of the path; None if the path is no collection. A text is left as
    it is."""
    if isinstance(body, str):
        return body
    if not isinstance(body, dict) or "kind" not in body:
        return None
    parts = path.strip("/").split("/")
    place = parts[2:] if parts[0] == "api" else parts[3:]
    if len(place) == 1:
        return body
    if len(place) != 3 or place[0] != "namespaces":
        return None
    return {**body, "metadata": {"namespace": place[1], **body.get("metadata", {})}}


def is_judged(body: Any) -> bool:
    """Policies are for the command to use, not to judge."""
    version = "" if isinstance(body, str) else body.get("apiVersion")
    return not str(version).startswith("admissionregistration.k8s.io/")


def identity(user: str) -> Iterator[str]:
    name, *groups = USERS[user]
    yield from ("--as", name)
    for group in (*groups, EVERYBODY):
        yield from ("--as-group", group)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=() if number % SAMPLE == 0 else pytest.mark.thorough)
        for number, path in enumerate(sorted(FOLDER.glob("*.json")))
        if path.stem not in INEXPRESSIBLE
    ],
)
def test_the_command_agrees(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compare(path, tmp_path, capsys)


@pytest.mark.parametrize("name", FIELDS)
def test_lost_fields(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(RECORDED / f"{name}.json", tmp_path, capsys)


def compare(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> int:
    """How many questions of a recording were asked."""
    number = 0
    cluster, wanted = tmp_path / "cluster.json", tmp_path / "wanted.yaml"
    for asked in questions(json.loads(path.read_text())):
        cluster.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": asked.cluster}))
        number += 1
        is_text = isinstance(asked.wanted, str)
        wanted.write_text(asked.wanted if is_text else json.dumps(asked.wanted))
        words = ("-f", str(cluster), "-o", "json", *ALONE, *asked.options, str(wanted))
        _, out, _ = run(capsys, "check", *words)
        (found,) = json.loads(out)["objects"]
        refusal = None
        if asked.answer["code"] != 201:  # a message whose order is random is not recorded
            refusal = asked.answer["body"].get("message", found.get("message"))
        assert found.get("message") == refusal
        assert found["verdict"] in (
            ("denied", "invalid") if refusal else ("admitted", "warned", "untouched")
        )
        said = [one.encode("latin-1").decode() for one in asked.answer["warnings"]]
        assert found.get("warnings", []) == said
    return number


def test_most_recordings_can_be_asked() -> None:
    """The test above would hold if nothing were asked at all."""
    every = [json.loads(one.read_text()) for one in FOLDER.glob("*.json")]
    asked = [len(list(questions(one))) for one in every]
    assert sum(map(bool, asked)) > len(every) / 2
    assert sum(asked) > len(every)
