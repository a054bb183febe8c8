"""A test of policies, as it is run: documents in hand, nothing left to be read.

A `PolicyTest` is a set of policies, what there is in the cluster, and cases. Each `Case` is one
request, and what is expected of it. Where it was read from does not matter: `written_tests` makes
tests of files of kind PolicyTest; whoever has tests in another form makes the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Final

from celadon.admission import ADMIN, Operation
from celadon.cli.checking.check_report import Place
from celadon.cli.checking.server_plugins.plugin_choice import PluginChoice
from celadon.cli.policy_tests.expectations import Expectation
from celadon.cli.policy_tests.vacuities import Doubt
from celadon.cli.reading.documents import Document
from celadon.cli.reading.locations import Chunk
from celadon.cli.reading.problems import Problem
from celadon.kube import JsonObject, Ruling, User
from celadon.records import dataclass

DEFAULT_NOW: Final = "2026-01-01T00:00:00Z"
"""When objects of tests are created, unless they say so: a test means the same every day."""


@dataclass(frozen=True, slots=True)
class AuthorizerAnswer:
    """What `authorizer` says to some questions. `asked` has what a question must be, by the names
    of the fields of `celadon.kube.Attributes`, and `user` for the name of the user; what is not
    named may be anything."""

    ruling: Ruling
    asked: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One request and what is expected of it.

    `object` is what the request is about; for a DELETE, what is deleted. `old` is what it replaces
    (UPDATE). `cluster` is what there is besides the test's own: params, bindings, namespaces; a
    later object replaces an earlier one of the same kind and name. `policies` names those under
    test (empty: all that are loaded). `versions` are releases of Kubernetes (empty: those of the
    test, else that of the command). `skip` is a reason not to run it. `generated` is the kind of
    what controllers would create of the object: the request is about that, and theirs.
    """

    name: str
    place: Place
    expect: Expectation
    object: Document
    old: Document | None = None
    operation: Operation = Operation.CREATE
    subresource: str = ""
    namespace: str = "default"
    user: User = ADMIN
    dry_run: bool = False
    cluster: tuple[Document, ...] = ()
    answers: tuple[AuthorizerAnswer, ...] = ()
    policies: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    skip: str = ""
    generated: str = ""


@dataclass(frozen=True, slots=True)
class PolicyTest:
    """Cases that share policies and a cluster. `cluster` has the policies and bindings too;
    `files` are those that it was read from, the test's own first. `problems` are what could not be
    read: without it, the cases are not worth to be run. `assumed` is what a test of another tool
    takes for granted and a cluster does not."""

    name: str
    file: str
    cluster: tuple[Document, ...]
    cases: tuple[Case, ...]
    versions: tuple[str, ...] = ()
    now: str = DEFAULT_NOW
    files: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    assumed: tuple[Doubt, ...] = ()
    plugins: PluginChoice | None = None
    """The server's own plugins that are asked beside policies; tests of other tools ask none."""


def plain_document(value: JsonObject, name: str) -> Document:
    """An object that is in no file, as a document; `name` stands where a file's would, and files
    that it names are relative to it."""
    return Document(Chunk(name, json.dumps(value), 1, 0, is_json=True), (), dict(value))
