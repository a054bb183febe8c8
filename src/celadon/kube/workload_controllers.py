"""What the controllers of workloads create: the Pod of a ReplicaSet, the Job of a CronJob, and the
hash by which they name it.

The last part names the controllers, and what each of them makes of a workload; before it stand the
pods that templates give, and the claims of a StatefulSet. As
k8s.io/kubernetes `pkg/controller`. Controllers ask the API server like anybody else, so what they
create may be refused where the workload was not.
"""

from __future__ import annotations

import functools
import itertools
import math
import pkgutil
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from celadon.kube import metadata
from celadon.kube.authorization import User
from celadon.kube.json_types import Json, JsonDict, JsonObject, fresh
from celadon.kube.names import GroupKind
from celadon.kube.quantity import Quantity, parse
from celadon.kube.releases import current_release, parse_version, per_release
from celadon.kube.well_known_values import (
    AUTHENTICATED,
    SERVICE_ACCOUNT_PREFIX,
    SUFFIX_LETTERS,
    TEMPLATE_GENERATION,
)
from celadon.records import dataclass

# --- Hashes of pod templates -------------------------------------------------
#
# The hash of a pod template, by which controllers name what they make of it.
#
# As k8s.io/kubernetes `pkg/controller` (`ComputeHash`): a checksum of how Go prints the structure
# in memory, with the names and types of all fields. Which these are depends on the release, so
# clusters of different releases give one template different hashes. `data/template_structs.txt`
# has the fields; how values are printed, k8s.io/utils `dump` (`ForHash`) says. Templates have
# been stored, so empty lists and maps are none, and quantities have their canonical text.

_ROOT: Final = "v1.PodTemplateSpec"
_FNV_PRIME: Final = 0x01000193
_FNV_START: Final = 0x811C9DC5
_FNV_BITS: Final = 0xFFFFFFFF
_LONG_WORD: Final = 64
"""Longer ones are texts of one template, and are not kept."""
_FEW_LOWS: Final = 16
"""To work out all low bytes of a word together takes as long as so many one by one."""
_LOWS: Final = 256
_IN_EACH: Final = sum(1 << 64 * low for low in range(_LOWS))
"""A number that has 1 in each of as many parts of 64 bits; times a byte, it has that in each."""
_ALL_LOWS: Final = sum(low << 64 * low for low in range(_LOWS))
_NUMBERS: Final = frozenset({"int32", "int64"})
_NOT_SET: Final = "<nil>"
_INLINE: Final = "+"
"""For a name in JSON: the members of the field stand beside those of the others."""
_ZERO_TIME: Final = "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}"
_WORD: Final = 1 << 64
"""Big numbers are printed in words of 64 bits, the lowest first."""


def template_hash(template: JsonObject, collisions: int | None = None) -> str:
    """Such as `6b474476c4`: the digits of a checksum in safe characters. `collisions` counts how
    often it was somebody else's already."""
    text = printed(template).encode()
    if collisions is not None:
        text += (collisions % (1 << 32)).to_bytes(8, "little")
    return safe_digits(checksum(text))


def checksum(text: bytes) -> int:
    """FNV-1a of 32 bits, in a part of the time that it takes byte by byte: templates have most
    words in common, and what is above the low byte is only multiplied by them."""
    first, *words = text.split(b" ")
    digest = _continued(first, _FNV_START)
    for word in words:
        if len(word) > _LONG_WORD:
            digest = _continued(b" " + word, digest)
        else:
            known, low = _word(word), digest & 0xFF
            own = known.made.get(low)
            if own is None:
                own = known.own(low)
            digest = own + (digest - low) * known.factor & _FNV_BITS
    return digest


def _continued(text: bytes, digest: int) -> int:
    for byte in text:
        digest = (digest ^ byte) * _FNV_PRIME & _FNV_BITS
    return digest


class _Word:
    """Holds what a word, with the space before it, makes of low bytes (`made`), and by what it
    multiplies all that is above them (`factor`)."""

    __slots__ = ("_text", "factor", "made")

    def __init__(self, word: bytes) -> None:
        self._text = b" " + word
        self.factor = pow(_FNV_PRIME, len(self._text), _FNV_BITS + 1)
        self.made: dict[int, int] = {}

    def own(self, low: int) -> int:
        """Work out one low byte, or all of them: a stream of manifests asks for all."""
        if len(self.made) == _FEW_LOWS:
            self.made = dict(enumerate(_of_all_lows(self._text)))
        own = self.made[low] = _continued(self._text, low)
        return own


