"""Status objects: their JSON, and one text per reason."""

from __future__ import annotations

import pytest

from celadon.kube import fieldpath, status
from celadon.kube.fieldpath import MOST_ERROR_TEXT, ROOT
from celadon.kube.names import GroupKind, GroupResource
from celadon.kube.status import Status, StatusDetails, StatusError

PODS = GroupResource("", "pods")
DEPLOYMENTS = GroupResource("apps", "deployments")


@pytest.mark.parametrize(
    ("error", "code", "reason", "message"),
    [
        (status.bad_request("no"), 400, "BadRequest", "no"),
        (status.unauthorized(), 401, "Unauthorized", "Unauthorized"),
        (status.forbidden(PODS, "p", "no"), 403, "Forbidden", 'pods "p" is forbidden: no'),
        (
            status.forbidden(DEPLOYMENTS, "", "no"),
            403,
            "Forbidden",
            "deployments.apps is forbidden: no",
        ),
        (
            status.forbidden(GroupResource("", ""), "", "no"),
            403,
            "Forbidden",
            "forbidden: no",
        ),
        (status.not_found(DEPLOYMENTS, "d"), 404, "NotFound", 'deployments.apps "d" not found'),
        (
            status.route_not_found(),
            404,
            "NotFound",
            "the server could not find the requested resource",
        ),
        (
            status.method_not_allowed(),
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        ),
        (
            status.verb_not_supported(DEPLOYMENTS, "patch"),
            405,
            "MethodNotAllowed",
            'patch is not supported on resources of kind "deployments.apps"',
        ),
        (
            status.not_acceptable(["a/b", "c/d"]),
            406,
            "NotAcceptable",
            "only the following media types are accepted: a/b, c/d",
        ),
        (status.already_exists(PODS, "p"), 409, "AlreadyExists", 'pods "p" already exists'),
        (
            status.already_exists(PODS, "p", being_deleted=True),
            409,
            "AlreadyExists",
            'object is being deleted: pods "p" already exists',
        ),
        (
            status.generated_name_exists(PODS, "p"),
            409,
            "AlreadyExists",
            'pods "p" already exists, the server was not able to generate a unique name for the '
            "object",
        ),
        (
            status.modified(PODS, "p"),
            409,
            "Conflict",
            'Operation cannot be fulfilled on pods "p": the object has been modified; please apply '
            "your changes to the latest version and try again",
        ),
        (status.expired("old"), 410, "Expired", "old"),
        (
            status.request_entity_too_large("limit is 3145728"),
            413,
            "RequestEntityTooLarge",
            "Request entity too large: limit is 3145728",
        ),
        (
            status.unsupported_media_type(["a/b"]),
            415,
            "UnsupportedMediaType",
            "the body of the request was in an unknown format - accepted media types include: a/b",
        ),
        (status.too_many_requests("slow", 1), 429, "TooManyRequests", "Too many requests: slow"),
        (status.internal_error("x"), 500, "InternalError", "Internal error occurred: x"),
        (status.plain_error("x"), 500, "", "x"),
        (status.service_unavailable("x"), 503, "ServiceUnavailable", "x"),
        (status.timeout("x"), 504, "Timeout", "Timeout: x"),
    ],
)
def test_texts(error: StatusError, code: int, reason: str, message: str) -> None:
    assert (error.code, error.reason, str(error)) == (code, reason, message)


def test_invalid() -> None:
    errors = [
        fieldpath.required(ROOT.child("spec")),
        fieldpath.required(ROOT.child("spec")),
        fieldpath.invalid(ROOT.child("a"), "x", "bad"),
    ]
    error = status.invalid(GroupKind("apps", "Deployment"), "d", errors)
    assert error.status.to_json() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'Deployment.apps "d" is invalid: '
        '[spec: Required value, a: Invalid value: "x": bad]',
        "reason": "Invalid",
        "details": {
            "name": "d",
            "group": "apps",
            "kind": "Deployment",
            "causes": [
                {"reason": "FieldValueRequired", "message": "Required value", "field": "spec"},
                {"reason": "FieldValueRequired", "message": "Required value", "field": "spec"},
                {"reason": "FieldValueInvalid", "message": 'Invalid value: "x": bad', "field": "a"},
            ],
        },
        "code": 422,
    }
    assert status.invalid(GroupKind("", "Pod"), "", []).status.message == 'Pod "" is invalid'
    outer = GroupKind("events.k8s.io", "Event")
    assert status.invalid(outer, "e", []).status.message == 'Event "e" is invalid'


def test_success_has_no_code_and_order_is_kept() -> None:
    done = Status(status.SUCCESS, details=StatusDetails(name="p", kind="pods", uid="u"))
    assert list(done.to_json()) == ["kind", "apiVersion", "metadata", "status", "details"]
    assert done.to_json()["details"] == {"name": "p", "kind": "pods", "uid": "u"}
    assert status.internal_error("x").status.to_json()["details"] == {"causes": [{"message": "x"}]}
    assert status.route_not_found().status.to_json()["details"] == {}


def test_errors_that_show_too_much_are_left_out() -> None:
    """Each shows the value of all: a body of megabytes would become terabytes."""
    value = [f"n{number}" for number in range(1_000)]
    errors = [fieldpath.invalid(ROOT.child("a"), value, f"no {n}") for n in range(2_000)]
    refused = status.invalid(GroupKind("", "Pod"), "p", errors).status
    assert refused.details is not None
    assert len(refused.message) < MOST_ERROR_TEXT + 100_000
    assert 10 < len(refused.details.causes) < len(errors)
    few = status.invalid(GroupKind("", "Pod"), "p", errors[:10]).status
    assert few.details is not None
    assert len(few.details.causes) == 10


def test_custom_kinds_may_be_called_status() -> None:
    assert status.is_status({"apiVersion": "v1", "kind": "Status"})
    others: tuple[object, ...] = ({"apiVersion": "x.io/v1", "kind": "Status"}, {}, [], None)
    assert not any(map(status.is_status, others))
