"""Rules of one policy that are for the same requests and do the same: one policy with several
validations, as one would write it by hand.

Translations keep a policy for each rule, so that each can be judged alone; what is written is
merged.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from celadon.admission.registration import BINDING_KIND, POLICY_KIND
from celadon.kube import JsonObject
from celadon.kube.json_types import JsonDict
from celadon.migrate.translations import object_name


@dataclass(frozen=True, slots=True)
class Merged:
    """Documents of a policy, and what the policies are called that stand for others."""

    documents: tuple[JsonObject, ...]
    names: dict[str, str]


def merged(name: str, documents: Sequence[JsonObject], taken: Collection[str]) -> Merged:
    """Return the documents that rules of a policy of this name have become, as they are written.
    `taken` are the names of policies that no other may have."""
    bindings: dict[str, list[JsonObject]] = {}
    for one in documents:
        if one["kind"] == BINDING_KIND:
            bindings.setdefault(one["spec"]["policyName"], []).append(one)
    groups: dict[str, list[list[JsonObject]]] = {}
    for one in documents:
        if one["kind"] == POLICY_KIND:
            same = groups.setdefault(_alike(one, bindings.get(_name(one), [])), [])
            group = next((each for each in same if _fits(one, each)), None)
            if group is None:
                same.append([one])
            else:
                group.append(one)
    names: dict[str, str] = {}
    made: dict[str, JsonObject] = {}
    for group in (each for same in groups.values() for each in same if len(each) > 1):
        first, *others = map(_name, group)
        new = _common_name(name, [first, *others])
        if new in {*taken, *made} - {first, *others}:
            continue
        names |= dict.fromkeys([first, *others], new)
        made[first] = _joined(group, new)
    return Merged(tuple(_written(documents, names, made)), names)


def _name(document: JsonObject) -> str:
    return str(document["metadata"]["name"])


def _alike(policy: JsonObject, bindings: Iterable[JsonObject]) -> str:
    """Return a text that is the same of policies that may be merged."""
    name = _name(policy)
    spec = {key: one for key, one in policy["spec"].items() if key not in _JOINED}
    bound = [(_name(one).removeprefix(name), {**one["spec"], "policyName": ""}) for one in bindings]
    return json.dumps([policy["metadata"].get("annotations"), spec, bound], sort_keys=True)


_JOINED = ("validations", "variables", "auditAnnotations")


def _fits(policy: JsonObject, group: Iterable[JsonObject]) -> bool:
    """Return whether no variable or audit annotation of a policy is another one in a group."""
    return all(
        one == other or one.get(key) != other.get(key)
        for part, key in (("variables", "name"), ("auditAnnotations", "key"))
        for one in policy["spec"].get(part) or ()
        for each in group
        for other in each["spec"].get(part) or ()
    )


def _common_name(name: str, names: Sequence[str]) -> str:
    """Return the name of the whole policy with the words in which the names of others end."""
    rests = [one.removeprefix(f"{name}-").split("-") for one in names]
    ending: list[str] = []
    for words in zip(*map(reversed, rests), strict=False):
        if len(set(words)) > 1:
            break
        ending.insert(0, words[0])
    return object_name([name, *ending])


def _joined(group: Sequence[JsonObject], name: str) -> JsonObject:
    spec: JsonDict = {}
    for part, value in group[0]["spec"].items():
        spec[part] = value
    for part in _JOINED:
        found: list[JsonObject] = []
        for one in (each for policy in group for each in policy["spec"].get(part) or ()):
            found += [] if one in found else [one]
        if found:
            spec[part] = found
    spec["validations"] = spec.pop("validations")  # last, behind the variables
    return {**group[0], "metadata": {**group[0]["metadata"], "name": name}, "spec": spec}


def _written(
    documents: Sequence[JsonObject], names: dict[str, str], made: dict[str, JsonObject]
) -> Iterator[JsonObject]:
    seen: set[tuple[str, str]] = set()
    for one in documents:
        if one["kind"] == POLICY_KIND and _name(one) in names:
            one = made.get(_name(one), one)
        elif one["kind"] == BINDING_KIND and one["spec"]["policyName"] in names:
            policy = one["spec"]["policyName"]
            new = names[policy]
            suffix = _name(one).removeprefix(policy)
            about = {**one["metadata"], "name": f"{new}{suffix}"}
            one = {**one, "metadata": about, "spec": {**one["spec"], "policyName": new}}
        place = one["kind"], _name(one)
        if place not in seen and not (one["kind"] == POLICY_KIND and _name(one) in names):
            seen.add(place)
            yield one
