"""Functions of the defaulting rules that set or change one field.

Each gets the object that holds the field, the field's name (an index for items of a list), the run
and the rule with its arguments. INVARIANT (fresh containers): what the decoder made may be changed
in place; values taken over from elsewhere are copied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from celadon.kube.defaulting.defaulting_context import Run
from celadon.kube.defaulting.image_references import has_latest_tag
from celadon.kube.defaulting.rule_paths import lookup
from celadon.kube.fieldpath import FieldPath, MapKey
from celadon.kube.go.go_strconv import parse_int
from celadon.kube.schemas.typed_values import DecodeError
from celadon.kube.well_known_values import ROLLBACK_TO, TEMPLATE_GENERATION

Rule = Mapping[str, Any]
FieldFunction = Callable[[Any, Any, Run, Rule], None]


DROP_STOP_SIGNAL: Final = "dropStopSignal"
"""The function that takes a field away without its gate, and what is empty without it."""


def pull_policy(parent: Any, key: str, _: Run, rule: Rule) -> None:
    """`Always` for an image with the tag `latest`, or with none, else `IfNotPresent`."""
    if not parent.get(key):
        image = parent.get(rule["from"], "")
        parent[key] = "Always" if has_latest_tag(image) else "IfNotPresent"


def empty_object_if_only_keys(parent: Any, key: str, _: Run, rule: Rule) -> None:
    """A volume without a source is an empty directory."""
    if all(present in rule["keys"] for present in parent):
        parent[key] = {}


def negative_to_one(parent: Any, key: str, _: Run, __: Rule) -> None:
    """A negative number becomes 1."""
    if parent.get(key, 0) < 0:
        parent[key] = 1


def drop_keys(parent: Any, key: str, _: Run, rule: Rule) -> None:
    """Removes the members named in `keys`, and the object with the last of them."""
    target = parent.get(key)
    if not target:
        return
    for name in rule["keys"]:
        target.pop(name, None)
    if not target:
        del parent[key]


def keep_keys(parent: Any, key: Any, _: Run, rule: Rule) -> None:
    """Removes all members but those named in `keys`."""
    parent[key] = {name: value for name, value in parent[key].items() if name in rule["keys"]}


def set_key(parent: Any, key: str, run: Run, rule: Rule) -> None:
    """Sets the member `key` of a map to what stands at `from`, if anything does."""
    value = lookup(rule["from"], parent, run.root)
    if value:
        parent.setdefault(key, {})[rule["key"]] = value


def append_unique(parent: Any, key: str, _: Run, rule: Rule) -> None:
    """Adds `item` to a list that does not have it."""
    items = parent.setdefault(key, [])
    if rule["item"] not in items:
        items.append(rule["item"])


def now(parent: Any, key: str, run: Run, rule: Rule) -> None:
    """The time of the request, where there is none; with `force` always."""
    if rule.get("force") or parent.get(key) is None:
        parent[key] = run.context.now


def uuid(parent: Any, key: str, run: Run, _: Rule) -> None:
    """A uid, where there is none."""
    if not parent.get(key):
        parent[key] = run.context.uid


def lower(parent: Any, key: str, _: Run, rule: Rule) -> None:
    """The text of the sibling `from` in lower case, where there is none."""
    if not parent.get(key) and parent.get(rule["from"]):
        parent[key] = parent[rule["from"]].lower()


def suffix(parent: Any, key: str, _: Run, rule: Rule) -> None:
    """The text of the sibling `from` with `suffix` behind it, where there is none."""
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
    """The generation of a DaemonSet's template lives in an annotation: it is at least `min`.
    DecodeError if it is no integer."""
    annotations = parent.setdefault(key, {})
    value = _integer_annotation(annotations, TEMPLATE_GENERATION) or 0
    annotations[TEMPLATE_GENERATION] = str(max(value, rule["min"]))


def count_templates(meta: dict[str, Any], old: Mapping[str, str], *, same: bool) -> None:
    """The generation of a changed DaemonSet's template is the server's alone: one more than that of
    the old one, unless it is the `same`."""
    before = _integer_annotation(old, TEMPLATE_GENERATION) or 0
    meta.setdefault("annotations", {})[TEMPLATE_GENERATION] = str(before if same else before + 1)


def rollback_to(parent: Any, key: str, _: Run, __: Rule) -> None:
    """The revision in a Deployment's annotation in canonical form. DecodeError if it is no
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


def drop_stop_signal(parent: Any, key: str, run: Run, _: Rule) -> None:
    """Without its feature gate `lifecycle.stopSignal` is dropped, and an empty `lifecycle` with
    it."""
    lifecycle = parent.get(key)
    if lifecycle is not None and lifecycle.pop("stopSignal", None) is not None:
        run.is_disturbed = True
        if not lifecycle:
            del parent[key]


FIELD_FUNCTIONS: Final[Mapping[str, FieldFunction]] = {
    "appendUnique": append_unique,
    "dropKeys": drop_keys,
    DROP_STOP_SIGNAL: drop_stop_signal,
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
