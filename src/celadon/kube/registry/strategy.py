"""Strategies: what is special about the writes of a kind (validation, versions, warnings); one
`Strategy` per kind.

`strategy_of` finds it: built-in kinds share one that goes by the rules of `validation`, other rooms
add theirs (the registration objects), and a custom kind brings its own. `write_errors` says why an
object is refused, `write_warnings` and `valid_warnings` what a client is warned about. As the
`strategy.go` files of k8s.io/kubernetes `pkg/registry` and k8s.io/apiserver
`pkg/endpoints/{handlers,deprecation}`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from celadon.kube import fieldpath, metadata
from celadon.kube.authorization import Attributes, Ruling, User
from celadon.kube.defaulting.defaulting_context import EMPTY, NOBODY
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.names import GroupKind, GroupVersionKind
from celadon.kube.registry.decoded_object import Target, has_identity
from celadon.kube.releases import is_since, per_release, wording
from celadon.kube.resources.api_resources import Catalog, Lookups, known_resources
from celadon.kube.schemas.struct_decoding import codec_for
from celadon.kube.validation import built_in_validations
from celadon.kube.validation.field_checks import gates_on
from celadon.kube.validation.object_meta import (
    IN_PATHS,
    validate_meta_of_update,
    validate_object_meta,
)
from celadon.kube.warnings import kind_warnings
from celadon.kube.well_known_values import DEFINITION_KIND
from celadon.records import dataclass, field

if TYPE_CHECKING:
    from celadon.kube.crd.custom_kinds import CustomKind

Authorize = Callable[[Attributes], tuple[Ruling, str, str | None]]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Holds what validation may know besides the objects. Without `authorize` nobody asks whether a
    writer may read what the object refers to. `gates` are those that are not as by default."""

    user: User = NOBODY
    lookups: Lookups = EMPTY
    catalog: Catalog | None = None
    authorize: Authorize | None = None
    gates: Mapping[str, bool] = field(default_factory=dict)
    forgiven: list[str] = field(default_factory=list)
    """Filled by validation: what an update does not keep to and need not, for it was so before."""

    @property
    def resources(self) -> Catalog:
        return known_resources() if self.catalog is None else self.catalog

    @property
    def gates_on(self) -> frozenset[str]:
        """Return the gates that are on, of those that validation asks for."""
        return gates_on(self.gates)


Create = Callable[[JsonObject, Surroundings], list[FieldError]]
Update = Callable[[JsonObject, JsonObject, Surroundings], list[FieldError]]


def _no_warnings(_: JsonObject) -> Sequence[str]:
    return ()


