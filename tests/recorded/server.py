"""A small API server in process: a dictionary, a dispatcher and constants around the product.

What happens to an object on its way in is the write path of `celadon.kube.writes` and
`celadon.admission`; here is only what a store, a dispatcher and a clock do. What it cannot do is
`Unsupported`. No watch: times and uids are constants, which the comparison drops anyway. The only
controller is that of the status of policies.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from celadon.admission import Engine, ObjectWorld, Operation, TypeChecker, Verdict
from celadon.admission.matching import EXEMPT
from celadon.admission.registration import registration_types as registration
from celadon.admission.registration.registration_kinds import BY_KIND
from celadon.admission.registration.strategy import STRATEGIES, typed
from celadon.admission.world import implicit_namespace
from celadon.admission.writing import deletion_options, refusal, request_of, write_options
from celadon.kube import MASTERS, GroupVersionKind, StatusError, metadata, status
from celadon.kube.apply import (
    FieldWriter,
    Versions,
    applied,
    read_applied,
    track_create,
    track_update,
    with_old_times,
)
from celadon.kube.authorization import Attributes, Ruling
from celadon.kube.catalogue import Catalog, Resource, known_resources
from celadon.kube.custom import CustomKind, custom_kinds
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.roles.policy_rules import full_resource
from celadon.kube.schemas import Schema, custom_schemas
from celadon.kube.selection import (
    SelectorError,
    parse_field_selector,
    parse_label_selector,
    resolve_fields,
)
from celadon.kube.writes import (
    APPLY_PATCH,
    Incoming,
    Surroundings,
    Target,
    WriteOptions,
    connect_options,
    deletions,
    patched,
    plugin_refusals,
    preconditions,
    read_object,
    read_patched,
    request_options,
    require_version,
    strategy_of,
    warning_texts,
    write_path,
)
from tests.recorded import tables
from tests.recorded.calls import Call
from tests.recorded.unsupported import Unsupported

VERSION = "1.36"
CLOCK = 570687537
NOW = "2025-01-01T00:00:00Z"
MANAGER = "replay"
NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
BOOTSTRAP = tuple(dict(implicit_namespace(name)) for name in NAMESPACES)
LIST_PARAMETERS = {"labelSelector", "fieldSelector", "limit", "timeout"}
OPTIONS = {"POST": request_options.CREATE, "PUT": request_options.UPDATE}
OPTIONS["PATCH"] = request_options.PATCH
RBAC = "rbac.authorization.k8s.io"
VERBS = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
COLLECTION_VERBS = {**VERBS, "GET": "list", "DELETE": "deletecollection"}

Key = tuple[str, str, str, str]
Outcome = tuple[int, Any]


@dataclass
class Answer:
    code: int
    body: Any
    warnings: list[str] = field(default_factory=list)
    audit: dict[str, str] = field(default_factory=dict)


class Refused(Exception):
    """Admission said no."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.message)
        self.verdict = verdict


