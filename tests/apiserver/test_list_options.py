"""The options of reads."""

from __future__ import annotations

import pytest

from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.request_info import list_options, revision_of
from celadon.kube import GroupVersionResource, StatusError
from celadon.kube.resources import Resource, known_resources


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
        list_options(asked(f"{query}&watch=1" if watch else query), pods())
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("query", "code", "part"),
    [
        ("limit=x&labelSelector=a/b/c", 400, "strconv.ParseInt"),
        ("limit=&fieldSelector=foo", 400, "strconv.ParseInt"),
        ("timeoutSeconds=y&limit=x", 400, 'parsing "y"'),
        ("limit=1.5&resourceVersionMatch=exact&sendInitialEvents=1", 400, 'parsing "1.5"'),
        ("labelSelector=%28&resourceVersionMatch=exact", 400, "found '\\('"),
        ("fieldSelector=foo&resourceVersionMatch=exact", 400, "can't understand 'foo'"),
        ("fieldSelector=spec.x%3D1&resourceVersionMatch=exact", 422, "Unsupported value"),
        ("fieldSelector=spec.x%3D1&sendInitialEvents=&watch=x", 422, "requires setting"),
    ],
)
def test_options_are_read_then_judged_then_are_fields_looked_up(
    query: str, code: int, part: str
) -> None:
    with pytest.raises(StatusError, match=part) as refused:
        list_options(asked(query), pods())
    assert refused.value.code == code


def test_whether_it_is_a_watch_is_what_the_query_says() -> None:
    """The old paths `/watch/...` may leave it out, and get the options of a list."""
    assert list_options(asked("resourceVersion=0"), pods()).send_initial_events is None
    assert list_options(asked("resourceVersion=0&watch="), pods()).send_initial_events is True


def test_a_term_of_nothing_selects_everything() -> None:
    options = list_options(asked("fieldSelector=%3D&labelSelector="), pods())
    assert not options.has_selector
    assert list_options(asked("labelSelector=a"), pods()).has_selector


def test_options_of_one_object() -> None:
    options = list_options(asked("fieldSelector=spec.nodeName%3Dn&watch=1"), pods())
    assert str(options.of_one("p").fields) == "spec.nodeName=n,metadata.name=p"
    assert options.of_one("p").has_selector


def test_a_watch_from_no_version_gets_initial_events() -> None:
    assert list_options(asked("watch=1"), pods()).send_initial_events is True
    assert list_options(asked("resourceVersion=7&watch=1"), pods()).send_initial_events is None


@pytest.mark.parametrize("text", ["abc", "-1", " 1", str(1 << 64)])
def test_a_version_that_cannot_be_read(text: str) -> None:
    with pytest.raises(ValueError, match="resourceVersion: Invalid value"):
        revision_of(text)


@pytest.mark.parametrize(
    "query", ["limit=a;b", "labelSelector=%zz", "limit=5&%=1&limit;", "limit=%3"]
)
def test_parameters_that_go_does_not_read_go_unnoticed(query: str) -> None:
    options = list_options(asked(query), pods())
    assert (options.has_selector, options.limit in (0, 5)) == (False, True)
    assert asked("a=1&b=x;y&c=%4x&a=%32").query == {"a": ["1", "2"]}
