"""However many processes judge, and however they end, what comes out is the same."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from celadon.cli.check import check_run
from celadon.cli.check.check_run import judged_in_order, workers_for
from celadon.cli.check.notices import Findings, Sightings
from celadon.cli.main import main
from celadon.cli.reading.documents import BLOCK, Document, DocumentArchive, Problem
from celadon.cli.reading.locations import Chunk
from celadon.cli.report.report_model import CHECK
from tests.admission.building import policy_document

COUNT = 3 * BLOCK + 5
RULE = {
    "apiGroups": ["", "example.com"],
    "apiVersions": ["v1"],
    "operations": ["CREATE"],
    "resources": ["configmaps", "toys"],
}
CONSTRAINTS = {"resourceRules": [RULE]}
REGISTRATION = {"apiVersion": "admissionregistration.k8s.io/v1"}


def one(number: int) -> dict[str, object]:
    """Every so many are denied, invalid, not decoded, of an unknown kind, or ignored an error."""
    metadata = {"name": f"c{number}", "namespace": f"n{number // BLOCK}"}
    if number % 50 == 1:
        return {"apiVersion": "example.com/v1", "kind": "Toy", "metadata": metadata}
    if number % 50 == 2:
        metadata["name"] = "NOT A NAME"
    data: object = {"n": str(number)}
    if number % 50 == 3:
        data = 7
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


@pytest.fixture
def inputs(tmp_path: Path) -> list[str]:
    policies = [
        policy_document(
            "many",
            matchConstraints=CONSTRAINTS,
            validations=[{"expression": "!object.metadata.name.endsWith('7')"}],
            auditAnnotations=[{"key": "k", "valueExpression": "object.metadata.name"}],
        ),
        policy_document(
            "careless",
            failurePolicy="Ignore",
            matchConstraints=CONSTRAINTS,
            validations=[{"expression": "object.data.x == 'y'"}],
        ),
        policy_document(
            "never",
            matchConstraints=CONSTRAINTS,
            matchConditions=[{"name": "no", "expression": "namespaceObject == null"}],
        ),
    ]
    documents = []
    for given in policies:
        name = given["metadata"]["name"]
        documents.append({**REGISTRATION, "kind": "ValidatingAdmissionPolicy", **given})
        spec = {"policyName": name, "validationActions": ["Deny"]}
        kind = "ValidatingAdmissionPolicyBinding"
        documents.append({**REGISTRATION, "kind": kind, "metadata": {"name": name}, "spec": spec})
    policy_file, stream = tmp_path / "policies.json", tmp_path / "stream.json"
    policy_file.write_text("\n".join(map(json.dumps, documents)))
    stream.write_text("\n".join(json.dumps(one(number)) for number in range(COUNT)))
    return ["-f", str(policy_file), str(stream)]


@pytest.mark.thorough
@pytest.mark.parametrize("form", CHECK.names)
def test_the_output_does_not_depend_on_the_processes(
    form: str, inputs: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    outcomes = []
    for jobs in ("1", "2", "5"):
        code = main(["check", "--jobs", jobs, "-o", form, *inputs])
        outcomes.append((code, *capfd.readouterr()))
    assert outcomes[0][0] == 2
    assert "c7" in outcomes[0][1]
    assert outcomes[1:] == outcomes[:1] * 2


def archive() -> DocumentArchive:
    made = DocumentArchive()
    for number in range(COUNT):
        chunk = Chunk("f", "", 1, 0, is_json=True)
        made.append(Document(chunk, (), {"apiVersion": "v1", "kind": str(number)}))
    return made


def names(documents: Sequence[Document], tick: Callable[[], None]) -> Findings:
    found = Findings(Sightings(wants_namespaces=False), len(documents))
    for document in documents:
        found.unsendable.append(Problem("f", 1, document.value["kind"]))
        tick()
    return found


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_blocks_come_in_their_order(workers: int) -> None:
    ticks: list[None] = []
    blocks = judged_in_order(names, archive(), workers, lambda: ticks.append(None))
    found = [one.message for block in blocks for one in block.unsendable]
    assert found == [str(number) for number in range(COUNT)]
    assert len(ticks) == COUNT


def test_what_a_worker_leaves_undone_is_done_here() -> None:
    parent = os.getpid()

    def judged(documents: Sequence[Document], tick: Callable[[], None]) -> Findings:
        if os.getpid() != parent and documents[0].value["kind"] != "0":
            raise MemoryError
        return names(documents, tick)

    blocks = judged_in_order(judged, archive(), 2, lambda: None)
    found = [one.message for block in blocks for one in block.unsendable]
    assert found == [str(number) for number in range(COUNT)]


def test_workers_end_with_whom_they_work_for(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    fork = os.fork

    def counted() -> int:
        process = fork()
        started.append(process)
        return process

    monkeypatch.setattr(os, "fork", counted)
    blocks = judged_in_order(names, archive(), 3, lambda: None)
    next(blocks)
    blocks.close()
    assert len(started) == 3
    for process in started:
        with pytest.raises(ChildProcessError):
            os.waitpid(process, os.WNOHANG)


def test_how_many_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_run, "possible_workers", lambda wanted: wanted or 3)
    assert workers_for(archive(), 0) == 3
    assert workers_for(archive(), 1) == 1
    assert workers_for(archive(), 99) == 4
    assert workers_for(DocumentArchive(), 0) == 1
