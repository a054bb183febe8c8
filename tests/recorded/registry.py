"""The endpoints of registration objects in process: bodies in, answers out, through the strategies.

Reading bodies, validating options, preparing and checking objects are the product's; what is here
is the order in which an API server's handlers and its registry do these things.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from celadon.admission.registration import registration_types as registration
from celadon.admission.registration import strategy
from celadon.admission.registration.api_validation.param_access import (
    Authorize,
    check_binding,
    check_policy,
)
from celadon.admission.registration.decoding import RegistrationError, converted, decode_object
from celadon.admission.registration.registration_bodies import (
    STRICT,
    WARN,
    Body,
    read_body,
    read_document,
    require_version,
)
from celadon.admission.registration.registration_kinds import BY_KIND, BY_RESOURCE
from celadon.admission.request import Operation
from celadon.kube import (
    FieldPath,
    GroupKind,
    GroupVersionKind,
    StatusError,
    fieldpath,
    metadata,
    status,
)
from celadon.kube.catalogue import Catalog, Resource
from celadon.kube.defaulting import stored_form
from celadon.kube.go import Document
from celadon.kube.selection import (
    SelectorError,
    parse_field_selector,
    parse_label_selector,
    resolve_fields,
)
from celadon.kube.writes import request_options, warning_texts
from celadon.kube.writes.request_options import WriteOptions
from tests.recorded import patches, tables
from tests.recorded.calls import Call
from tests.recorded.objects import CONTEXT, MANAGED_FIELDS, NOW
from tests.recorded.unsupported import Unsupported

VERSION = "1.36"
GROUP = registration.GROUP
APPLY = "application/apply-patch+yaml"
WRITES = {"POST": request_options.CREATE, "PUT": request_options.UPDATE}
WRITES["PATCH"] = request_options.PATCH
LIST_PARAMETERS = {"labelSelector", "fieldSelector", "limit", "timeout"}
Outcome = tuple[int, Any]
Key = tuple[str, str, str, str]


class Storage(Protocol):
    """What the server does for the registry."""

    objects: dict[Key, dict[str, Any]]

    def next_revision(self) -> str: ...

    def catalog(self) -> Catalog: ...

    def admit(
        self, call: Call, resource: Resource, operation: Operation, name: str, new: Any, old: Any
    ) -> tuple[list[str], dict[str, str]]: ...

    def registered(self, kind: str, name: str, document: Mapping[str, Any] | None) -> None: ...


class Registry:
    """`warnings` and `audit` are those of the latest call."""

    def __init__(self, storage: Storage, authorize: Callable[[], Authorize]) -> None:
        self._storage = storage
        self._authorize = authorize
        self.warnings: list[str] = []
        self.audit: dict[str, str] = {}

    def handle(self, call: Call, resource: Resource) -> Outcome:
        code, body = self._answer(call, resource)
        if tables.VERSION.search(call.accept) is not None:
            return code, tables.table(call, body, resource)
        return code, body

    def _answer(self, call: Call, resource: Resource) -> Outcome:
        self.warnings, self.audit = [], {}
        entry = BY_RESOURCE[resource.gvr.resource]
        if resource.gvr.version in entry.deprecated:
            since, until = entry.deprecated[resource.gvr.version]
            self.warnings.append(warning_texts.deprecated(resource.gvk, since, until))
            self.audit = {"k8s.io/deprecated": "true", "k8s.io/removed-release": until}
        if call.subresource and resource.subresource(call.subresource) is None:
            raise status.route_not_found()
        if call.method in WRITES:
            self._check_options(call)
        match call.method, bool(call.name):
            case "GET", True if call.first("export") == "true":
                message = "the export parameter, deprecated since v1.14, is no longer supported"
                raise status.bad_request(message)
            case "GET", True if "resourceVersion" in call.query:
                raise Unsupported("reads of a version")
            case "GET", True:
                return 200, self._shown(self._existing(call, resource), resource)
            case "GET", False:
                return 200, self._list(call, resource)
            case "POST", False:
                return self._create(call, resource)
            case "PUT", True:
                return self._replace(call, resource)
            case "PATCH", True:
                return self._patch(call, resource)
            case "DELETE", True:
                return self._delete(call, resource)
            case "DELETE", False:
                raise Unsupported("deletion of collections")
        raise status.method_not_allowed()

    # --- options and bodies ---

    def _check_options(self, call: Call) -> None:
        kind = WRITES[call.method]
        options = WriteOptions(
            dry_run=tuple(call.query.get("dryRun", ())),
            field_manager=call.first("fieldManager"),
            field_validation=call.first("fieldValidation"),
            force=True if "force" in call.query else None,
            apply=call.content_type == APPLY,
        )
        errors = request_options.write_option_errors(options, kind)
        if errors:
            raise request_options.invalid_options(kind, errors)

    def _read(self, call: Call, resource: Resource) -> Body:
        if call.content_type.lower().partition(";")[0].strip() != "application/json":
            raise Unsupported("bodies that are not JSON")
        body = read_body(call.text.encode(), resource.gvk, call.first("fieldValidation") or WARN)
        self.warnings += body.warnings
        require_version(body, resource.gvk)
        return body

    # --- verbs ---

    def _create(self, call: Call, resource: Resource) -> Outcome:
        body = self._read(call, resource)
        document = body.decoded.document
        made = strategy.created(document, CONTEXT)
        made["metadata"]["managedFields"] = MANAGED_FIELDS
        name = metadata.name(made)
        warnings = strategy.write_warnings({**document, "metadata": {**document["metadata"]}})
        errors = strategy.create_errors(made, VERSION) or self._param_errors(made, None, call)
        self._refuse(errors, resource, name)
        self.warnings += warnings
        self._admit(call, resource, Operation.CREATE, name, made, None)
        existing = self._storage.objects.get(self._key(resource, name))
        if existing is not None:
            raise status.already_exists(
                resource.gvr.group_resource,
                name,
                being_deleted=bool(metadata.deletion_timestamp(existing)),
            )
        if not call.dry_run and metadata.resource_version(made) not in {"", "0"}:
            raise status.plain_error("resourceVersion should not be set on objects to be created")
        made["metadata"].pop("resourceVersion", None)
        return 201, self._store(made, call, resource)

    def _replace(self, call: Call, resource: Resource) -> Outcome:
        body = self._read(call, resource)
        self._check_name(body.decoded.document, call)
        old = self._existing(call, resource)
        return self._update(call, resource, body, old)

    def _patch(self, call: Call, resource: Resource) -> Outcome:
        if call.content_type == APPLY:
            raise Unsupported("server-side apply")
        old = self._existing(call, resource)
        validation = call.first("fieldValidation") or WARN
        result, complaints = patches.patched(call, self._shown(old, resource), resource)
        if complaints and validation == STRICT:
            why = f"strict decoding error: {', '.join(complaints)}"
            raise patches.refusal(patches.shown(call, result), why)
        body = self._decoded_patch(call, resource, result, validation)
        unknown = sorted(body.warnings) if call.content_type == patches.STRATEGIC else body.warnings
        self.warnings += [*(complaints if validation == WARN else ()), *unknown]
        self._check_name(body.decoded.document, call)
        return self._update(call, resource, body, old, is_patch=True)

    def _decoded_patch(self, call: Call, resource: Resource, result: Any, validation: str) -> Body:
        found = metadata.gvk(result)
        if found != resource.gvk:
            if found.group == GROUP and found.kind in BY_KIND:
                raise Unsupported("patches that make another kind")
            why = (
                f'no kind "{found.kind}" is registered for version "{found.api_version}" in '
                'scheme "pkg/api/legacyscheme/scheme.go:30"'
            )
            raise patches.refusal(patches.shown(call, result), why)
        try:
            decode_object(result, found.kind, found.version)
            return read_document(Document(result), found, validation)
        except (RegistrationError, StatusError) as error:
            why = str(error).partition(f"cannot be handled as a {found.kind}: ")[2]
            raise patches.refusal(patches.shown(call, result), why) from None

    def _update(
        self,
        call: Call,
        resource: Resource,
        body: Body,
        old: dict[str, Any],
        *,
        is_patch: bool = False,
    ) -> Outcome:
        document = body.decoded.document
        self._check_preconditions(document, old, call, resource, is_patch=is_patch)
        made = strategy.updated(document, old, body.sent, CONTEXT, subresource=call.subresource)
        owners = made["metadata"].get("ownerReferences", [])
        if owners:
            unique = [one for i, one in enumerate(owners) if one not in owners[:i]]
            made["metadata"]["ownerReferences"] = unique
        if call.subresource:
            errors = strategy.status_errors(made, old)
        else:
            errors = strategy.update_errors(made, old, VERSION)
            errors = errors or self._param_errors(made, old, call)
        self._refuse(errors, resource, call.name)
        self.warnings += strategy.write_warnings(document)
        if not call.subresource:
            self._admit(call, resource, Operation.UPDATE, call.name, made, old)
        if metadata.deletion_timestamp(old) and not metadata.finalizers(made):
            if not call.dry_run:
                self._remove(resource, call.name)
            return 200, self._shown(made, resource)
        return 200, self._store(made, call, resource, old)

    def _delete(self, call: Call, resource: Resource) -> Outcome:
        body = call.body if isinstance(call.body, dict) else {}
        given = {**{key: call.first(key) for key in call.query}, **body}
        grace = given.get("gracePeriodSeconds", 0)
        if isinstance(grace, str) and re.fullmatch("[+-]?[0-9]+", grace) is None:
            message = f'strconv.ParseInt: parsing "{grace}": invalid syntax'
            raise status.bad_request(message)
        dry_run = given.get("dryRun", [])
        policy = given.get("propagationPolicy")
        orphan = given.get("orphanDependents")
        orphan = orphan in (True, "true") if orphan is not None else None
        errors = request_options.delete_option_errors(
            [dry_run] if isinstance(dry_run, str) else dry_run, policy, orphan_dependents=orphan
        )
        if errors:
            raise request_options.invalid_options(request_options.DELETE, errors)
        old = self._existing(call, resource)
        self._check_delete_preconditions(given.get("preconditions", {}), old, resource)
        self._admit(call, resource, Operation.DELETE, call.name, None, old)
        finalizers = list(metadata.finalizers(old))
        wanted = {"Foreground": "foregroundDeletion", "Orphan": "orphan"}.get(policy or "")
        if orphan:
            wanted = "orphan"
        if wanted and wanted not in finalizers:
            finalizers.append(wanted)
        if finalizers:
            return 200, self._mark_deleted(old, finalizers, call, resource, bool(dry_run))
        if not dry_run:
            self._remove(resource, call.name)
        details = {"name": call.name, "group": GROUP, "kind": resource.gvr.resource}
        done = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
        return 200, {**done, "details": details}

    def _mark_deleted(
        self,
        old: dict[str, Any],
        finalizers: list[str],
        call: Call,
        resource: Resource,
        dry_run: bool,
    ) -> dict[str, Any]:
        if metadata.deletion_timestamp(old):
            return self._shown(old, resource)
        made = copy.deepcopy(old)
        meta = made["metadata"]
        meta.update(finalizers=finalizers, deletionTimestamp=NOW, deletionGracePeriodSeconds=0)
        meta["generation"] = metadata.generation(old) + 1
        if dry_run:
            return self._shown(made, resource)
        return self._store(made, call, resource, old)

    def _list(self, call: Call, resource: Resource) -> dict[str, Any]:
        if set(call.query) - LIST_PARAMETERS:
            raise Unsupported("options of lists")
        try:
            labels = parse_label_selector(call.first("labelSelector"))
            fields = resolve_fields(parse_field_selector(call.first("fieldSelector")), resource)
        except SelectorError as error:
            raise status.bad_request(str(error)) from error
        items = []
        for key in sorted(self._storage.objects):
            obj = self._storage.objects[key]
            if key[:2] != (GROUP, resource.gvr.resource):
                continue
            names = {"metadata.name": metadata.name(obj), "metadata.namespace": ""}
            if labels.matches(metadata.labels(obj)) and fields.matches(names):
                items.append({k: v for k, v in obj.items() if k not in {"apiVersion", "kind"}})
        limit = call.first("limit")
        if limit and (not limit.isdigit() or int(limit) < len(items)):
            raise Unsupported("lists in pieces")
        return {
            "kind": resource.list_kind,
            "apiVersion": resource.gvk.api_version,
            "metadata": {"resourceVersion": "1"},
            "items": items,
        }

    # --- checks ---

    def _admit(
        self, call: Call, resource: Resource, operation: Operation, name: str, new: Any, old: Any
    ) -> None:
        warnings, audit = self._storage.admit(call, resource, operation, name, new, old)
        self.warnings += warnings
        self.audit.update(audit)

    def _check_name(self, document: Mapping[str, Any], call: Call) -> None:
        name = metadata.name(document)
        if not name:
            raise status.bad_request(
                f"the name of the object ({call.name} based on URL) was undeterminable: name must "
                "be provided"
            )
        if name != call.name:
            raise status.bad_request(
                f"the name of the object ({name}) does not match the name on the URL ({call.name})"
            )

    def _check_preconditions(
        self,
        document: Mapping[str, Any],
        old: Mapping[str, Any],
        call: Call,
        resource: Resource,
        *,
        is_patch: bool,
    ) -> None:
        target, name = resource.gvr.group_resource, call.name
        uid = metadata.uid(document)
        if uid and uid != metadata.uid(old) and not is_patch:
            raise status.conflict(
                target,
                name,
                f"StorageError: invalid object, Code: 4, Key: /registry/{target.resource}/{name}, "
                "ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
                f"precondition: {uid}, UID in object meta: {metadata.uid(old)}",
            )
        version = metadata.resource_version(document)
        if version in {"", "0"}:
            path = FieldPath("metadata", "resourceVersion")
            error = fieldpath.invalid(path, 0, "must be specified for an update")
            raise status.invalid(GroupKind(GROUP, target.resource), name, [error])
        if version != metadata.resource_version(old):
            raise status.modified(target, name)

    def _check_delete_preconditions(
        self, wanted: Mapping[str, str], old: Mapping[str, Any], resource: Resource
    ) -> None:
        target = resource.gvr.group_resource._replace(resource=resource.gvk.kind)
        name = metadata.name(old)
        uid, version = wanted.get("uid"), wanted.get("resourceVersion")
        if uid is not None and uid != metadata.uid(old):
            why = (
                f"the UID in the precondition ({uid}) does not match the UID in record "
                f"({metadata.uid(old)}). The object might have been deleted and then recreated"
            )
            raise status.conflict(target, name, why)
        found = metadata.resource_version(old)
        if version is not None and version != found:
            why = (
                f"the ResourceVersion in the precondition ({version}) does not match the "
                f"ResourceVersion in record ({found}). The object might have been modified"
            )
            raise status.conflict(target, name, why)

    def _param_errors(
        self, made: Mapping[str, Any], old: Mapping[str, Any] | None, call: Call
    ) -> list[fieldpath.FieldError]:
        value = strategy.typed(made)
        before = None if old is None else strategy.typed(old)
        catalog, authorize = self._storage.catalog(), self._authorize()
        if isinstance(value, registration.WebhookConfiguration):
            return []
        if isinstance(value, registration.Policy):
            assert before is None or isinstance(before, registration.Policy)
            return check_policy(value, before, call.user, catalog, authorize)
        kind = made["kind"].removesuffix("Binding")
        resource = next(entry for entry in BY_RESOURCE.values() if entry.kind == kind).resource
        stored = self._storage.objects.get((GROUP, resource, "", value.spec.policy_name))
        policy = None if stored is None else strategy.typed(stored)
        assert policy is None or isinstance(policy, registration.Policy)
        return check_binding(value, policy, call.user, catalog, authorize)

    def _refuse(self, errors: list[fieldpath.FieldError], resource: Resource, name: str) -> None:
        if errors:
            raise status.invalid(resource.gvk.group_kind, name, errors)

    # --- storage ---

    def _key(self, resource: Resource, name: str) -> Key:
        return (GROUP, resource.gvr.resource, "", name)

    def _existing(self, call: Call, resource: Resource) -> dict[str, Any]:
        found = self._storage.objects.get(self._key(resource, call.name))
        if found is None:
            raise status.not_found(resource.gvr.group_resource, call.name)
        return self._shown(found, resource)

    def _shown(self, obj: Mapping[str, Any], resource: Resource) -> dict[str, Any]:
        return converted(obj, resource.gvr.version)

    def _store(
        self,
        made: dict[str, Any],
        call: Call,
        resource: Resource,
        old: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        gvk: GroupVersionKind = resource.gvk
        kept = {**stored_form(made, gvk, CONTEXT), "apiVersion": gvk.api_version, "kind": gvk.kind}
        if call.dry_run or kept == old:
            return kept
        kept["metadata"] = {**kept["metadata"], "resourceVersion": self._storage.next_revision()}
        name = metadata.name(kept)
        self._storage.objects[self._key(resource, name)] = converted(kept, "v1")
        self._storage.registered(gvk.kind, name, kept)
        return kept

    def _remove(self, resource: Resource, name: str) -> None:
        del self._storage.objects[self._key(resource, name)]
        self._storage.registered(resource.gvk.kind, name, None)
