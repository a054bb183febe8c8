"""A small API server in process: enough of one to give recorded requests to the engine.

It keeps objects in a dictionary, decodes and defaults them, asks the engine, and answers with the
body a client would see. What it cannot do is `Unsupported`. No watch, no clock: times and uids are
constants, which the comparison drops anyway. The only controller is that of the status of policies.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from celadon.admission.engine import Engine
from celadon.admission.matching import EXEMPT
from celadon.admission.policy.typecheck import TypeChecker
from celadon.admission.registration import registration_types as registration
from celadon.admission.registration.api_validation.param_access import Authorize
from celadon.admission.registration.registration_kinds import BY_RESOURCE
from celadon.admission.registration.strategy import typed
from celadon.admission.request import Operation, Request, default_options
from celadon.admission.role_authorizer import full_resource
from celadon.admission.verdict import ALLOWED, Verdict
from celadon.admission.world import ObjectWorld
from celadon.kube import FieldError, GroupResource, GroupVersionKind, StatusError, metadata, status
from celadon.kube.authorization import Attributes, Ruling
from celadon.kube.catalogue import Catalog, Resource, known_resources
from celadon.kube.custom import CustomKind, custom_kinds
from celadon.kube.schemas import Schema, custom_schemas
from celadon.kube.selection import parse_label_selector
from celadon.kube.validation import validate_create, validate_update
from tests.recorded import custom, objects
from tests.recorded.calls import Call
from tests.recorded.registry import Registry
from tests.recorded.unsupported import Unsupported

VERSION = "1.36"
CLOCK = 570687537
DELETED_OBJECT_RETURNED = {"Namespace", "Pod", "Service", "ServiceAccount"}


@dataclass
class Answer:
    code: int
    body: Any
    warnings: list[str] = field(default_factory=list)
    audit: dict[str, str] = field(default_factory=dict)


Key = tuple[str, str, str, str]


class Server:
    """`all_versions` says whether the versions that are off by default are offered; None is for
    scenarios that do not say."""

    def __init__(self, *, all_versions: bool | None = None) -> None:
        self._all_versions = all_versions
        self._registry = Registry(self, self._authorizer)
        self._unevaluated: set[tuple[str, str]] = set()
        self.objects: dict[Key, dict[str, Any]] = {}
        self._policies: dict[str, registration.ValidatingAdmissionPolicy] = {}
        self._bindings: dict[str, registration.ValidatingAdmissionPolicyBinding] = {}
        self._engine = Engine(version=VERSION)
        self._world = ObjectWorld(objects.BOOTSTRAP, catalog=known_resources(all_versions=True))
        self._revision = 100
        self._custom: dict[GroupVersionKind, CustomKind] = {}
        self._published: dict[GroupVersionKind, Schema] = {}
        for obj in objects.BOOTSTRAP:
            resource = self._world.catalog.by_gvk(metadata.gvk(obj))
            assert resource is not None
            self.objects[self._key(resource, metadata.namespace(obj), metadata.name(obj))] = obj

    def handle(self, call: Call) -> Answer:
        """One request. API errors are answers, too."""
        verdict = Verdict()
        warnings: list[str] = []
        try:
            code, body, verdict, warnings = self._dispatch(call)
        except StatusError as error:
            code, body = error.code, error.status.to_json()
            if call.resource.group == registration.GROUP:
                warnings = self._registry.warnings
                verdict = Verdict(audit_annotations=self._registry.audit)
        except _Refused as refused:
            code, body = refused.verdict.code, refused.verdict.status
            verdict, warnings = refused.verdict, refused.warnings
        return Answer(code, body, [*warnings, *verdict.warnings], dict(verdict.audit_annotations))

    def run_controllers(self) -> None:
        """What controllers have done when the next request comes."""
        for key, obj in self.objects.items():
            if key[:2] == (registration.GROUP, registration.POLICY_RESOURCE):
                observed = (obj.get("status") or {}).get("observedGeneration", 0)
                if metadata.generation(obj) > observed:
                    policy = replace(self._policies[key[3]], metadata=obj["metadata"])
                    self.objects[key] = {
                        **obj,
                        "status": self._type_checker().status(policy, CLOCK),
                    }

    def _type_checker(self) -> TypeChecker:
        served = Catalog(tuple(one for one in self._world.catalog if one.by_default))
        return TypeChecker(served, self._published, VERSION)

    def path_of(self, obj: Mapping[str, Any]) -> str:
        """The collection that an object of a setup is created in."""
        resource = self._world.catalog.by_gvk(metadata.gvk(obj))
        if resource is None:
            raise Unsupported(f"no resource for {metadata.gvk(obj)}")
        prefix = f"/apis/{resource.gvr.api_version}" if resource.gvr.group else "/api/v1"
        if not resource.namespaced:
            return f"{prefix}/{resource.gvr.resource}"
        namespace = metadata.namespace(obj) or "default"
        return f"{prefix}/namespaces/{namespace}/{resource.gvr.resource}"

    # --- verbs ---

    def _dispatch(self, call: Call) -> tuple[int, Any, Verdict, list[str]]:
        resource = self._world.catalog.by_gvr(call.resource)
        if resource is None or not resource.served:
            raise status.route_not_found()
        if not resource.by_default and self._all_versions is None:
            raise Unsupported("an API version that is off by default may be deprecated")
        if not resource.by_default and not self._all_versions:
            raise status.route_not_found()
        if call.namespace and not resource.namespaced and call.resource.resource != "namespaces":
            raise status.route_not_found()
        self._authorize(call, resource)
        if resource.gvr.group == registration.GROUP and resource.gvr.resource in BY_RESOURCE:
            code, body = self._registry.handle(call, resource)
            registry = self._registry
            return code, body, Verdict(audit_annotations=registry.audit), registry.warnings
        if resource.gvr.group_resource in EXEMPT:
            raise Unsupported(f"{resource.gvr.resource} is answered by the server itself")
        subresource = resource.subresource(call.subresource) if call.subresource else None
        if call.subresource and subresource is None:
            raise status.route_not_found()
        if subresource is not None and subresource.connect:
            return self._connect(call, resource)
        match call.method:
            case "GET":
                return 200, self._existing(call, resource), ALLOWED, []
            case "POST":
                return self._create(call, resource)
            case "PUT" | "PATCH":
                return self._update(call, resource)
            case "DELETE" if call.name:
                return self._delete(call, resource)
            case "DELETE":
                return self._delete_collection(call, resource)
        raise Unsupported(call.method)

    def _authorize(self, call: Call, resource: Resource) -> None:
        verb = {"GET": "get" if call.name else "list", "POST": "create", "PUT": "update"}
        verb |= {"PATCH": "patch", "DELETE": "delete" if call.name else "deletecollection"}
        gvr = resource.gvr
        selected = re.fullmatch(r"metadata\.name=([^,]*)", call.first("fieldSelector"))
        attributes = Attributes(
            call.user,
            verb[call.method],
            resource_request=True,
            group=gvr.group,
            version=gvr.version,
            resource=gvr.resource,
            subresource=call.subresource,
            namespace=call.namespace,
            name="" if call.method == "POST" and not call.subresource else call.name,
        )
        if selected and not call.name:
            attributes = replace(attributes, name=selected[1])
        ruling, reason, _ = self._world.authorize(attributes)
        if ruling is Ruling.ALLOW:
            return
        where = f'in the namespace "{call.namespace}"' if call.namespace else "at the cluster scope"
        why = (
            f'User "{call.user.name}" cannot {verb[call.method]} resource '
            f'"{full_resource(attributes)}" in API group "{gvr.group}" {where}'
        )
        why += f": {reason}" if reason else ""
        raise status.forbidden(gvr.group_resource, call.name, why)

    def _create(self, call: Call, resource: Resource) -> tuple[int, Any, Verdict, list[str]]:
        kind = resource.kind_of(call.subresource)
        assert kind is not None
        body = self._body(call)
        warnings = objects.unknown_field_warnings(body, kind, call, self._custom)
        if call.subresource:
            self._existing(call, resource)
        obj = objects.on_create(body, kind, call, resource, self._custom)
        name = call.name or metadata.name(obj)
        namespace = call.namespace
        if resource.gvk == GroupVersionKind("", "v1", "Namespace"):
            namespace = name
        elif namespace and self._world.namespace(namespace) is None:
            raise status.not_found(GroupResource("", "namespaces"), namespace)
        found = [*validate_create(obj, kind), *custom.errors(obj, None, kind, self._custom)]
        _refuse_invalid(kind, name, found)
        verdict = self._admit(call, resource, kind, Operation.CREATE, name, namespace, obj, None)
        if not verdict.allowed:
            raise _Refused(verdict, warnings)
        if call.subresource:
            raise Unsupported(f"create of {call.subresource} succeeded")
        stored = {**obj, "metadata": {**obj["metadata"], "resourceVersion": self.next_revision()}}
        if self._key(resource, namespace, name) in self.objects:
            raise status.already_exists(resource.gvr.group_resource, name)
        stored = objects.stored(stored, kind)
        if not call.dry_run:
            self._store(resource, stored)
        return 201, stored, verdict, warnings

    def _update(self, call: Call, resource: Resource) -> tuple[int, Any, Verdict, list[str]]:
        key = self._key(resource, call.namespace, call.name)
        stored = self.objects.get(key)
        creates = "apply-patch" in call.content_type or objects.creates_on_update(resource, call)
        if stored is None and creates and not call.subresource:
            return self._create(call, resource)
        if stored is None:
            raise status.not_found(resource.gvr.group_resource, call.name)
        if "apply-patch" in call.content_type:
            raise Unsupported("apply to an existing object")
        old = self._world.convert(stored, resource.gvk)
        kind = resource.kind_of(call.subresource)
        assert kind is not None
        before = objects.shown_by(call.subresource, old)
        body = self._body(call)
        if call.method == "PATCH":
            body = objects.patched(before, body, call.content_type, kind)
        warnings = objects.unknown_field_warnings(body, kind, call, self._custom)
        new = objects.on_update(body, before, kind, call, resource, self._custom)
        if call.subresource == "scale":
            _refuse_invalid(kind, call.name, validate_create(new, kind))
        elif not call.subresource:
            found = validate_update(new, before, kind)
            found = [*found, *custom.errors(new, before, kind, self._custom)]
            _refuse_invalid(kind, call.name, found)
        verdict = self._admit(
            call, resource, kind, Operation.UPDATE, call.name, call.namespace, new, before
        )
        if not verdict.allowed:
            raise _Refused(verdict, warnings)
        changed = objects.applied(call.subresource, old, new)
        if not call.dry_run:
            if changed != old:
                changed["metadata"]["resourceVersion"] = self.next_revision()
            self._store(resource, changed)
        return (
            200,
            self._shown(objects.shown_by(call.subresource, changed), kind),
            verdict,
            warnings,
        )

    def _delete(self, call: Call, resource: Resource) -> tuple[int, Any, Verdict, list[str]]:
        old = self._existing(call, resource)
        verdict = self._admit(
            call, resource, resource.gvk, Operation.DELETE, call.name, call.namespace, None, old
        )
        if not verdict.allowed:
            raise _Refused(verdict, [])
        if not call.dry_run:
            self._remove(resource, call.namespace, call.name)
        if resource.gvk.kind in DELETED_OBJECT_RETURNED or metadata.finalizers(old):
            return 200, self._shown(old, resource.gvk), verdict, []
        details: dict[str, Any] = {"name": call.name, "kind": resource.gvr.resource}
        if resource.gvr.group:
            details["group"] = resource.gvr.group
        body = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": details,
        }
        return 200, body, verdict, []

    def _delete_collection(
        self, call: Call, resource: Resource
    ) -> tuple[int, Any, Verdict, list[str]]:
        selector = parse_label_selector(call.first("labelSelector"))
        wanted = (resource.gvr.group, resource.gvr.resource, call.namespace)
        listed = [self.objects[key] for key in sorted(self.objects) if key[:3] == wanted]
        items = []
        verdict = ALLOWED
        for stored in listed:
            if not selector.matches(metadata.labels(stored)):
                continue
            old = self._world.convert(stored, resource.gvk)
            verdict = self._admit(
                call, resource, resource.gvk, Operation.DELETE, "", call.namespace, None, old
            )
            if not verdict.allowed:
                raise _Refused(verdict, [])
            if not call.dry_run:
                self._remove(resource, call.namespace, metadata.name(old))
            items.append({k: v for k, v in old.items() if k not in {"apiVersion", "kind"}})
        body = {
            "kind": resource.list_kind,
            "apiVersion": resource.gvk.api_version,
            "metadata": {},
            "items": items,
        }
        return 200, body, verdict, []

    def _connect(self, call: Call, resource: Resource) -> tuple[int, Any, Verdict, list[str]]:
        self._existing(call, resource)
        kind = resource.kind_of(call.subresource)
        assert kind is not None
        options = objects.connect_options(call, kind)
        verdict = self._admit(
            call, resource, kind, Operation.CONNECT, call.name, call.namespace, options, None
        )
        if not verdict.allowed:
            raise _Refused(verdict, [])
        error = status.bad_request(f"pod {call.name} does not have a host assigned")
        return 400, error.status.to_json(), verdict, []

    # --- parts ---

    def _admit(
        self,
        call: Call,
        resource: Resource,
        kind: GroupVersionKind,
        operation: Operation,
        name: str,
        namespace: str,
        obj: Any,
        old: Any,
    ) -> Verdict:
        if self._unevaluated and resource.gvr.group != registration.GROUP:
            kinds = ", ".join(sorted({kind for kind, _ in self._unevaluated}))
            raise Unsupported(f"requests in the presence of a {kinds}")
        request = Request(
            operation=operation,
            kind=kind,
            resource=resource.gvr,
            subresource=call.subresource,
            name=name,
            namespace=namespace,
            object=obj,
            old_object=old,
            user=call.user,
            dry_run=call.dry_run,
            options=objects.options_of(call, default_options(operation)),
        )
        return self._engine.review(request, self._world)

    def _body(self, call: Call) -> dict[str, Any]:
        if not isinstance(call.body, dict):
            raise Unsupported("a body that is no JSON object")
        return copy.deepcopy(call.body)

    def _existing(self, call: Call, resource: Resource) -> dict[str, Any]:
        stored = self.objects.get(self._key(resource, call.namespace, call.name))
        if stored is None:
            raise status.not_found(resource.gvr.group_resource, call.name)
        return dict(self._world.convert(stored, resource.gvk))

    def _key(self, resource: Resource, namespace: str, name: str) -> Key:
        space = namespace if resource.namespaced else ""
        return (resource.gvr.group, resource.gvr.resource, space, name)

    def next_revision(self) -> str:
        self._revision += 1
        return str(self._revision)

    def _shown(self, obj: Mapping[str, Any], kind: GroupVersionKind) -> dict[str, Any]:
        return {**obj, "apiVersion": kind.api_version, "kind": kind.kind}

    def _store(self, resource: Resource, obj: dict[str, Any]) -> None:
        key = self._key(resource, metadata.namespace(obj), metadata.name(obj))
        self.objects[key] = obj
        if resource.gvk.kind == "CustomResourceDefinition":
            self._custom.update(custom_kinds(obj))
            self._published.update(custom_schemas(obj))
        self._world = self._world.with_objects([obj])

    def _remove(self, resource: Resource, namespace: str, name: str) -> None:
        obj = self.objects.pop(self._key(resource, namespace, name))
        self._world = self._world.without(obj)

    def catalog(self) -> Catalog:
        return self._world.catalog

    def _authorizer(self) -> Authorize:
        return self._world.authorize

    def admit(
        self, call: Call, resource: Resource, operation: Operation, name: str, new: Any, old: Any
    ) -> tuple[list[str], dict[str, str]]:
        """Validating admission of a registration object: warnings and audit annotations."""
        if resource.gvr.group_resource in EXEMPT:
            return [], {}
        verdict = self._admit(call, resource, resource.gvk, operation, name, "", new, old)
        if not verdict.allowed:
            raise _Refused(verdict, self._registry.warnings)
        return list(verdict.warnings), dict(verdict.audit_annotations)

    def registered(self, kind: str, name: str, document: Mapping[str, Any] | None) -> None:
        """A registration object was stored, or removed."""
        value = None if document is None else typed(document)
        if kind == registration.POLICY_KIND:
            self._policies.pop(name, None)
            if isinstance(value, registration.ValidatingAdmissionPolicy):
                self._policies[name] = value
        elif kind == registration.BINDING_KIND:
            self._bindings.pop(name, None)
            if isinstance(value, registration.ValidatingAdmissionPolicyBinding):
                self._bindings[name] = value
        else:
            self._unevaluated.discard((kind, name))
            if value is not None:
                self._unevaluated.add((kind, name))
        self._engine = self._engine.replaced(self._policies.values(), self._bindings.values())


def _refuse_invalid(kind: GroupVersionKind, name: str, errors: list[FieldError]) -> None:
    if errors:
        raise status.invalid(kind.group_kind, name, errors)


class _Refused(Exception):
    """Admission said no."""

    def __init__(self, verdict: Verdict, warnings: list[str]) -> None:
        super().__init__(verdict.message)
        self.verdict = verdict
        self.warnings = warnings
