"""What a handler is asked: one write in the cluster, with everything a review says about it.

Handlers see one version of a kind, that of their rules: an API server converts objects for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from celadon import admission
from celadon.admission import Operation
from celadon.kube import GroupVersionKind, GroupVersionResource, User, name_rules
from celadon.records import dataclass

Object = dict[str, Any]
"""A Kubernetes object as JSON: `object["metadata"]["name"]`."""


class NoObject(LookupError):
    """`Request.object` of a request that has none."""


@dataclass(slots=True)
class Request:
    """One request that an API server asks about.

    A mutating handler changes `object`, or returns another. `old_object` is what is stored now:
    None for CREATE and CONNECT. `kind` and `resource` are those of the objects here,
    `request_kind` and `request_resource` those that the client used. `name` is empty where the
    API server is still to make one up, `namespace` for cluster-scoped objects.
    """

    uid: str
    operation: Operation
    kind: GroupVersionKind
    resource: GroupVersionResource
    sub_resource: str
    name: str
    namespace: str
    old_object: Object | None
    user: User
    dry_run: bool
    options: Object
    request_kind: GroupVersionKind
    request_resource: GroupVersionResource
    request_sub_resource: str
    given: Object | None = None
    """`object`, where a request need not have one."""
    warnings: list[str] = field(default_factory=list)
    """What the client is shown, whatever the answer: `warn` adds to it."""
    audit_annotations: dict[str, str] = field(default_factory=dict)
    """What goes into the audit log under the name of the webhook: `annotate` adds to it."""

    @property
    def object(self) -> Object:
        """The object as it is to be; of CONNECT the options of the connection. Raises NoObject
        for DELETE."""
        if self.given is None:
            text = f"{self.operation.value} has no object, see `old_object`"
            raise NoObject(text)
        return self.given

    @property
    def labels(self) -> Mapping[str, str]:
        """Those of the object, or of the one that is deleted."""
        return self._metadata().get("labels") or {}

    @property
    def annotations(self) -> Mapping[str, str]:
        """Those of the object, or of the one that is deleted."""
        return self._metadata().get("annotations") or {}

    def warn(self, text: str) -> None:
        """Let the client be shown a warning. Short ones: 120 characters are fine, after 256 the
        API server may cut."""
        self.warnings.append(text)

    def annotate(self, key: str, value: str) -> None:
        """Let the audit log have a value under `<webhook>/<key>`. ValueError for a key that the
        API server would drop."""
        wrong = name_rules.qualified_name(key)
        if wrong or "/" in key:
            why = wrong[0] if wrong else "must not contain a slash"
            raise ValueError(f"`{key}` is no key of an audit annotation: {why}")
        self.audit_annotations[key] = value

    def _metadata(self) -> Mapping[str, Any]:
        shown = self.old_object if self.given is None else self.given
        return (shown or {}).get("metadata") or {}


def handler_request(asked: admission.Request) -> Request:
    """The request of a review; the objects stay those of its document."""
    return Request(
        uid=asked.uid,
        operation=asked.operation,
        kind=asked.kind,
        resource=asked.resource,
        sub_resource=asked.subresource,
        name=asked.name,
        namespace=asked.namespace,
        old_object=None if asked.old_object is None else dict(asked.old_object),
        user=asked.user,
        dry_run=asked.dry_run,
        options=dict(asked.options or {}),
        request_kind=asked.original_kind,
        request_resource=asked.original_resource,
        request_sub_resource=asked.original_subresource,
        given=None if asked.object is None else dict(asked.object),
    )
