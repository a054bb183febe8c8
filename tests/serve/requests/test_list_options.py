"""The options of reads."""

from __future__ import annotations

import pytest

from celadon.kube import GroupVersionResource, StatusError
from celadon.kube.catalogue import Resource, known_resources
from celadon.serve.http_messages import HttpRequest
from celadon.serve.requests.list_options import list_options, revision_of


def pods() -> Resource:
    found = known_resources().by_gvr(GroupVersionResource("", "v1", "pods"))
    assert found is not None
    return found


def asked(query: str) -> HttpRequest:
    return HttpRequest("GET", f"/api/v1/pods?{query}")


@pytest.mark.parametrize(
    ("query", "watch", "code", "part"),
    [
        ("labelSelector=a+b", False, 400, "unable to parse requirement"),
        ("fieldSelector=foo%3Dx", False, 400, "field label not supported: foo"),
        ("limit=x", False, 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
        ("resourceVersionMatch=Exact", False, 422, "forbidden unless resourceVersion is provided"),
        ("sendInitialEvents=1", False, 422, "sendInitialEvents is forbidden for list"),
        ("sendInitialEvents=0", True, 422, "sendInitialEvents requires setting"),
        ("continue=x", True, 422, "forbidden when continue is provided"),
    ],
)
def test_what_is_refused(query: str, watch: bool, code: int, part: str) -> None:
    with pytest.raises(StatusError, match=part) as refused:
        list_options(asked(query), pods(), watch=watch)
    assert refused.value.code == code


def test_options_of_one_object() -> None:
    options = list_options(asked("fieldSelector=spec.nodeName%3Dn"), pods(), watch=True)
    assert str(options.of_one("p").fields) == "spec.nodeName=n,metadata.name=p"
    assert options.of_one("p").has_selector


def test_a_watch_from_no_version_gets_initial_events() -> None:
    assert list_options(asked("watch=1"), pods(), watch=True).send_initial_events is True
    assert list_options(asked("resourceVersion=7"), pods(), watch=True).send_initial_events is None


@pytest.mark.parametrize("text", ["abc", "-1", " 1", str(1 << 64)])
def test_a_version_that_cannot_be_read(text: str) -> None:
    with pytest.raises(ValueError, match="resourceVersion: Invalid value"):
        revision_of(text)
