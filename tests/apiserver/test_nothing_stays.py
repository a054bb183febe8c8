"""What a request leaves behind goes when it is over, not at some later collection of garbage.

Collections are rare in a server, because it hardly makes garbage. An error that some frame keeps,
which the error keeps by its traceback, would hold the body of its request until then.
"""

from __future__ import annotations

import gc
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from celadon.apiserver.http_messages import HttpAnswer
from tests.apiserver.asking import ask, make
from tests.apiserver.in_process import Running

MAPS = "/api/v1/namespaces/default/configmaps"
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
LARGE = {"metadata": {"generateName": "a-"}, "data": {"x": "y" * 60_000}}
RULES = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE"],
    "resources": ["configmaps"],
}
POLICY = {
    "metadata": {"name": "p"},
    "spec": {
        "matchConstraints": {"resourceRules": [RULES]},
        "validations": [{"expression": "!has(object.data) || !('denied' in object.data)"}],
    },
}
BINDING = {"metadata": {"name": "p"}, "spec": {"policyName": "p", "validationActions": ["Deny"]}}
REQUESTS: dict[str, tuple[int, Callable[[Running], HttpAnswer]]] = {
    "no JSON": (
        400,
        lambda r: ask(r, "POST", MAPS, b"\xff" * 200_000, content_type="application/json"),
    ),
    "JSON of another kind": (
        400,
        lambda r: ask(r, "POST", MAPS, {"kind": "Pod", "apiVersion": "v1"}),
    ),
    "large and good": (201, lambda r: ask(r, "POST", MAPS, LARGE)),
    "YAML that nests": (
        400,
        lambda r: ask(r, "POST", MAPS, b"[" * 20_000, content_type="application/yaml"),
    ),
    "not found": (404, lambda r: ask(r, "GET", f"{MAPS}/nope")),
    "no path": (404, lambda r: ask(r, "GET", "/apis/nope/v1/nope")),
    "invalid": (422, lambda r: ask(r, "POST", MAPS, {"metadata": {"name": "A_"}})),
    "exists": (409, lambda r: ask(r, "POST", MAPS, {"metadata": {"name": "there"}, "data": {}})),
    "a conflict": (
        409,
        lambda r: ask(
            r, "PUT", f"{MAPS}/there", {"metadata": {"name": "there", "resourceVersion": "1"}}
        ),
    ),
    "a policy": (
        422,
        lambda r: ask(r, "POST", MAPS, {"metadata": {"name": "d"}, "data": {"denied": ""}}),
    ),
    "a patch that is none": (
        400,
        lambda r: ask(
            r, "PATCH", f"{MAPS}/there", b'{"a"', content_type="application/merge-patch+json"
        ),
    ),
    "a JSON patch that fails": (
        422,
        lambda r: ask(
            r,
            "PATCH",
            f"{MAPS}/there",
            [{"op": "remove", "path": "/nope"}],
            content_type="application/json-patch+json",
        ),
    ),
    "a precondition": (
        409,
        lambda r: ask(r, "DELETE", f"{MAPS}/there", {"preconditions": {"uid": "nope"}}),
    ),
    "a long selector": (400, lambda r: ask(r, "GET", f"{MAPS}?labelSelector=" + "a=b=c," * 9_000)),
    "a long Accept": (406, lambda r: ask(r, "GET", MAPS, accept="x/y," * 9_000)),
    "forbidden": (403, lambda r: ask(r, "GET", MAPS, token="alice-token")),
    "unauthorized": (401, lambda r: ask(r, "GET", MAPS, token="nobody's")),
    "a continue token that is none": (400, lambda r: ask(r, "GET", f"{MAPS}?continue=bm9wZQ")),
}


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    running = Running()
    make(running, MAPS, {"metadata": {"name": "there"}})
    make(running, POLICIES, POLICY)
    make(running, f"{POLICIES.removesuffix('policies')}policybindings", BINDING)
    # Only what comes from now on is looked at by collections, each of which would take a second.
    gc.collect()
    gc.freeze()
    yield running
    running.close()


def kept_frames(action: Callable[[], Any]) -> list[str]:
    """Functions whose frames only a collection of garbage finds."""
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        action()
        gc.garbage.clear()
        gc.collect()
        found = [one for one in gc.garbage if isinstance(one, types.FrameType)]
        return [one.f_code.co_qualname for one in found]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@pytest.mark.thorough
@pytest.mark.parametrize("name", REQUESTS)
def test_of_a_request_no_frame_stays(server: Running, name: str) -> None:
    code, request = REQUESTS[name]
    assert request(server).code == code  # whatever is made once is made

    def once_more() -> None:
        request(server)
        server.settle()

    assert kept_frames(once_more) == []


def test_a_frame_that_stays_is_found() -> None:
    def fail() -> None:
        error = ValueError()
        raise error

    def action() -> None:
        with pytest.raises(ValueError):  # noqa: PT011 - it has no message
            fail()

    assert "fail" in " ".join(kept_frames(action))