_word: Final = functools.lru_cache(maxsize=512)(_Word)
"""A word of which all is known takes 17 KB."""


def _of_all_lows(text: bytes) -> array[int]:
    """As `_continued`, of each low byte: all in one number, whose parts do not touch each other,
    since 32 bits times the prime are fewer than 64."""
    digests, bits = _ALL_LOWS, _FNV_BITS * _IN_EACH
    for byte in text:
        digests = (digests ^ byte * _IN_EACH) * _FNV_PRIME & bits
    return array("Q", digests.to_bytes(8 * _LOWS, sys.byteorder))


def safe_digits(number: int) -> str:
    """The digits of a number as letters and digits that make no words."""
    return "".join(SUFFIX_LETTERS[ord(one) % len(SUFFIX_LETTERS)] for one in str(number))


def printed(template: JsonObject) -> str:
    """The text of which the hash is made."""
    return f"({_ROOT}){_struct(_ROOT, template)}"


# --- Structures --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Field:
    """Its name in Go, that in JSON, and its type."""

    name: str
    key: str
    type: str


@per_release()
def _structs() -> Mapping[str, tuple[_Field, ...]]:
    """The fields of each structure, by its type."""
    data = pkgutil.get_data("celadon.kube", "data/template_structs.txt")
    assert data is not None, "template_structs.txt belongs to the package"
    here = parse_version(current_release())
    found: dict[str, list[_Field]] = {}
    fields: list[_Field] = []
    for line in data.decode().splitlines():
        if not line.startswith((" ", "#")):
            fields = found[f"v1.{line}"] = []
        elif line.startswith(" "):
            name, key, type_, *releases = line.split()
            if not releases or _is_between(here, releases[0]):
                fields.append(_Field(name, key, type_))
    return {name: tuple(fields) for name, fields in found.items()}


def _is_between(here: tuple[int, int], releases: str) -> bool:
    """The last release that is described stands for all that come after it."""
    first, _, last = releases.partition("-")
    return parse_version(first) <= here and (here <= parse_version(last) or last == "1.36")


@per_release()
def _members(type_: str) -> Sequence[tuple[str, str, str, str]]:
    """Of each field of a structure: its name in JSON, its type, what stands before its value, and
    all that stands for it where there is none."""
    heads = ((one, f"{one.name}:({one.type})") for one in _structs()[type_])
    return [(one.key, one.type, head, head + _value(one.type, None)) for one, head in heads]


@per_release()
def _empty_struct(type_: str) -> str:
    return f"{{{' '.join(absent for *_, absent in _members(type_))}}}"


def _struct(type_: str, value: JsonObject) -> str:
    members = []
    for key, member_type, head, absent in _members(type_):
        member = dict(value) if key == _INLINE else value.get(key)
        members.append(absent if member is None else head + _value(member_type, member))
    return f"{{{' '.join(members)}}}"


def _value(type_: str, value: Json) -> str:
    """Return what stands behind the type."""
    if type_.startswith("*"):
        return _NOT_SET if value is None else _value(type_[1:], value)
    if type_.startswith("[]"):
        items = value if isinstance(value, list) else ()
        return f"[{' '.join(_value(type_[2:], one) for one in items)}]" if items else _NOT_SET
    if type_ == "v1.ResourceList":
        return _map("resource.Quantity", value)
    if type_.startswith("map[string]"):
        return _map(type_.removeprefix("map[string]"), value)
    if type_ in _structs():
        return _struct(type_, value) if value and isinstance(value, dict) else _empty_struct(type_)
    if type_ == "resource.Quantity":
        return _quantity(None if value is None else parse(str(value)))
    if type_ == "intstr.IntOrString":
        text, number = (value, 0) if isinstance(value, str) else ("", value or 0)
        kind = int(isinstance(value, str))
        return f"{{Type:(intstr.Type){kind} IntVal:(int32){number} StrVal:(string){text}}}"
    if type_ == "v1.Time":
        return _ZERO_TIME
    if type_ == "bool":
        return "true" if value else "false"
    return str(value or 0) if type_ in _NUMBERS else str(value or "")


