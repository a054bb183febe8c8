"""Which form of an answer a client accepts."""

from __future__ import annotations

import pytest

from celadon.apiserver.http_messages import JSON, HttpRequest
from celadon.apiserver.negotiation import (
    BUILT_IN_TYPES,
    RAW,
    YAML,
    Accepted,
    Form,
    accepted,
    accepted_of_error,
    require_route,
    require_stream,
)
from celadon.kube import StatusError

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def asked(accept: str, target: str = "/api/v1/pods") -> HttpRequest:
    return HttpRequest("GET", target, (("accept", accept),) if accept else ())


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("", Accepted()),
        ("*/*", Accepted()),
        ("application/yaml;q=0.5, application/vnd.kubernetes.protobuf", "protobuf"),
        (f"{TABLE},application/json", Accepted(form=Form.TABLE)),
        ("application/json;as=Table;v=v9;g=meta.k8s.io,application/json", Accepted()),
        ("application/xml,application/yaml", Accepted("application/yaml")),
        ("application/json;q=x,application/yaml", Accepted("application/yaml")),
        ("*/*;q=0.9,application/yaml;q=0.1", Accepted("application/yaml")),
        ("application/json;stream=", Accepted()),
        ("application/json;sv=v2,application/yaml;sv=v1", Accepted("application/yaml")),
        ("application/json;g=meta.k8s.io,application/yaml", Accepted("application/yaml")),
        ("application/json;v=v1,application/yaml", Accepted("application/yaml")),
        ("application/yaml;stream=watch,application/json", Accepted()),
        ("application/json;pretty=1=", Accepted(pretty=True)),
        ("application/json; pretty=1;pretty=0", Accepted()),
        ("a/b/c,application/json", Accepted()),
    ],
)
def test_the_best_clause_that_fits(accept: str, wanted: Accepted | str) -> None:
    if isinstance(wanted, str):
        wanted = Accepted("application/vnd.kubernetes.protobuf")
    assert accepted(asked(accept), BUILT_IN_TYPES) == wanted


@pytest.mark.parametrize(
    ("accept", "types", "watch", "message"),
    [
        (
            "application/vnd.kubernetes.protobuf",
            (JSON, YAML),
            False,
            "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml",
        ),
        (
            "application/yaml",
            BUILT_IN_TYPES,
            True,
            "only the following media types are accepted: application/json;stream=watch, "
            "application/vnd.kubernetes.protobuf;stream=watch",
        ),
        (
            "application/yaml, application/json",
            BUILT_IN_TYPES,
            True,
            "only the following media types are accepted: application/json;stream=watch, "
            "application/vnd.kubernetes.protobuf;stream=watch",
        ),
        (
            "application/json;as=Table;v=v9;g=meta.k8s.io",
            BUILT_IN_TYPES,
            True,
            "only the following media types are accepted: application/json, application/yaml, "
            "application/vnd.kubernetes.protobuf",
        ),
        (
            "application/*",
            BUILT_IN_TYPES,
            False,
            "406: Not Acceptable\n\nAvailable representations: application/json, "
            "application/yaml, application/vnd.kubernetes.protobuf",
        ),
    ],
)
def test_what_is_not_acceptable(
    accept: str, types: tuple[str, ...], watch: bool, message: str
) -> None:
    def take() -> None:
        found = accepted(asked(accept), types)
        if watch:
            require_stream(found, types)

    with pytest.raises(StatusError) as refused:
        take()
    assert (refused.value.code, str(refused.value)) == (406, message)


@pytest.mark.parametrize(
    ("agent", "query", "pretty"),
    [
        ("curl/8", "", True),
        ("curl/8", "?pretty=", True),
        ("kubectl", "", False),
        ("curl/8", "?pretty=no", False),
    ],
)
def test_pretty_by_query_or_by_who_asks(agent: str, query: str, pretty: bool) -> None:
    request = HttpRequest("GET", f"/api/v1/pods{query}", (("user-agent", agent),))
    assert accepted(request, BUILT_IN_TYPES).pretty is pretty


def test_of_several_headers_the_first_counts() -> None:
    headers = (("accept", "application/yaml"), ("accept", "application/json"))
    request = HttpRequest("GET", "/api/v1/pods?pretty=false", headers)
    assert accepted(request, BUILT_IN_TYPES) == Accepted("application/yaml")


def test_the_media_type_is_pretty_whatever_the_query_says() -> None:
    request = asked("application/json;pretty=1", "/api/v1/pods?pretty=false")
    assert accepted(request, BUILT_IN_TYPES).pretty


def test_some_types_show_no_whole_objects() -> None:
    protobuf = "application/vnd.kubernetes.protobuf"
    both = asked(f"{protobuf},application/yaml")
    assert accepted(both, BUILT_IN_TYPES, whole=(JSON, YAML)).media_type == YAML
    part = asked(f"{protobuf};as=PartialObjectMetadata;v=v1;g=meta.k8s.io")
    assert accepted(part, BUILT_IN_TYPES, whole=(JSON, YAML)).media_type == protobuf


@pytest.mark.parametrize("accept", ["*", "APPLICATION/JSON", "*/json", "application"])
def test_the_router_takes_types_to_the_letter(accept: str) -> None:
    require_route(asked(f"{accept},application/json;q=0"), (JSON,))
    with pytest.raises(StatusError, match="Not Acceptable"):
        require_route(asked(accept), (JSON,))


def test_a_table_of_what_has_none_is_the_next_clause() -> None:
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    assert accepted(asked(table), BUILT_IN_TYPES).form is Form.TABLE
    with pytest.raises(StatusError, match="only the following media types are accepted"):
        accepted(asked(table), BUILT_IN_TYPES, tables=False)
    found = accepted(asked(f"{table}, application/json"), BUILT_IN_TYPES, tables=False)
    assert found.form is Form.OBJECT


@pytest.mark.parametrize("accept", ["application/*", "text/html", "application/yaml"])
def test_a_router_knows_the_types_of_its_path(accept: str) -> None:
    with pytest.raises(StatusError, match=f"Available representations: {JSON}$"):
        require_route(asked(accept), (JSON,))


@pytest.mark.parametrize("accept", ["", "*/*", "text/html, application/json;as=Nope"])
def test_what_a_router_lets_through(accept: str) -> None:
    require_route(asked(accept), (JSON,))


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [("", Accepted()), ("application", RAW), (TABLE, RAW), (f"{TABLE},*/*", Accepted())],
)
def test_how_refusals_are_written(accept: str, wanted: Accepted) -> None:
    assert accepted_of_error(asked(accept)) == wanted
