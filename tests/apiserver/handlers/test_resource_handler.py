"""In which order the steps of a request come: what is wrong first is what is said."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.apiserver.asking import ask, make, said
from tests.apiserver.in_process import Running

NS = "/api/v1/namespaces/default"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
NOT_A_FORM = "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io"
STREAMS = (
    "only the following media types are accepted: application/json;stream=watch, "
    "application/vnd.kubernetes.protobuf;stream=watch"
)
INCLUDED = (
    'Unable to convert to Table as requested: includeObject: Invalid value: "x": must be '
    "'Metadata', 'Object', 'None', or empty"
)
NUMBER = 'strconv.ParseInt: parsing "x": invalid syntax'
UNFINISHED = "found '(', expected: !, identifier, or 'end of string'"
NO_MATCH = (
    'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: '
    "resourceVersionMatch is forbidden unless resourceVersion is provided"
)
FIELDS = 'is not a known field selector: only "metadata.name", "metadata.namespace"'
NOT_ROUTED = (
    "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
    "application/vnd.kubernetes.protobuf"
)
ALSO_STREAMS = ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
VERSION = 'resourceVersion: Invalid value: " ": strconv.ParseUint: parsing " ": invalid syntax'


@pytest.mark.parametrize(
    ("query", "accept", "code", "message"),
    [
        ("limit=x&includeObject=x", TABLE, 400, NUMBER),
        ("labelSelector=%28&includeObject=x", TABLE, 400, UNFINISHED),
        ("includeObject=x&resourceVersion=%20", TABLE, 400, f"invalid resource version: {VERSION}"),
        ("includeObject=x", TABLE, 400, INCLUDED),
        ("watch=1&limit=x", "application/yaml", 400, NUMBER),
        ("watch=1&resourceVersion=%20&includeObject=x", TABLE, 500, VERSION),
        ("watch=1&resourceVersion=%20", "application/yaml", 500, VERSION),
        ("watch=1&timeoutSeconds=1&includeObject=x", TABLE, 400, INCLUDED),
        ("watch=1&timeoutSeconds=1", "application/yaml", 406, STREAMS),
        ("limit=x", "application/*", 406, NOT_ROUTED + ALSO_STREAMS),
        ("fieldSelector=metadata.name%3Dp", "application/*", 406, NOT_ROUTED + ALSO_STREAMS),
    ],
)
def test_reads_of_collections(
    running: Running, query: str, accept: str, code: int, message: str
) -> None:
    answer = ask(running, "GET", f"{NS}/configmaps?{query}", accept=accept)
    if accept == "application/yaml":  # as are errors
        assert answer.code == code
    else:
        assert said(answer) == (code, message)


def test_what_cannot_be_watched_is_said_after_the_options(running: Running) -> None:
    path = "/api/v1/componentstatuses?watch=1"
    assert said(ask(running, "GET", f"{path}&limit=x")) == (400, NUMBER)
    assert ask(running, "GET", path).code == 405


def test_what_is_no_patch_is_said_before_it_is_asked_how_to_answer(running: Running) -> None:
    for accept in (NOT_A_FORM, "text/html"):
        answer = ask(
            running, "PATCH", f"{NS}/configmaps/x", b"{}", accept=accept, content_type="text/css"
        )
        assert answer.code == 415


@pytest.mark.parametrize(
    ("method", "code"),
    [("POST", 415), ("PUT", 422)],
)
def test_what_is_wrong_with_a_body_and_with_options(
    running: Running, method: str, code: int
) -> None:
    """A create looks for a reader of the body first, an update at the options."""
    path = f"{NS}/configmaps" if method == "POST" else f"{NS}/configmaps/x"
    answer = ask(running, method, f"{path}?dryRun=x", b"{}", content_type="text/css")
    assert answer.code == code


@pytest.fixture
def kept(running: Running) -> Iterator[str]:
    make(running, f"{NS}/configmaps", {"metadata": {"name": "kept"}})
    yield f"{NS}/configmaps/kept"
    ask(running, "DELETE", f"{NS}/configmaps/kept")


@pytest.mark.parametrize(
    ("query", "code", "message"),
    [
        ("limit=x&dryRun=x", 400, NUMBER),
        ("fieldSelector=a%3Db&resourceVersionMatch=Exact&dryRun=x", 422, NO_MATCH),
        ("fieldSelector=a%3Db&dryRun=x", 400, f'"a" {FIELDS}'),
        ("watch=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan&limit=x", 400, NUMBER),
    ],
)
def test_deletions_of_collections_say_first_what_is_wrong_with_the_selection(
    running: Running, kept: str, query: str, code: int, message: str
) -> None:
    assert said(ask(running, "DELETE", f"{NS}/configmaps?{query}")) == (code, message)
    assert ask(running, "GET", kept).code == 200


def test_what_a_table_cannot_include_is_said_when_all_is_done(running: Running) -> None:
    path, body = f"{NS}/configmaps", {"metadata": {"name": "done"}}
    answer = ask(running, "POST", f"{path}?includeObject=x", body, accept=TABLE)
    assert said(answer) == (400, INCLUDED)
    assert ask(running, "GET", f"{path}/done").code == 200
    assert said(ask(running, "DELETE", f"{path}/done?includeObject=x", accept=TABLE))[0] == 400
    assert ask(running, "GET", f"{path}/done").code == 404


def test_subresources_without_tables(running: Running) -> None:
    answer = ask(running, "GET", f"{NS}/pods/p/ephemeralcontainers", accept=TABLE)
    assert answer.code == 406


@pytest.mark.parametrize("group", ["/api/v1", "/apis/events.k8s.io/v1"])
def test_events_are_read_from_the_store_itself(running: Running, group: str) -> None:
    """There is no cache of them that could come to a revision; a server does not wait for it."""
    path = f"{group}/namespaces/default/events"
    unreadable = f"invalid resource version: {VERSION}"
    for one in (path, f"{path}/x"):
        assert said(ask(running, "GET", f"{one}?resourceVersion=%20")) == (400, unreadable)
        late = ask(running, "GET", f"{one}?resourceVersion=99999999")
        assert late.code == 504
        assert "Retry-After" not in dict(late.headers)


METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"


@pytest.mark.parametrize(
    "accept", ["application/json", "application/vnd.kubernetes.protobuf", METADATA]
)
def test_watchers_of_one_form_are_sent_the_same_bytes(running: Running, accept: str) -> None:
    """The same object, so that nothing is encoded again, and chunks are made once."""
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "shown-"}}
    name = make(running, f"{NS}/configmaps", made)["metadata"]["name"]
    query = f"watch=1&resourceVersion=0&fieldSelector=metadata.name%3D{name}"
    parts = []
    for _ in range(2):
        stream = ask(running, "GET", f"{NS}/configmaps?{query}", accept=accept).stream
        assert stream is not None
        parts.append(running.wait_for(anext(stream)))
        running.wait_for(stream.aclose())
    assert parts[0] is parts[1]