def _map(type_: str, value: Json) -> str:
    if not value or not isinstance(value, dict):
        return _NOT_SET
    return f"map[{' '.join(f'{key}:{_value(type_, value[key])}' for key in sorted(value))}]"


# --- Quantities --------------------------------------------------------------


def _quantity(given: Quantity | None) -> str:
    """One that was never set has no format."""
    quantity = given or Quantity(0)
    mantissa, scale, exact = quantity.mantissa, quantity.scale, _NOT_SET
    if quantity.exact is not None:
        mantissa = scale = 0
        sign, digits, exponent = quantity.exact.as_tuple()
        unscaled = int("".join(map(str, digits)))
        negative = "true" if sign else "false"
        exact = (
            f"{{unscaled:(big.Int){{neg:(bool){negative} abs:(big.nat)[{_words(unscaled)}]}} "
            f"scale:(inf.Scale){-int(exponent)}}}"
        )
    form = "" if given is None else quantity.format.value
    return (
        f"{{i:(resource.int64Amount){{value:(int64){mantissa} scale:(resource.Scale){scale}}} "
        f"d:(resource.infDecAmount){{Dec:(*inf.Dec){exact}}} "
        f"s:(string){quantity.text} Format:(resource.Format){form}}}"
    )


def _words(number: int) -> str:
    def each(rest: int) -> Iterator[str]:
        while rest:
            yield str(rest % _WORD)
            rest //= _WORD

    return " ".join(each(number))


__all__ = [
    "CLAIM",
    "COMPLETION_INDEX",
    "DESIRED_REPLICAS",
    "FAILURE_COUNT",
    "JOB_CONTROLLER",
    "JOB_TRACKING",
    "MAX_REPLICAS",
    "NOT_COPIED",
    "POD_TEMPLATE_GENERATION",
    "REVISION",
    "REVISION_HASH",
    "REVISION_HISTORY",
    "TEMPLATE_HASH",
    "CreatedObject",
    "claim_name",
    "claims",
    "created_kinds",
    "created_objects",
    "daemon_pod",
    "first_ordinal",
    "job_pod",
    "owner_reference",
    "plain_pod",
    "replica_set_of",
    "revision_name",
    "safe_digits",
    "scheduled_job",
    "stateful_pod",
    "template_hash",
    "tolerate_node_problems",
]


# --- Claims of templates -----------------------------------------------------
#
# The PersistentVolumeClaims that a StatefulSet has for its first pod, one for each template.
#
# As k8s.io/kubernetes `pkg/controller/statefulset` (`getPersistentVolumeClaims`). They are
# created before the pod, without an owner: whose they are by
# `persistentVolumeClaimRetentionPolicy` is written into them later.


CLAIM: Final = "PersistentVolumeClaim"
"""The kind."""


def first_ordinal(stateful_set: JsonObject) -> int:
    """The number of the first pod."""
    found: int = ((stateful_set.get("spec") or {}).get("ordinals") or {}).get("start") or 0
    return found


def claim_name(template: JsonObject, pod: str) -> str:
    """The name of the claim that a pod has of a template."""
    return f"{metadata.name(template)}-{pod}"


def claims(stateful_set: JsonObject, ordinal: int) -> Iterable[JsonDict]:
    """Of the pod with a number, in the order of their templates; upstream it is none in
    particular."""
    spec = stateful_set.get("spec") or {}
    pod = f"{metadata.name(stateful_set)}-{ordinal}"
    chosen = (spec.get("selector") or {}).get("matchLabels") or {}
    for template in spec.get("volumeClaimTemplates") or ():
        claim: dict[str, object] = {"apiVersion": "v1", "kind": CLAIM, **fresh(template)}
        meta = claim["metadata"] = dict(metadata.metadata(claim))
        meta["name"] = claim_name(template, pod)
        meta["namespace"] = metadata.namespace(stateful_set)
        labels = {**(meta.get("labels") or {}), **chosen}
        if labels:
            meta["labels"] = labels
        yield claim


# --- Pods of templates -------------------------------------------------------
#
# The Pod that a controller makes of a template: what it adds, by the kind of the workload.
#
# As k8s.io/kubernetes `pkg/controller` (`GetPodFromTemplate`), `pkg/controller/daemon`,
# `statefulset` and `job`. Of several equal pods it is the first one. A pod of a DaemonSet is
# for a node; since nobody knows the nodes, its name is `NODE_NAME`.


