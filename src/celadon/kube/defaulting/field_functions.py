"""Functions of the defaulting rules that set or change one field.

Each gets the object that holds the field, the field's name (an index for items of a list), the run
and the rule with its arguments. INVARIANT (fresh containers): what the decoder made may be changed
in place; values taken over from elsewhere are copied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from celadon.kube.defaulting.defaulting_context import Run, lookup
from celadon.kube.fieldpath import FieldPath, MapKey
from celadon.kube.go.go_text import parse_int
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.schemas.value_decoding import DecodeError
from celadon.kube.well_known_values import CONTAINER_LISTS, ROLLBACK_TO, TEMPLATE_GENERATION
from celadon.late_patterns import late_pattern
from celadon.memoization import remembering

# --- Image references --------------------------------------------------------
#
# Image references: the one question defaulting asks is whether the tag is `latest`.
#
# As github.com/distribution/reference, `ParseNormalizedNamed` and `TagNameOnly`. An unparsable
# reference has no tag, so its pull policy is not `Always`. What was taken for a registry need
# not be a valid host name, as long as it is a valid path component.

_COMPONENT: Final = r"[a-z0-9]++(?:(?:\.|__?+|-++)[a-z0-9]++)*+"
_DOMAIN_LABEL: Final = r"[a-zA-Z0-9]++(?:-++[a-zA-Z0-9]++)*+"
_DOMAIN: Final = rf"(?:{_DOMAIN_LABEL}(?:\.{_DOMAIN_LABEL})*+|\[[a-fA-F0-9:]+\])(?::[0-9]++)?"
_REFERENCE: Final = late_pattern(
    rf"(?:{_DOMAIN}/)?(?P<path>{_COMPONENT}(?:/{_COMPONENT})*+)"
    r"(?::(?P<tag>[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}))?"
    r"(?:@(?P<algorithm>[A-Za-z][A-Za-z0-9]*+(?:[-_+.][A-Za-z][A-Za-z0-9]*+)*+)"
    r":(?P<digest>[0-9a-fA-F]{32,}))?"
)
_IDENTIFIER: Final = late_pattern("[a-f0-9]{64}")
_DIGEST_LENGTHS: Final = {"sha256": 64, "sha384": 96, "sha512": 128}
_LOWER_HEX: Final = late_pattern("[a-f0-9]*")
_MAX_PATH: Final = 255
_MAX_REFERENCE: Final = 4096
"""Longer texts than this cannot name an image (domain, path, tag and digest are bounded)."""


@remembering(1024)
def has_latest_tag(image: str) -> bool:
    """Return whether the tag is `latest`, written or implied."""
    if len(image) > _MAX_REFERENCE or _IDENTIFIER.fullmatch(image) is not None:
        return False
    domain, path = _split_domain(image)
    name = path.partition(":")[0]
    if name != name.lower():
        return False
    match = _REFERENCE.fullmatch(f"{domain}/{path}")
    if match is None or len(match["path"]) > _MAX_PATH:
        return False
    digest = match["digest"]
    if digest is not None:
        right_length = _DIGEST_LENGTHS.get(match["algorithm"]) == len(digest)
        if not right_length or _LOWER_HEX.fullmatch(digest) is None:
            return False
    tag: str | None = match["tag"]
    return tag == "latest" if tag is not None else digest is None


def _split_domain(image: str) -> tuple[str, str]:
    first, slash, rest = image.partition("/")
    named = slash and (
        first == "localhost" or "." in first or ":" in first or first != first.lower()
    )
    domain, path = (first, rest) if named else ("docker.io", image)
    if domain == "index.docker.io":
        domain = "docker.io"
    if domain == "docker.io" and "/" not in path:
        path = f"library/{path}"
    return domain, path


Rule = JsonObject
FieldFunction = Callable[[Any, Any, Run, Rule], None]

DROP_STOP_SIGNAL: Final = "dropStopSignal"
DROP_IMAGE_VOLUMES: Final = "dropImageVolumes"
DROP_INIT_POLICIES: Final = "dropInitPolicies"
PLAIN_PROC_MOUNT: Final = "plainProcMount"
DROP_CAPACITY: Final = "dropCapacity"
DROP_NOTHING: Final = "dropNothing"
DROPPING: Final[Mapping[str, str]] = {
    DROP_CAPACITY: "",
    DROP_IMAGE_VOLUMES: "[*].image",
    DROP_INIT_POLICIES: "[*].restartPolicy",
    DROP_NOTHING: "",
    DROP_STOP_SIGNAL: ".stopSignal",
    PLAIN_PROC_MOUNT: "",
}
"""The functions that take a field away without its gate, and what is empty or useless without it,
with where below their target the field is."""
IDLE: Final[Mapping[str, str]] = {DROP_INIT_POLICIES: "Always", PLAIN_PROC_MOUNT: "Default"}
"""The values that such functions leave where they are: an object with one does not use the gate."""

PARTLY_DROPPED: Final[Mapping[str, Rule]] = {
    "capacity": {"fn": DROP_CAPACITY},
    "initContainers": {"fn": DROP_INIT_POLICIES},
    "procMount": {"fn": PLAIN_PROC_MOUNT},
    "volumes": {"fn": DROP_IMAGE_VOLUMES},
}
"""What drops parts of the lists that a gate has to do with, or leaves a default, by the fields."""


def pull_policy(parent: Any, key: str, _: Run, rule: Rule) -> None:
    """Set `Always` for an image with the tag `latest`, or with none, else `IfNotPresent`."""
    if not parent.get(key):
        image = parent.get(rule["from"], "")
        parent[key] = "Always" if has_latest_tag(image) else "IfNotPresent"


def empty_object_if_only_keys(parent: Any, key: str, _: Run, rule: Rule) -> None:
    """Set an empty directory for a volume without a source."""
    if all(present in rule["keys"] for present in parent):
        parent[key] = {}


def negative_to_one(parent: Any, key: str, _: Run, __: Rule) -> None:
    """Set 1 for a negative number."""
    if parent.get(key, 0) < 0:
        parent[key] = 1


def drop_keys(parent: Any, key: str, _: Run, rule: Rule) -> None:
    """Remove the members named in `keys`, and the object with the last of them."""
    target = parent.get(key)
    if not target:
        return
    for name in rule["keys"]:
        target.pop(name, None)
    if not target:
        del parent[key]


def keep_keys(parent: Any, key: object, _: Run, rule: Rule) -> None:
    """Remove all members but those named in `keys`."""
    parent[key] = {name: value for name, value in parent[key].items() if name in rule["keys"]}


def set_key(parent: Any, key: str, run: Run, rule: Rule) -> None:
    """Set the member `key` of a map to what stands at `from`, if anything does."""
    value = lookup(rule["from"], parent, run.root)
    if value:
        parent.setdefault(key, {})[rule["key"]] = value


def append_unique(parent: Any, key: str, _: Run, rule: Rule) -> None:
    """Add `item` to a list that does not have it."""
    items = parent.setdefault(key, [])
    if rule["item"] not in items:
        items.append(rule["item"])


def now(parent: Any, key: str, run: Run, rule: Rule) -> None:
    """Set the time of the request, where there is none; with `force` always."""
    if rule.get("force") or parent.get(key) is None:
        parent[key] = run.context.now


def uuid(parent: Any, key: str, run: Run, _: Rule) -> None:
    """Set a uid, where there is none."""
    if not parent.get(key):
        parent[key] = run.context.uid


def lower(parent: Any, key: str, _: Run, rule: Rule) -> None:
    """Set the text of the sibling `from` in lower case, where there is none."""
    if not parent.get(key) and parent.get(rule["from"]):
        parent[key] = parent[rule["from"]].lower()


def suffix(parent: Any, key: str, _: Run, rule: Rule) -> None:
    """Set the text of the sibling `from` with `suffix` behind it, where there is none."""
    if not parent.get(key) and parent.get(rule["from"]):
        parent[key] = parent[rule["from"]] + rule["suffix"]


def target_port(parent: Any, key: str, _: Run, __: Rule) -> None:
    """`targetPort` of a Service is its `port` unless given."""
    if not parent.get(key):
        parent[key] = parent.get("port", 0)


def _integer_annotation(annotations: Mapping[str, str], name: str) -> int | None:
    text = annotations.get(name)
    if text is None:
        return None
    path = FieldPath("metadata", "annotations", MapKey(name))
    try:
        return parse_int(text)
    except ValueError as error:
        raise DecodeError(str(error), path) from None


def template_generation(parent: Any, key: str, _: Run, rule: Rule) -> None:
    """Set the generation of a DaemonSet's template, which lives in an annotation: it is at least
    `min`. DecodeError if it is no integer."""
    annotations = parent.setdefault(key, {})
    value = _integer_annotation(annotations, TEMPLATE_GENERATION) or 0
    annotations[TEMPLATE_GENERATION] = str(max(value, rule["min"]))


def count_templates(meta: JsonDict, old: Mapping[str, str], *, same: bool) -> None:
    """Count the generation of a changed DaemonSet's template, which is the server's alone: it is
    one more than that of the old one, unless it is the `same`."""
    before = _integer_annotation(old, TEMPLATE_GENERATION) or 0
    meta.setdefault("annotations", {})[TEMPLATE_GENERATION] = str(before if same else before + 1)


def rollback_to(parent: Any, key: str, _: Run, __: Rule) -> None:
    """Set the revision in a Deployment's annotation in canonical form. DecodeError if it is no
    integer."""
    annotations = parent.get(key) or {}
    value = _integer_annotation(annotations, ROLLBACK_TO)
    if value is not None:
        annotations[ROLLBACK_TO] = str(value)


def storage_version_name(parent: Any, key: str, run: Run, _: Rule) -> None:
    """`status.storedVersions` of a new CRD is its storage version."""
    if parent.get(key):
        return
    versions = run.root.get("spec", {}).get("versions") or ()
    stored = [version.get("name", "") for version in versions if version.get("storage")]
    if stored:
        parent[key] = stored[:1]


_NOT_REQUESTED: Final = frozenset({"name", "firstAvailable"})


def drop_capacity(parent: Any, key: str, run: Run, _: Rule) -> None:
    """Drop the capacity that a request for devices names. One of `v1beta1` that names nothing else
    is left with an empty one: inside, where it is dropped, it still asks for a device."""
    if parent.get(key) is None:
        return
    run.is_disturbed = True
    others = parent.keys() - _NOT_REQUESTED - {key}
    if any(parent[field] or isinstance(parent[field], bool | list) for field in others):
        del parent[key]
    else:
        parent[key] = {}


def drop_stop_signal(parent: Any, key: str, run: Run, _: Rule) -> None:
    """Drop `lifecycle.stopSignal` without its feature gate, and an empty `lifecycle` with it."""
    lifecycle = parent.get(key)
    if lifecycle is not None and lifecycle.pop("stopSignal", None) is not None:
        run.is_disturbed = True
        if not lifecycle:
            del parent[key]


def plain_proc_mount(parent: Any, key: str, run: Run, _: Rule) -> None:
    """Replace a mask that may not be chosen by the default one."""
    if parent.get(key) not in (None, "Default"):
        run.is_disturbed = True
        parent[key] = "Default"


def drop_image_volumes(parent: Any, key: str, run: Run, _: Rule) -> None:
    """Drop volumes that are images without their feature gate, and with them the places where they
    are mounted."""
    volumes = parent.get(key) or ()
    names = {volume.get("name") for volume in volumes if volume.get("image") is not None}
    if not names:
        return
    run.is_disturbed = True
    _keep(parent, key, [volume for volume in volumes if volume.get("image") is None])
    for container in (
        container for lists in CONTAINER_LISTS for container in parent.get(lists) or ()
    ):
        mounts = container.get("volumeMounts")
        if mounts:
            result = [mount for mount in mounts if mount.get("name") not in names]
            _keep(container, "volumeMounts", result)


def drop_init_policies(parent: Any, key: str, run: Run, _: Rule) -> None:
    """Without rules for restarts, init containers say nothing of them, but for sidecars."""
    for container in parent.get(key) or ():
        if container.get("restartPolicy") not in (None, "Always"):
            run.is_disturbed = True
            del container["restartPolicy"]


def drop_nothing(*_: object) -> None:
    """Leave a field that was meant to go: an object that has it uses its gate all the same."""


def _keep(parent: JsonDict, key: str, items: list[Any]) -> None:
    if items:
        parent[key] = items
    else:
        del parent[key]


FIELD_FUNCTIONS: Final[Mapping[str, FieldFunction]] = {
    "appendUnique": append_unique,
    "dropKeys": drop_keys,
    DROP_IMAGE_VOLUMES: drop_image_volumes,
    DROP_INIT_POLICIES: drop_init_policies,
    DROP_CAPACITY: drop_capacity,
    DROP_NOTHING: drop_nothing,
    DROP_STOP_SIGNAL: drop_stop_signal,
    PLAIN_PROC_MOUNT: plain_proc_mount,
    "emptyObjectIfOnlyKeys": empty_object_if_only_keys,
    "keepKeys": keep_keys,
    "lower": lower,
    "negativeToOne": negative_to_one,
    "now": now,
    "pullPolicy": pull_policy,
    "rollbackTo": rollback_to,
    "setKey": set_key,
    "storageVersionName": storage_version_name,
    "suffix": suffix,
    "targetPort": target_port,
    "templateGeneration": template_generation,
    "uuid": uuid,
}


# --- Tolerations -------------------------------------------------------------
#
# Tolerations merged as upstream's plugins do it (k8s.io/kubernetes `pkg/util/tolerations`).


def merged(tolerations: Sequence[JsonObject]) -> list[JsonDict]:
    """Return copies, in order, of those that no other one covers; of equal ones the first."""
    result: list[dict[str, object]] = []
    for i, toleration in enumerate(tolerations):
        others = (*result, *(later for later in tolerations[i + 1 :] if later != toleration))
        if not any(covers(other, toleration) for other in others):
            result.append(dict(toleration))
    return result


def covers(wide: JsonObject, narrow: JsonObject) -> bool:
    """Return whether `wide` tolerates at least what `narrow` does, as far as upstream sees it."""
    if wide == narrow:
        return True
    exists = wide.get("operator") == "Exists"
    any_key = exists and not wide.get("key")
    if not any_key and wide.get("key", "") != narrow.get("key", ""):
        return False
    if wide.get("effect") and wide["effect"] != narrow.get("effect"):
        return False
    if not _lasts(wide, narrow):
        return False
    if wide.get("operator") not in {None, "", "Equal"}:
        return exists
    same = wide.get("value", "") == narrow.get("value", "")
    return same and narrow.get("operator") == "Equal"


def _lasts(wide: JsonObject, narrow: JsonObject) -> bool:
    """Return whether `wide` tolerates as long; seconds count for NoExecute only, none means for
    ever."""
    limit = wide.get("tolerationSeconds")
    if wide.get("effect") != "NoExecute" or limit is None:
        return True
    seconds = narrow.get("tolerationSeconds")
    return seconds is not None and bool(seconds <= limit)