class Server:
    """`all_versions` says whether the versions that are off by default are offered; None is for
    scenarios that do not say."""

    def __init__(self, *, all_versions: bool | None = None) -> None:
        self._all_versions = all_versions
        self._unevaluated: set[tuple[str, str]] = set()
        self._policies: dict[str, registration.ValidatingAdmissionPolicy] = {}
        self._bindings: dict[str, registration.ValidatingAdmissionPolicyBinding] = {}
        self._engine = Engine(version=VERSION)
        self._world = ObjectWorld(BOOTSTRAP, catalog=known_resources(all_versions=True))
        self._revision = 100
        self._ticks = 0
        self._custom: dict[GroupVersionKind, CustomKind] = {}
        self._published: dict[GroupVersionKind, Schema] = {}
        self._warnings: list[str] = []
        self._audit: dict[str, str] = {}
        self.objects: dict[Key, dict[str, Any]] = {
            ("", "namespaces", "", metadata.name(obj)): obj for obj in BOOTSTRAP
        }

    def handle(self, call: Call) -> Answer:
        """One request. API errors are answers, too."""
        self._warnings, self._audit = [], {}
        try:
            code, body = self._dispatch(call)
        except StatusError as error:
            code, body = error.code, error.status.to_json()
        except Refused as refused:
            code, body = refused.verdict.code, refused.verdict.status
        return Answer(code, body, self._warnings, self._audit)

    def run_controllers(self) -> None:
        """What controllers have done when the next request comes."""
        for key, obj in self.objects.items():
            if key[:2] == (registration.GROUP, registration.POLICY_RESOURCE):
                observed = (obj.get("status") or {}).get("observedGeneration", 0)
                if metadata.generation(obj) > observed:
                    policy = replace(self._policies[key[3]], metadata=obj["metadata"])
                    found = self._type_checker().status(policy, CLOCK)
                    self.objects[key] = {**obj, "status": found}

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

    # --- dispatcher ---

    def _dispatch(self, call: Call) -> Outcome:
        resource = self._world.catalog.by_gvr(call.resource)
        if resource is None or not resource.served:
            if all(one.gvr.group != call.resource.group for one in known_resources()):
                return 404, "404 page not found\n"
            raise status.route_not_found()
        if not resource.by_default and self._all_versions is None:
            raise Unsupported("an API version that is off by default may be deprecated")
        if not resource.by_default and not self._all_versions:
            raise status.route_not_found()
        if call.namespace and not resource.namespaced and call.resource.resource != "namespaces":
            raise status.route_not_found()
        if "create" not in resource.verbs or "get" not in resource.verbs:
            raise Unsupported(f"{resource.gvr.resource} is answered by the server itself")
        self._authorize(call, resource)
        self._warn_of_deprecation(resource)
        subresource = resource.subresource(call.subresource) if call.subresource else None
        if call.subresource and subresource is None:
            if resource.custom:
                raise status.not_found(resource.gvr.group_resource, call.name)
            raise status.route_not_found()
        target = Target(
            resource,
            call.namespace if resource.namespaced else "",
            call.name,
            call.subresource,
            self._custom.get(resource.gvk),
        )
        if subresource is not None and subresource.connect:
            return self._connect(call, target)
        if subresource is not None and VERBS[call.method] not in subresource.verbs:
            raise status.method_not_allowed()
        code, body = self._verb(call, target)
        if tables.VERSION.search(call.accept) is not None:
            if resource.gvk.kind not in BY_KIND:
                raise Unsupported("tables of other kinds")
            return code, tables.table(call, body, resource)
        return code, body

    def _verb(self, call: Call, target: Target) -> Outcome:
        match call.method, bool(call.name):
            case "GET", True if call.first("export") == "true":
                message = "the export parameter, deprecated since v1.14, is no longer supported"
                raise status.bad_request(message)
            case "GET", True if "resourceVersion" in call.query:
                raise Unsupported("reads of a version")
            case "GET", True:
                return 200, write_path.shown(self._existing(target), target)
            case "GET", False:
                return 200, self._list(call, target)
            case "POST", False if target.is_namespaced and not call.namespace:
                raise status.method_not_allowed()
            case "POST", named if not named or call.subresource:
                return self._create(call, target)
            case "PUT", True:
                return self._replace(call, target)
            case "PATCH", True:
                return self._patch(call, target)
            case "DELETE", True:
                return self._delete(call, target)
            case "DELETE", False if "deletecollection" not in target.resource.verbs:
                raise status.method_not_allowed()
            case "DELETE", False:
                return self._delete_collection(call, target)
        raise status.method_not_allowed()

    def _warn_of_deprecation(self, resource: Resource) -> None:
        entry = BY_KIND.get(resource.gvk.kind)
        if entry is not None and resource.gvk.version in entry.deprecated:
            since, until, other = entry.deprecated[resource.gvk.version]
            use = resource.gvk._replace(version=other) if other else None
            self._warnings.append(warning_texts.deprecated(resource.gvk, since, until, use))
            self._audit = {"k8s.io/deprecated": "true", "k8s.io/removed-release": until}

    def _authorize(self, call: Call, resource: Resource) -> None:
        verb = VERBS[call.method] if call.name else COLLECTION_VERBS[call.method]
        gvr = resource.gvr
        if gvr.group == RBAC and call.method in OPTIONS and MASTERS not in call.user.groups:
            raise Unsupported("checks of escalation")
        selected = re.fullmatch(r"metadata\.name=([^,]*)", call.first("fieldSelector"))
        attributes = Attributes(
            call.user,
            verb,
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
            f'User "{call.user.name}" cannot {verb} resource '
            f'"{full_resource(attributes)}" in API group "{gvr.group}" {where}'
        )
        why += f": {reason}" if reason else ""
        raise status.forbidden(gvr.group_resource, call.name, why)

    # --- writes ---

    def _context(self, call: Call) -> DefaultingContext:
        uid = "00000000-0000-4000-8000-000000000001"
        return DefaultingContext(
            now=NOW, uid=uid, suffix="bcdfg", user=call.user, cluster=self._world
        )

    def _surroundings(self, call: Call) -> Surroundings:
        world = self._world
        return Surroundings(VERSION, call.user, world, world.catalog, world.authorize)

    def _options(self, call: Call) -> WriteOptions:
        kind = OPTIONS[call.method]
        options = WriteOptions(
            dry_run=tuple(call.query.get("dryRun", ())),
            field_manager=call.first("fieldManager"),
            field_validation=call.first("fieldValidation"),
            force=True if "force" in call.query else None,
            apply=call.content_type == APPLY_PATCH,
        )
        errors = request_options.write_option_errors(options, kind)
        if errors:
            raise request_options.invalid_options(kind, errors)
        return options

    def _read(self, call: Call, target: Target) -> Incoming:
        media_type = call.content_type.lower().partition(";")[0].strip()
        if media_type != "application/json":
            raise Unsupported("bodies that are not JSON")
        validation = call.first("fieldValidation") or "Warn"
        read = read_object(call.text.encode(), target, self._context(call), validation)
        self._warnings += read.warnings
        require_version(read, target)
        return read

    def _create(self, call: Call, target: Target) -> Outcome:
        self._options(call)
        return self._created(call, target, self._read(call, target))

    def _created(self, call: Call, target: Target, read: Incoming) -> Outcome:
        warnings = write_path.write_warnings(read.draft.made, target, STRATEGIES)
        if call.subresource:
            self._existing(target)
        name = target.name or metadata.name(read.draft.made)
        _raise(plugin_refusals.lifecycle_refusal(target, "CREATE", name, self._world))
        if call.content_type != APPLY_PATCH:
            track_create(read.draft, target, self._writer(call))
        made = write_path.finish_create(write_path.begin_create(read.draft, target))
        _raise(refusal(target, made, None, self._surroundings(call)))
        self._warnings += warnings
        self._admit(call, target, Operation.CREATE, made, None)
        if call.subresource:
            raise Unsupported(f"create of {call.subresource} succeeded")
        existing = self.objects.get(self._key(target, metadata.name(made)))
        if existing is not None:
            being_deleted = bool(metadata.deletion_timestamp(existing))
            raise status.already_exists(
                target.group_resource, metadata.name(made), being_deleted=being_deleted
            )
        preconditions.require_unversioned(made, dry_run=call.dry_run)
        made["metadata"].pop("resourceVersion", None)
        return 201, self._store(call, target, made, None)

    def _replace(self, call: Call, target: Target) -> Outcome:
        self._options(call)
        read = self._read(call, target)
        write_path.begin_update(read.draft, target)
        creates = not call.subresource and strategy_of(target, STRATEGIES).created_by_update
        if creates and self._key(target, call.name) not in self.objects:
            return self._created(call, target, read)
        return self._updated(call, target, read, self._existing(target))

    def _patch(self, call: Call, target: Target) -> Outcome:
        options = self._options(call)
        exists = self._key(target, call.name) in self.objects
        if options.apply:
            return self._apply(call, target, None if not exists else self._existing(target))
        old = self._existing(target)
        result = patched(
            write_path.shown(old, target), call.text.encode(), call.content_type, target
        )
        validation = options.field_validation or "Warn"
        read = read_patched(result, target, self._context(call), validation)
        self._warnings += read.warnings
        write_path.begin_update(read.draft, target)
        return self._updated(call, target, read, old, is_patch=True)

    def _apply(self, call: Call, target: Target, old: dict[str, Any] | None) -> Outcome:
        try:
            config = json.loads(call.text)
        except ValueError:
            raise Unsupported("bodies that are not JSON") from None
        if not isinstance(config, dict):
            raise Unsupported("bodies that are no objects")
        if old is None and target.subresource:
            raise status.not_found(target.group_resource, target.name)
        if old is None:
            self._authorize(replace(call, method="POST"), target.resource)
        writer, force = self._writer(call), call.first("force") == "true"
        merged = applied(config, old, target, writer, force=force)
        read = read_applied(merged, target, self._context(call), config)
        write_path.begin_update(read.draft, target)
        if old is None:
            return self._created(call, target, read)
        return self._updated(call, target, read, old, is_patch=True)

    def _writer(self, call: Call) -> FieldWriter:
        self._ticks += 1
        now = f"2025-01-01T00:{self._ticks // 60:02}:{self._ticks % 60:02}Z"
        versions = Versions(self._custom.get, self._world.convert)
        return FieldWriter(call.first("fieldManager") or self._agent(call), now, versions)

    def _agent(self, call: Call) -> str:
        agent = str(call.headers.get("User-Agent", MANAGER))
        return agent.encode("latin-1").decode().partition("/")[0][:128]

    def _updated(
        self,
        call: Call,
        target: Target,
        read: Incoming,
        old: dict[str, Any],
        *,
        is_patch: bool = False,
    ) -> Outcome:
        before = write_path.shown(old, target)
        needs_version = strategy_of(target, STRATEGIES).needs_version
        preconditions.require_state(
            read.draft.made, before, target, needs_version=needs_version, is_patch=is_patch
        )
        warnings = write_path.write_warnings(read.draft.made, target, STRATEGIES)
        if call.content_type != APPLY_PATCH:
            track_update(read.draft, read.sent, old, target, self._writer(call))
        made = write_path.finish_update(read.draft, before, target, read.sent, STRATEGIES)
        surroundings = self._surroundings(call)
        _raise(refusal(target, made, before, surroundings))
        changed = write_path.stored_update(made, old, target, self._context(call))
        if call.subresource == "scale":
            parent = replace(target, subresource="")
            _raise(refusal(parent, changed, old, surroundings))
        self._warnings += warnings
        self._admit(call, target, Operation.UPDATE, made, before)
        if deletions.is_released(made, old):
            if not call.dry_run:
                self._remove(target, call.name)
            return 200, write_path.shown(made, target)
        return 200, write_path.shown(self._store(call, target, changed, old), target)

    def _delete(self, call: Call, target: Target) -> Outcome:
        body = call.body if isinstance(call.body, dict) else {}
        options = deletions.delete_options(body or None, call.query)
        _raise(plugin_refusals.lifecycle_refusal(target, "DELETE", call.name, self._world))
        old = self._existing(target)
        preconditions.require_deletable(options.preconditions, old, target)
        self._admit(call, target, Operation.DELETE, None, old, deletion_options(options))
        kept = deletions.marked(old, options, NOW)
        dry_run = bool(options.dry_run)
        if kept is not None:
            again = bool(metadata.deletion_timestamp(old))
            if dry_run or again:
                return 200, kept
            return 200, self._store(call, target, kept, old)
        if not dry_run:
            self._remove(target, call.name)
        return 200, deletions.gone_answer(old, target)

    def _delete_collection(self, call: Call, target: Target) -> Outcome:
        body = call.body if isinstance(call.body, dict) else {}
        options = deletions.delete_options(body or None, call.query)
        listed = self._list(call, target)
        for item in listed["items"]:
            old = {**item, "apiVersion": target.kind.api_version, "kind": target.kind.kind}
            self._admit(call, target, Operation.DELETE, None, old, deletion_options(options))
            if not options.dry_run:
                self._remove(target, metadata.name(old))
        return 200, listed

    def _connect(self, call: Call, target: Target) -> Outcome:
        self._existing(target)
        options = connect_options(target.kind, call.query, call.rest)
        self._admit(call, target, Operation.CONNECT, options, None)
        error = status.bad_request(f"pod {call.name} does not have a host assigned")
        return 400, error.status.to_json()

    def _admit(
        self,
        call: Call,
        target: Target,
        operation: Operation,
        new: Mapping[str, Any] | None,
        old: Mapping[str, Any] | None,
        options: dict[str, Any] | None = None,
    ) -> None:
        if target.group_resource in EXEMPT:
            return
        if self._unevaluated and target.resource.gvr.group != registration.GROUP:
            kinds = ", ".join(sorted({kind for kind, _ in self._unevaluated}))
            raise Unsupported(f"requests in the presence of a {kinds}")
        if call.method in OPTIONS and operation is not Operation.CONNECT:
            options = write_options(operation, self._options(call))
        request = request_of(
            target,
            operation,
            new,
            old,
            call.user,
            options,
            name="" if call.method == "DELETE" and not call.name else None,
            dry_run=call.dry_run,
        )
        verdict = self._engine.review(request, self._world)
        self._warnings += verdict.warnings
        self._audit.update(verdict.audit_annotations)
        if not verdict.allowed:
            raise Refused(verdict)

    # --- store ---

    def _list(self, call: Call, target: Target) -> dict[str, Any]:
        if call.method == "GET" and set(call.query) - LIST_PARAMETERS:
            raise Unsupported("options of lists")
        resource = target.resource
        try:
            labels = parse_label_selector(call.first("labelSelector"))
            fields = resolve_fields(parse_field_selector(call.first("fieldSelector")), resource)
        except SelectorError as error:
            raise status.bad_request(str(error)) from error
        items = []
        for key in sorted(self.objects):
            obj = self.objects[key]
            if key[:2] != resource.gvr.group_resource or call.namespace not in ("", key[2]):
                continue
            names = {"metadata.name": metadata.name(obj), "metadata.namespace": key[2]}
            if labels.matches(metadata.labels(obj)) and fields.matches(names):
                shown = self._world.convert(obj, resource.gvk)
                kept = shown.items() if resource.custom else _untyped(shown)
                items.append(dict(kept))
        limit = call.first("limit")
        if limit and (not limit.isdigit() or int(limit) < len(items)):
            raise Unsupported("lists in pieces")
        more = {"continue": ""} if resource.custom else {}
        return {
            "kind": resource.list_kind,
            "apiVersion": resource.gvk.api_version,
            "metadata": {"resourceVersion": "1", **more},
            "items": items,
        }

    def _key(self, target: Target, name: str) -> Key:
        return (*target.group_resource, target.namespace, name)

    def _existing(self, target: Target) -> dict[str, Any]:
        stored = self.objects.get(self._key(target, target.name))
        if stored is None:
            raise status.not_found(target.group_resource, target.name)
        return dict(self._world.convert(stored, target.resource.gvk))

    def _store(
        self, call: Call, target: Target, made: dict[str, Any], old: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """What is answered. Objects are kept in the version in which they came."""
        parent = replace(target, subresource="")
        kept = write_path.stored_object(made, parent, self._context(call))
        kept = with_old_times(kept, old or {})
        if call.dry_run or kept == old:
            return kept
        self._revision += 1
        kept["metadata"] = {**kept["metadata"], "resourceVersion": str(self._revision)}
        name = metadata.name(kept)
        stored = kept
        if target.resource.gvr.group == registration.GROUP:
            stored = {**kept, "apiVersion": f"{registration.GROUP}/v1"}
        self.objects[self._key(target, name)] = stored
        if target.resource.gvk.kind == "CustomResourceDefinition":
            self._custom.update(custom_kinds(kept))
            self._published.update(custom_schemas(kept))
        self._world = self._world.with_objects([stored])
        self._registered(kept["kind"], name, kept)
        return kept

    def _remove(self, target: Target, name: str) -> None:
        obj = self.objects.pop(self._key(target, name))
        self._world = self._world.without(obj)
        self._registered(obj["kind"], name, None)

    def _registered(self, kind: str, name: str, document: Mapping[str, Any] | None) -> None:
        """A registration object was stored, or removed."""
        if kind not in BY_KIND:
            return
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


def _untyped(obj: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Items of lists do not say what they are."""
    return [(key, value) for key, value in obj.items() if key not in {"apiVersion", "kind"}]


def _raise(error: StatusError | None) -> None:
    if error is not None:
        raise error