NODE_NAME: Final = "node"
"""Stands for the name of the node that a pod of a DaemonSet is made for."""

REVISION_HASH: Final = "controller-revision-hash"
"""The label of pods with the hash, or the name, of the revision that they are of."""
COMPLETION_INDEX: Final = "batch.kubernetes.io/job-completion-index"
"""The label and annotation of a Job's pod with its number."""
POD_TEMPLATE_GENERATION: Final = "pod-template-generation"
"""The label of a DaemonSet's pod that counts templates."""
FAILURE_COUNT: Final = "batch.kubernetes.io/job-index-failure-count"
"""The annotation of a Job's pod that counts how often its index has failed."""
JOB_TRACKING: Final = "batch.kubernetes.io/job-tracking"
"""The finalizer of a Job's pod that is not counted yet."""
INDEX_VARIABLE: Final = "JOB_COMPLETION_INDEX"
_LONGEST_NAME: Final = 253
_LONGEST_BASE: Final = 58
"""Of names that are generated with five characters behind it."""
_LONGEST_REVISION: Final = 223
"""What is left of a name before the hash of a revision."""


def owner_reference(owner: JsonObject) -> JsonDict:
    """Return how a controller says whose object it is."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": metadata.name(owner),
        "uid": metadata.uid(owner),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def pod_of(template: JsonObject, owner: JsonObject) -> JsonDict:
    """Return what all controllers do: the template with an owner and a generated name."""
    told = metadata.metadata(template)
    name = metadata.name(owner)
    meta: dict[str, object] = {
        "generateName": f"{name}-" if len(name) < _LONGEST_NAME else name,
        "namespace": metadata.namespace(owner),
        "ownerReferences": [owner_reference(owner)],
    }
    for field in ("labels", "annotations", "finalizers"):
        if told.get(field):
            meta[field] = fresh(told[field])
    spec = fresh(template.get("spec") or {})
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def plain_pod(owner: JsonObject) -> dict[str, Json]:
    """Return the pod of a ReplicaSet or a ReplicationController."""
    return pod_of(_template(owner), owner)


def daemon_pod(owner: JsonObject, node: str = NODE_NAME, revision: str = "") -> JsonDict:
    """Of a DaemonSet: it tolerates what is wrong with a node, and goes to this one only. The hash
    of its template is the `revision`, unless there is another one already."""
    template = _template(owner)
    pod = pod_of(template, owner)
    labels, spec = pod["metadata"].setdefault("labels", {}), pod["spec"]
    generation = metadata.annotations(owner).get(TEMPLATE_GENERATION)
    if generation:
        labels[POD_TEMPLATE_GENERATION] = generation
    labels[REVISION_HASH] = revision or template_hash(template)
    tolerate_node_problems(spec)
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]
    wanted = _member(_member(spec, "affinity"), "nodeAffinity")
    _member(wanted, "requiredDuringSchedulingIgnoredDuringExecution")["nodeSelectorTerms"] = terms
    return pod


def tolerate_node_problems(spec: JsonDict) -> None:
    """What all pods of DaemonSets tolerate, added to the spec of one."""
    _tolerate(spec, "not-ready", "NoExecute")
    _tolerate(spec, "unreachable", "NoExecute")
    for pressure in ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"):
        _tolerate(spec, pressure, "NoSchedule")
    if spec.get("hostNetwork"):
        _tolerate(spec, "network-unavailable", "NoSchedule")


def _member(parent: dict[str, Json], field: str) -> JsonDict:
    """Return what is there, or a new object in its place."""
    found = parent.get(field)
    if not isinstance(found, dict):
        found = parent[field] = {}
    return found


def _tolerate(spec: JsonDict, condition: str, effect: str) -> None:
    """A toleration that says the same but for its seconds is replaced where it stands."""
    wanted = {"key": f"node.kubernetes.io/{condition}", "operator": "Exists", "effect": effect}
    given = spec.get("tolerations") or ()
    found = [wanted if _is_like(one, wanted) else one for one in given]
    spec["tolerations"] = found if wanted in found else [*found, wanted]


def _is_like(one: JsonObject, wanted: JsonObject) -> bool:
    fields = ("key", "effect", "operator", "value")
    return all(one.get(field, "") == wanted.get(field, "") for field in fields)


def first_stateful_pod(owner: JsonObject) -> JsonDict:
    """Of a StatefulSet that has no revisions yet."""
    revision = revision_name(owner, template_hash(_template(owner)))
    return stateful_pod(owner, first_ordinal(owner), revision)


def revision_name(owner: JsonObject, digest: str) -> str:
    """Of the ControllerRevision with a hash, which pods of a StatefulSet name in a label."""
    return f"{metadata.name(owner)[:_LONGEST_REVISION]}-{digest}"


def stateful_pod(owner: JsonObject, ordinal: int, revision: str) -> JsonDict:
    """The one with a number: it has a name, a host name, and claims of its own."""
    spec = owner.get("spec") or {}
    template, name = _template(owner), metadata.name(owner)
    pod = pod_of(template, owner)
    own = f"{name}-{ordinal}"
    pod["metadata"]["name"] = own
    pod["metadata"].setdefault("labels", {}).update(
        {
            "statefulset.kubernetes.io/pod-name": own,
            "apps.kubernetes.io/pod-index": str(ordinal),
            REVISION_HASH: revision,
        }
    )
    pod["spec"]["hostname"] = own
    if spec.get("serviceName"):
        pod["spec"]["subdomain"] = spec["serviceName"]
    claims = {
        metadata.name(one): claim_name(one, own) for one in spec.get("volumeClaimTemplates") or ()
    }
    volumes: list[dict[str, object]] = [
        {"name": name, "persistentVolumeClaim": {"claimName": claim}}
        for name, claim in claims.items()
    ]
    others = (one for one in pod["spec"].get("volumes") or () if one.get("name") not in claims)
    volumes += others
    if volumes:
        pod["spec"]["volumes"] = volumes
    return pod


def job_pod(
    owner: JsonObject, index: int = 0, failures: Mapping[str, str] | None = None
) -> JsonDict:
    """Of a Job: it is counted once it has ended, and may have an index. The annotations that count
    `failures` of the index are those of a first pod, unless there are others."""
    spec, name = owner.get("spec") or {}, metadata.name(owner)
    pod = pod_of(_template(owner), owner)
    meta = pod["metadata"]
    if JOB_TRACKING not in meta.get("finalizers", ()):
        meta["finalizers"] = [*meta.get("finalizers", ()), JOB_TRACKING]
    if spec.get("completionMode") != "Indexed":
        return pod
    for field in ("initContainers", "containers"):
        for container in pod["spec"].get(field) or ():
            _tell_index(container)
    end = f"-{index}-"
    meta["generateName"] = f"{name[: _LONGEST_BASE - len(end)]}{end}"
    meta.setdefault("annotations", {})[COMPLETION_INDEX] = str(index)
    meta.setdefault("labels", {})[COMPLETION_INDEX] = str(index)
    pod["spec"]["hostname"] = f"{name}-{index}"
    if spec.get("backoffLimitPerIndex") is not None:
        meta["annotations"] |= {FAILURE_COUNT: "0"} if failures is None else failures
    return pod


def _tell_index(container: JsonDict) -> None:
    variables = container.get("env") or []
    if any(one.get("name") == INDEX_VARIABLE for one in variables):
        return
    source = {"fieldRef": {"fieldPath": f"metadata.labels['{COMPLETION_INDEX}']"}}
    container["env"] = [*variables, {"name": INDEX_VARIABLE, "valueFrom": source}]


def _template(owner: JsonObject) -> JsonObject:
    found: JsonObject = (owner.get("spec") or {}).get("template") or {}
    return found


# --- Created objects ---------------------------------------------------------
#
# Which controller creates what: `created_objects`, for one workload the next objects of its
# chain.
#
# A Deployment becomes a ReplicaSet, a ReplicaSet a Pod; a CronJob a Job, a Job a Pod; a
# StatefulSet claims and, if it gets them all, a Pod. Names that upstream makes of a hash or of
# the time are made by rules that always give the same: see the hashes of templates and `SCHEDULED`.


SCHEDULED: Final = "2026-01-01T00:00:00Z"
"""The time for which a CronJob makes its Job; a fixed one, so that names stay what they are."""
SCHEDULED_MINUTES: Final = 29453760
"""The same in minutes, as names of such Jobs have it."""

TEMPLATE_HASH: Final = "pod-template-hash"
"""The label by which the pods of a Deployment's ReplicaSets differ."""
JOB_CONTROLLER: Final = "kubernetes.io/job-controller"
"""Who manages a Job unless it names somebody else."""
_DEPLOYMENT: Final = "deployment.kubernetes.io/"
REVISION: Final = f"{_DEPLOYMENT}revision"
"""The annotation that says which of a Deployment's ReplicaSets this is."""
REVISION_HISTORY: Final = f"{_DEPLOYMENT}revision-history"
"""The annotation with those it has been before, with commas."""
DESIRED_REPLICAS: Final = f"{_DEPLOYMENT}desired-replicas"
"""The annotation with the size that the Deployment had when this was scaled."""
MAX_REPLICAS: Final = f"{_DEPLOYMENT}max-replicas"
"""The annotation with the pods that the Deployment could have then."""
NOT_COPIED: Final = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        "deprecated.deployment.rollback.to",
        REVISION,
        REVISION_HISTORY,
        DESIRED_REPLICAS,
        MAX_REPLICAS,
    }
)
"""Annotations of a Deployment that its ReplicaSets do not take over."""
_POD_TEMPLATE: Final = ("spec", "template")
_CLAIM_TEMPLATES: Final = ("spec", "volumeClaimTemplates")
_STATEFUL_SET: Final = GroupKind("apps", "StatefulSet")


