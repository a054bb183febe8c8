"""Stacks and limits of calls: raised together, put back, and enough for what Go reads."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
import yaml

from celadon.apiserver import HttpAnswer, HttpRequest
from celadon.deep_recursion import BYTES_OF_CALL, STACK, deep_calls, own_process
from celadon.testing import KubeApi
from celadon.testing.handler_access import HandlerAccess

GO_READS = 10_000
"""Levels of nesting."""

LEVELS = {(3, 12): 450, (3, 13): 9_900}.get(sys.version_info[:2], GO_READS)
"""What these Pythons read, whose C code has a limit of its own, which nobody can raise
(docs/decisions/0041-depth.md)."""


def test_the_limit_is_raised_while_somebody_is_inside() -> None:
    before = sys.getrecursionlimit()
    first, second = deep_calls(), deep_calls(before * BYTES_OF_CALL * 2)
    second.__enter__()
    assert sys.getrecursionlimit() == before * 2
    first.__enter__()
    assert sys.getrecursionlimit() == STACK // BYTES_OF_CALL
    second.__exit__(None, None, None)
    assert sys.getrecursionlimit() == STACK // BYTES_OF_CALL
    first.__exit__(None, None, None)
    assert sys.getrecursionlimit() == before


def test_a_process_is_left_as_it_was() -> None:
    before = sys.getrecursionlimit(), threading.stack_size()
    with own_process():
        assert sys.getrecursionlimit() > before[0]
        assert threading.stack_size() == STACK
    assert (sys.getrecursionlimit(), threading.stack_size()) == before


WALKS = """
def through_generators(levels):
    return any(through_generators(levels - 1) for _ in (1,)) if levels else True

class Compared:
    def __eq__(self, other): return Compared() == other

def walk():
    for deep in (lambda: through_generators(limit), lambda: Compared() == 1):
        try: deep()
        except RecursionError: pass
        else: raise SystemExit("there is no limit")

import sys
from celadon.deep_recursion import deep_calls, deep_thread, own_process
with own_process():
    limit = sys.getrecursionlimit()
    walk()
with deep_calls():
    deep_thread(walk, "deep").join()
print("ended")
"""


def test_no_walk_ends_the_process() -> None:
    """Calls through C, which take the most of a stack, in the main thread and in another one."""
    run = [sys.executable, "-c", WALKS]
    ended = subprocess.run(run, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "ended\n"), ended.stderr


FOO = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.x.io}
spec:
  group: x.io
  scope: Namespaced
  names: {kind: Foo, plural: foos}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: foos}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [x.io], apiVersions: [v1], resources: [foos], operations: ["*"]}]
  validations:
  - expression: object == null || object.spec == object.spec
  - expression: object == null || oldObject == null || object == oldObject || true
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: foos}
spec: {policyName: foos, validationActions: [Deny]}
"""
FOOS = "/apis/x.io/v1/namespaces/default/foos"
AROUND = 2
"""Levels of an object around what is in its `spec`."""


@pytest.fixture(scope="module")
def api() -> Iterator[KubeApi]:
    with KubeApi(list(yaml.safe_load_all(FOO))) as server:
        yield server