def _is_canonical(_: JsonDict) -> None:
    """Leave an object as it is."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """Says what is special about writes of a kind. `create` and `update` are about objects as
    validating admission will see them, `status` about an update to the status. `warnings` is about
    the object as it was decoded. `canonicalize` brings a valid object into the form in
    which it is stored.

    `needs_version`: an update has to say which version it changes. `created_by_update`: an update
    of an object that does not exist creates it. `created_by_status`: so does an
    apply of the status, since upstream forgets that a subresource creates nothing.
    """

    create: Create
    update: Update
    status: Update
    needs_version: bool
    warnings: Callable[[JsonObject], Sequence[str]] = _no_warnings
    canonicalize: Callable[[JsonDict], None] = _is_canonical
    created_by_update: bool = False
    created_by_status: bool = False

    def creates_through(self, target: Target) -> bool:
        """Return whether what is absent can be created where a request is sent."""
        return not target.subresource or (target.subresource == "status" and self.created_by_status)


NEEDS_VERSION: Final = frozenset(
    {
        DEFINITION_KIND,
        GroupKind("apiregistration.k8s.io", "APIService"),
        GroupKind("certificates.k8s.io", "ClusterTrustBundle"),
        GroupKind("certificates.k8s.io", "PodCertificateRequest"),
        GroupKind("coordination.k8s.io", "Lease"),
        GroupKind("coordination.k8s.io", "LeaseCandidate"),
        GroupKind("internal.apiserver.k8s.io", "StorageVersion"),
        GroupKind("node.k8s.io", "RuntimeClass"),
        GroupKind("policy", "PodDisruptionBudget"),
        GroupKind("resource.k8s.io", "ResourcePoolStatusRequest"),
        GroupKind("storage.k8s.io", "CSIDriver"),
        GroupKind("storage.k8s.io", "CSINode"),
        GroupKind("storage.k8s.io", "CSIStorageCapacity"),
        GroupKind("storage.k8s.io", "VolumeAttachment"),
        GroupKind("storagemigration.k8s.io", "StorageVersionMigration"),
    }
)
CREATED_BY_UPDATE: Final = frozenset(
    {
        GroupKind("", "Endpoints"),
        GroupKind("", "Event"),
        GroupKind("events.k8s.io", "Event"),
        GroupKind("", "LimitRange"),
        GroupKind("", "Service"),
        GroupKind("coordination.k8s.io", "Lease"),
        GroupKind("coordination.k8s.io", "LeaseCandidate"),
        GroupKind("node.k8s.io", "RuntimeClass"),
        GroupKind("rbac.authorization.k8s.io", "Role"),
        GroupKind("rbac.authorization.k8s.io", "RoleBinding"),
        GroupKind("rbac.authorization.k8s.io", "ClusterRole"),
        GroupKind("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    }
)


def metadata_of_update(obj: JsonObject, old: JsonObject, _: Surroundings) -> list[FieldError]:
    """Return what a server checks of an update whatever the kind."""
    return list(validate_meta_of_update(obj.get("metadata") or {}, old.get("metadata") or {}))


@per_release(maxsize=1024)
def built_in_strategy(kind: GroupVersionKind) -> Strategy:
    """Return the strategy of a kind that has none of its own."""
    group_kind = kind.group_kind
    covered = built_in_validations.validation_of(group_kind) is not None
    stored = codec_for(kind) is not None and has_identity(kind)

    def create(obj: JsonObject, surroundings: Surroundings) -> list[FieldError]:
        errors = access_asked_for(group_kind, obj, surroundings.lookups)
        errors += built_in_validations.validate_create(obj, kind, surroundings.gates_on)
        if not errors and stored and not covered:
            errors += validate_object_meta(obj.get("metadata") or {}, IN_PATHS)
        return errors

    def update(obj: JsonObject, old: JsonObject, surroundings: Surroundings) -> list[FieldError]:
        if not covered:
            return metadata_of_update(obj, old, surroundings) if stored else []
        return built_in_validations.validate_update(obj, old, kind, surroundings.gates_on)

    def status(obj: JsonObject, old: JsonObject, surroundings: Surroundings) -> list[FieldError]:
        errors = access_given(group_kind, obj, old, surroundings.lookups)
        errors += built_in_validations.validate_status_update(obj, old, kind, surroundings.gates_on)
        return errors or right_to_sign(group_kind, obj, old, surroundings)

    return Strategy(
        create,
        update,
        status,
        needs_version=group_kind in NEEDS_VERSION,
        created_by_update=group_kind in CREATED_BY_UPDATE,
        created_by_status=group_kind == GroupKind("", "Service"),
    )


@functools.cache
def definition_strategy() -> Strategy:
    """Return the strategy of CustomResourceDefinitions."""
    # late: few objects are definitions.
    from celadon.kube.crd import definition_validation, structural_schemas

    def create(obj: JsonObject, surroundings: Surroundings) -> list[FieldError]:
        return definition_validation.definition_errors(obj)

    def update(obj: JsonObject, old: JsonObject, surroundings: Surroundings) -> list[FieldError]:
        return definition_validation.definition_update_errors(obj, old)

    def status(obj: JsonObject, old: JsonObject, surroundings: Surroundings) -> list[FieldError]:
        errors = metadata_of_update(obj, old, surroundings)
        return [*errors, *definition_validation.definition_status_errors(obj)]

    coerce = structural_schemas.coerce_defaults
    return Strategy(create, update, status, needs_version=True, canonicalize=coerce)


def custom_strategy(kind: CustomKind) -> Strategy:
    """Return the strategy of a kind that a CustomResourceDefinition defines. Upstream validates
    metadata of an update for any kind first and then for this one, so that all causes about it come
    twice."""

    def create(obj: JsonObject, _: Surroundings) -> list[FieldError]:
        return kind.validate(dict(obj)).errors

    def update(obj: JsonObject, old: JsonObject, surroundings: Surroundings) -> list[FieldError]:
        outcome = kind.validate(dict(obj), dict(old))
        surroundings.forgiven.extend(outcome.warnings)
        return [*metadata_of_update(obj, old, surroundings), *outcome.errors]

    def status(obj: JsonObject, old: JsonObject, surroundings: Surroundings) -> list[FieldError]:
        outcome = kind.validate_status(dict(obj), dict(old))
        surroundings.forgiven.extend(outcome.warnings)
        return [*metadata_of_update(obj, old, surroundings), *outcome.errors]

    return Strategy(create, update, status, needs_version=True)


def strategy_of(target: Target, special: Mapping[GroupKind, Strategy] = {}) -> Strategy:
    """Return the strategy of a kind. `special` are the strategies of kinds that other rooms know.
    Of a scale it is that of Scale: the strategy of the object above it has no say."""
    if target.schema is not None:
        return custom_strategy(target.schema)
    if target.group_kind == DEFINITION_KIND:
        return definition_strategy()
    return special.get(target.group_kind) or built_in_strategy(target.kind)


def write_errors(
    target: Target,
    obj: JsonObject,
    old: JsonObject | None,
    surroundings: Surroundings,
    special: Mapping[GroupKind, Strategy] = {},
) -> list[FieldError]:
    """Return why an object that validating admission would see is refused with 422; `old` is None
    for a new one."""
    if target.is_scale_of_custom:  # the object that it belongs to is looked at
        return []
    strategy = strategy_of(target, special)
    if target.subresource == "scale" or old is None:
        return strategy.create(obj, surroundings)
    if target.subresource == "status":
        return strategy.status(obj, old, surroundings)
    if target.subresource:
        return built_in_validations.validate_subresource_update(
            obj, old, target.kind, target.subresource, surroundings.gates_on
        )
    return strategy.update(obj, old, surroundings)


# --- administrators of devices ---
#
# Who may reach devices as an administrator: claims in namespaces that are labelled for it. As
# k8s.io/kubernetes `pkg/registry/resource/utils.go`. Of a namespace that nobody knows, nothing is
# said here.

ADMIN_ACCESS_LABEL: Final = wording(
    "resource.kubernetes.io/admin-access", v1_34="resource.k8s.io/admin-access"
)
CLAIM: Final = GroupKind("resource.k8s.io", "ResourceClaim")
TEMPLATE: Final = GroupKind("resource.k8s.io", "ResourceClaimTemplate")
POD_CERTIFICATE: Final = GroupKind("certificates.k8s.io", "PodCertificateRequest")
_REQUESTS: Final = FieldPath("spec", "devices", "requests")
_RESULTS: Final = FieldPath("status", "allocation", "devices", "results")


def access_asked_for(kind: GroupKind, obj: JsonObject, lookups: Lookups) -> list[FieldError]:
    """Return what is wrong with the access that a new claim or template asks for; the path is that
    of a claim for both."""
    if kind not in (CLAIM, TEMPLATE):
        return []
    spec = obj.get("spec") or {}
    claim = (spec.get("spec") or {}) if kind == TEMPLATE else spec
    requests = (claim.get("devices") or {}).get("requests") or ()
    wishes = [request.get("exactly") or request for request in requests]
    return _refused(_REQUESTS, wishes, obj, lookups)


def access_given(
    kind: GroupKind, obj: JsonObject, old: JsonObject, lookups: Lookups
) -> list[FieldError]:
    """Return what is wrong with the access that a claim was allocated, unless it had such access
    before."""
    if kind != CLAIM or any(result.get("adminAccess") for result in _results(old)):
        return []
    return _refused(_RESULTS, _results(obj), obj, lookups)


def _results(obj: JsonObject) -> Sequence[JsonObject]:
    allocation = (obj.get("status") or {}).get("allocation") or {}
    return (allocation.get("devices") or {}).get("results") or ()


def _refused(
    path: FieldPath, wishes: Sequence[JsonObject], obj: JsonObject, lookups: Lookups
) -> list[FieldError]:
    first = next((index for index, wishe in enumerate(wishes) if wishe.get("adminAccess")), None)
    if first is None or not is_since("1.33"):
        return []
    label = ADMIN_ACCESS_LABEL.text
    namespace = lookups.namespace(metadata.namespace(obj))
    if namespace is None or metadata.labels(namespace).get(label) == "true":
        return []
    reason = (
        f"admin access to devices requires the `{label}: true` label on the containing namespace"
    )
    return [fieldpath.forbidden(path.index(first).child("adminAccess"), reason)]


# --- signers ---


def right_to_sign(
    kind: GroupKind, obj: JsonObject, old: JsonObject, surroundings: Surroundings
) -> list[FieldError]:
    """Return why a pod's request for a certificate may not be answered by this user: only those may
    who sign for its signer, or for all of its domain."""
    # As `StatusStrategy` of `pkg/registry/certificates/podcertificaterequest`.
    authorize, user = surroundings.authorize, surroundings.user
    if kind != POD_CERTIFICATE or authorize is None or obj.get("status") == old.get("status"):
        return []
    signer: str = (old.get("spec") or {}).get("signerName") or ""
    for name in (signer, f"{signer.partition('/')[0]}/*"):
        attributes = Attributes(
            user,
            "sign",
            resource_request=True,
            group=kind.group,
            version="*",
            resource="signers",
            name=name,
        )
        if authorize(attributes)[0] is Ruling.ALLOW:
            return []
    reason = f'User {quote(user.name)} is not permitted to "sign" for signer {quote(signer)}'
    return [fieldpath.forbidden(FieldPath("spec", "signerName"), reason)]


# --- warnings ---


def write_warnings(
    decoded: JsonObject, target: Target, special: Mapping[GroupKind, Strategy] = {}
) -> list[str]:
    """Return the warnings about an object as it was sent: `decoded` as `Draft.form` shows it before
    anything was done with it."""
    return list(strategy_of(target, special).warnings(decoded))


def valid_warnings(obj: JsonObject, old: JsonObject | None, target: Target) -> list[str]:
    """Return the warnings about an object that is valid, which follow those of `write_warnings`;
    both as validation sees them, `old` None for a new one."""
    is_custom = target.schema is not None
    kind = target.group_kind
    return kind_warnings(kind, obj, old, subresource=target.subresource, custom=is_custom)


def repeated_owner_warnings(obj: JsonObject, *, mutated: bool = False) -> list[str]:
    """Return the warning about owners that an object names twice, if it does, also where the object
    is refused. `mutated` is when mutating admission has put them there, or a patch: upstream looks
    at objects that a patch made after mutating admission only."""
    owners = metadata.metadata(obj).get("ownerReferences") or ()
    seen, uids = set(), []
    for owner in owners:
        key = metadata.owner_key(owner)
        if key in seen:
            uids.append(owner.get("uid", ""))
        seen.add(key)
    if not uids:
        return []
    when = " after mutating admission happens" if mutated else ""
    return [
        f".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner "
        "references in 1.20+, and may reject such requests as early as 1.24; please fix your "
        f"requests; duplicate UID(s) observed: {', '.join(uids)}"
    ]


def without_repeated_owners(meta: JsonDict) -> None:
    """Take from the metadata, in place, the owners that it names once more."""
    owners = meta.get("ownerReferences")
    if owners:
        meta["ownerReferences"] = list(
            {metadata.owner_key(owner): owner for owner in owners}.values()
        )