@dataclass(frozen=True, slots=True)
class CreatedObject:
    """This is what a controller creates, and as whom. `template` is the path in the workload that
    stands for the root of the object; `count` is how many equal ones are wanted at once, as far as
    that is known."""

    value: JsonDict
    user: User
    template: tuple[str | int, ...]
    count: int


@dataclass(frozen=True, slots=True)
class _Controller:
    """`account` is its ServiceAccount in kube-system."""

    account: str
    create: Callable[[JsonObject], JsonDict]
    count: Callable[[JsonObject], int]
    template: tuple[str, ...] = _POD_TEMPLATE

    @property
    def user(self) -> User:
        """Whom the API server takes it for."""
        groups = ("system:serviceaccounts", "system:serviceaccounts:kube-system", AUTHENTICATED)
        return User(f"{SERVICE_ACCOUNT_PREFIX}kube-system:{self.account}", groups)


def created_kinds(kind: GroupKind) -> tuple[str, ...]:
    """Return what becomes of a workload of a kind, one after the other; nothing of other kinds."""
    found = _CREATED.get(kind, ())
    then = (created_kinds(_BETWEEN[one]) for one in found if one in _BETWEEN)
    return (*found, *itertools.chain.from_iterable(then))


def created_objects(workload: JsonObject) -> tuple[CreatedObject, ...]:
    """Return what becomes of a workload as the API server has stored it, in the order in which its
    controller asks for it: the last needs all before it. Nothing of what no controller makes
    anything of, and of Jobs that somebody else manages."""
    kind = metadata.gvk(workload).group_kind
    controller = _CONTROLLERS.get(kind)
    if controller is None:
        return ()
    spec: JsonObject = workload.get("spec") or {}
    if spec.get("managedBy") not in (None, JOB_CONTROLLER):
        return ()
    user, count = controller.user, controller.count(spec)
    made = CreatedObject(controller.create(workload), user, controller.template, count)
    if kind != _STATEFUL_SET:
        return (made,)
    before = (
        CreatedObject(one, user, (*_CLAIM_TEMPLATES, number), count)
        for number, one in enumerate(claims(workload, first_ordinal(workload)))
    )
    return (*before, made)