class Asking:
    """What a client sends about one object whose spec is nested."""

    def __init__(self, api: KubeApi, name: str, opened: str, closed: str, levels: int) -> None:
        self.api = api
        self.nested = opened * (levels - AROUND) + "1" + closed * (levels - AROUND)
        head = f'"apiVersion": "x.io/v1", "kind": "Foo", "metadata": {{"name": "{name}"}}'
        self.text = f'{{{head}, "spec": {{"s": {self.nested}}}}}'
        self.path = f"{FOOS}/{name}"

    def ask(
        self, method: str, path: str, body: str = "", kind: str = "json", form: str = "json"
    ) -> HttpAnswer:
        headers = [
            ("authorization", f"Bearer {self.api.admin.token}"),
            ("content-type", f"application/{kind}"),
            ("accept", f"application/{form}"),
        ]
        return self.api.handle(HttpRequest(method, path, headers, body.encode()))

    def codes(self) -> list[int]:
        """Of every way in and out."""
        table = "json;as=Table;v=v1;g=meta.k8s.io"
        label = '{"metadata": {"labels": {"a": "b"}}}'
        added = f'[{{"op": "add", "path": "/spec/t", "value": {self.nested}}}]'
        merged = f'{{"spec": {{"u": {self.nested}}}}}'
        applied = self.text.replace('"metadata": {"name": "', '"metadata": {"name": "applied-')
        where = self.path.replace("/foos/", "/foos/applied-") + "?fieldManager=m"
        answers = [
            self.ask("POST", f"{FOOS}?dryRun=All", self.text, "yaml"),
            self.ask("POST", FOOS, self.text),
            self.ask("PATCH", self.path, label, "merge-patch+json"),
            self.ask("PATCH", self.path, added, "json-patch+json"),
            self.ask("PATCH", self.path, merged, "merge-patch+json"),
            self.ask("PATCH", where, applied, "apply-patch+yaml"),
            self.ask("PATCH", f"{where}2&force=true", applied, "apply-patch+yaml"),
            self.ask("GET", self.path),
            self.ask("GET", FOOS),
            self.ask("GET", FOOS, form=table),
            self.ask("DELETE", self.path),
            self.ask("DELETE", where.partition("?")[0]),
        ]
        return [answer.code for answer in answers]


MAPS, LISTS = ('{"a":', "}"), ("[", "]")
ALL_WELL = [201, 201, 200, 200, 200, 201, 200, 200, 200, 200, 200, 200]


@pytest.mark.parametrize(("opened", "closed"), [MAPS, LISTS])
@pytest.mark.parametrize(
    "levels", [100, 450, pytest.param(min(2_000, LEVELS), marks=pytest.mark.thorough)]
)
def test_objects_of_any_depth_come_and_go(
    api: KubeApi, levels: int, opened: str, closed: str
) -> None:
    assert Asking(api, f"n{levels}", opened, closed, levels).codes() == ALL_WELL


@pytest.mark.thorough
@pytest.mark.parametrize(("opened", "closed"), [MAPS, LISTS])
def test_the_deepest_and_what_is_deeper(api: KubeApi, opened: str, closed: str) -> None:
    deepest = Asking(api, "deepest", opened, closed, LEVELS)
    assert deepest.ask("POST", FOOS, deepest.text).code == 201
    assert deepest.ask("GET", deepest.path).code == 200
    assert deepest.ask("DELETE", deepest.path).code == 200
    unread = Asking(api, "unread", opened, closed, GO_READS)
    code = unread.ask("POST", f"{FOOS}?dryRun=All", unread.text).code
    assert code == (201 if LEVELS == GO_READS else 400)
    deeper = Asking(api, "deeper", opened, closed, GO_READS + 1)
    refused = deeper.ask("POST", FOOS, deeper.text)
    text = "couldn't get version/kind; json parse error: exceeded max depth"
    assert (refused.code, text in json.loads(refused.body)["message"]) == (400, True)
    refused = deeper.ask("PATCH", f"{deeper.path}?fieldManager=m", deeper.text, "apply-patch+yaml")
    assert json.loads(refused.body)["message"] == (
        "error decoding YAML: error converting YAML to JSON: yaml: exceeded max depth of 10000"
    )


def test_where_there_is_no_stack_it_is_an_answer() -> None:
    """A server in a loop of the caller's, whose limit of calls stays what it is."""

    async def answered() -> int:
        async with HandlerAccess() as server:
            await server.create(list(yaml.safe_load_all(FOO)))
            await server.settle()
            text = '{"apiVersion": "x.io/v1", "kind": "Foo", "metadata": {"name": "a"}, "spec": '
            body = (text + '{"a":' * 9_000 + "1" + "}" * 9_001).encode()
            bearer = ("authorization", f"Bearer {server.admin_token}")
            headers = [bearer, ("content-type", "application/json")]
            return (await server.handle(HttpRequest("POST", FOOS, headers, body))).code

    assert asyncio.run(answered()) == 400