def _replica_set(deployment: JsonObject) -> JsonDict:
    """The first one."""
    spec = deployment.get("spec") or {}
    replicas = _replicas(spec)
    annotations = {
        key: value
        for key, value in metadata.annotations(deployment).items()
        if key not in NOT_COPIED
    }
    annotations[REVISION] = "1"
    annotations[DESIRED_REPLICAS] = str(replicas)
    annotations[MAX_REPLICAS] = str(replicas + _surge(spec, replicas))
    return replica_set_of(deployment, replicas, annotations)


def replica_set_of(
    deployment: JsonObject, replicas: int, annotations: Mapping[str, str]
) -> JsonDict:
    """With the template that the Deployment has now."""
    spec = deployment.get("spec") or {}
    template: JsonDict = fresh(spec.get("template") or {})
    collisions = (deployment.get("status") or {}).get("collisionCount")
    found = template_hash(template, collisions)
    template.setdefault("metadata", {}).setdefault("labels", {})[TEMPLATE_HASH] = found
    selector: JsonDict = fresh(spec.get("selector") or {})
    selector.setdefault("matchLabels", {})[TEMPLATE_HASH] = found
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{metadata.name(deployment)[: _LONGEST_NAME - 1 - len(found)]}-{found}",
            "namespace": metadata.namespace(deployment),
            "labels": dict(template["metadata"]["labels"]),
            "annotations": dict(annotations),
            "ownerReferences": [owner_reference(deployment)],
        },
        "spec": {
            "replicas": replicas,
            "minReadySeconds": spec.get("minReadySeconds") or 0,
            "selector": selector,
            "template": template,
        },
    }


def _surge(spec: JsonObject, replicas: int) -> int:
    """Return how many pods there may be beyond the wanted ones while the template changes."""
    strategy = spec.get("strategy") or {}
    if strategy.get("type") != "RollingUpdate":
        return 0
    wanted = (strategy.get("rollingUpdate") or {}).get("maxSurge") or 0
    if isinstance(wanted, str):
        return math.ceil(replicas * int(wanted.removesuffix("%")) / 100)
    return int(wanted)


def _job(cron_job: JsonObject) -> JsonDict:
    name = f"{metadata.name(cron_job)}-{SCHEDULED_MINUTES}"
    return scheduled_job(cron_job, name, SCHEDULED)


def scheduled_job(cron_job: JsonObject, name: str, scheduled: str) -> JsonDict:
    """The Job of a CronJob for a time."""
    template = (cron_job.get("spec") or {}).get("jobTemplate") or {}
    told = metadata.metadata(template)
    annotations = dict(told.get("annotations") or {})
    annotations["batch.kubernetes.io/cronjob-scheduled-timestamp"] = scheduled
    meta: JsonDict = {
        "name": name,
        "namespace": metadata.namespace(cron_job),
        "annotations": annotations,
        "ownerReferences": [owner_reference(cron_job)],
    }
    if told.get("labels"):
        meta["labels"] = dict(told["labels"])
    spec = fresh(template.get("spec") or {})
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}


def _one(_: JsonObject) -> int:
    return 1


def _replicas(spec: JsonObject) -> int:
    found = spec.get("replicas")
    return found if isinstance(found, int) else 1


def _parallel(spec: JsonObject) -> int:
    """The pods of a Job that run side by side."""
    if spec.get("suspend"):
        return 0
    found, most = spec.get("parallelism"), spec.get("completions")
    wanted = found if isinstance(found, int) else 1
    return min(wanted, most) if isinstance(most, int) else wanted


_CONTROLLERS: Final[Mapping[GroupKind, _Controller]] = {
    GroupKind("", "ReplicationController"): _Controller(
        "replication-controller", plain_pod, _replicas
    ),
    GroupKind("apps", "DaemonSet"): _Controller("daemon-set-controller", daemon_pod, _one),
    GroupKind("apps", "Deployment"): _Controller("deployment-controller", _replica_set, _one, ()),
    GroupKind("apps", "ReplicaSet"): _Controller("replicaset-controller", plain_pod, _replicas),
    _STATEFUL_SET: _Controller("statefulset-controller", first_stateful_pod, _replicas),
    GroupKind("batch", "CronJob"): _Controller(
        "cronjob-controller", _job, _one, ("spec", "jobTemplate")
    ),
    GroupKind("batch", "Job"): _Controller("job-controller", job_pod, _parallel),
}

_CREATED: Final[Mapping[GroupKind, tuple[str, ...]]] = {
    **dict.fromkeys(_CONTROLLERS, ("Pod",)),
    GroupKind("apps", "Deployment"): ("ReplicaSet",),
    _STATEFUL_SET: (CLAIM, "Pod"),
    GroupKind("batch", "CronJob"): ("Job",),
}
_BETWEEN: Final[Mapping[str, GroupKind]] = {
    "Job": GroupKind("batch", "Job"),
    "ReplicaSet": GroupKind("apps", "ReplicaSet"),
}
