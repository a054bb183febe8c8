"""Translations: policies with their bindings, or the reason why there are none; and how those of
one policy are written together."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from celadon.admission import registration
from celadon.kube import JsonObject
from celadon.kube.fieldpath import FieldError
from celadon.kube.json_types import JsonDict
from celadon.kube.releases import current_release, parse_version
from celadon.kube.well_known_values import ADMISSION_REGISTRATION


class NotTranslated(Exception):
    """Says that a rule has something that admission policies, or this translation, cannot express.
    `reason` is a phrase, `instead` a sentence that tells what to use, or empty."""

    def __init__(self, reason: str, instead: str = "") -> None:
        self.reason = reason
        self.instead = instead
        super().__init__(reason)


POLICY_VERSION: Final = f"{ADMISSION_REGISTRATION}/v1"


@dataclass(frozen=True, slots=True)
class Origin:
    """Names what a translation is made from: a policy of another engine, or a rule of it."""

    policy: str
    rule: str
    """Empty of a policy that is translated as one."""
    path: tuple[str | int, ...]
    """Where the rule stands in the document."""
    does: str
    """`validate`, `mutate`, or what else the engine calls it."""


@dataclass(frozen=True, slots=True)
class Translation:
    """Holds the documents that a rule has become, or the reason why it was not translated."""

    origin: Origin
    documents: tuple[JsonObject, ...] = ()
    """Policies and bindings, in the order in which they are to be written."""
    reason: str = ""
    """Why the rule was not translated; empty if it was."""
    instead: str = ""
    exceptions: tuple[str, ...] = ()
    """The exceptions that it heeds."""
    left_out: tuple[tuple[str, str], ...] = ()
    """Exceptions to the rule that cannot be said, each with the reason."""
    notes: tuple[str, ...] = ()
    """What it is known to decide otherwise, each a phrase."""

    @property
    def policies(self) -> list[JsonObject]:
        """Return the policies among the documents."""
        kinds = (registration.POLICY_KIND, registration.MUTATING_POLICY_KIND)
        return [document for document in self.documents if document["kind"] in kinds]


def _told(error: FieldError) -> str:
    detail = (
        error.issues[-1].message.removesuffix(" (in container '')")
        if error.issues
        else error.detail
    )
    return f"{error.path}: {detail}"


def renamed(translation: Translation, names: Mapping[str, str]) -> Translation:
    """Return a translation whose policies have other names; the names of bindings begin with those
    of their policies."""
    if all(name == new for name, new in names.items()):
        return translation
    return replace(
        translation,
        documents=tuple(_renamed(document, names) for document in translation.documents),
    )


def _renamed(document: JsonObject, names: Mapping[str, str]) -> JsonObject:
    name = document["metadata"]["name"]
    result: JsonDict = {
        **document, "metadata": {**document["metadata"], "name": names.get(name, name)}
    }  # fmt: skip
    if "policyName" in document["spec"]:
        policy = document["spec"]["policyName"]
        new = names.get(policy, policy)
        result["spec"] = {**document["spec"], "policyName": new}
        result["metadata"] = {**document["metadata"], "name": new + name.removeprefix(policy)}
    return result


_SAID_OF_POLICIES: Final = ("policies.kyverno.io/", "metadata.gatekeeper.sh/", "description")
"""Annotations that say what a policy is for."""


def policy_document(
    name: Sequence[str], annotations: Mapping[str, str], spec: JsonObject
) -> JsonObject:
    """Return a policy, called by the parts of a name. Raises NotTranslated if an API server would
    refuse it."""
    whole, unless = _with_namespace_variables({"failurePolicy": "Fail", **spec})
    whole["validations"] = [
        {**_of_one_line(validation), "expression": f"{unless}({validation['expression']})"}
        if unless
        else _of_one_line(validation)
        for validation in spec.get("validations") or ()
    ]
    return _accepted(registration.POLICY_KIND, name, annotations, whole)


_MUTATING_SINCE: Final = "1.36"


def mutating_document(
    name: Sequence[str], annotations: Mapping[str, str], spec: JsonObject
) -> JsonObject:
    """Return a mutating policy. Raises NotTranslated if an API server of the current release would
    refuse it, or has none."""
    release = current_release()
    if parse_version(release) < parse_version(_MUTATING_SINCE):
        raise NotTranslated(
            f"a mutation, which Kubernetes {release} has no policies for",
            f"Policies that mutate are of Kubernetes {_MUTATING_SINCE}.",
        )
    whole, unless = _with_namespace_variables({"failurePolicy": "Fail", **spec})
    if unless:
        raise NotTranslated(
            "a mutation by what the namespace is like",
            "Match conditions do not see the namespace: say it with `namespaceSelector`.",
        )
    return _accepted(registration.MUTATING_POLICY_KIND, name, annotations, whole)


TEMPLATES_OF_JOBS: Final = (
    "changes Jobs only when they are created: their template cannot change later, so that an "
    "update which Kyverno changes is refused"
)


def without_updates_of_jobs(document: JsonObject) -> JsonObject:
    """Return a policy that is not asked when Jobs are updated, if it changes nothing but their
    template: such an update would be refused."""
    spec = document["spec"]
    mutations = spec.get("mutations") or ()
    if not mutations or not all(_OF_TEMPLATE.search(str(mutation)) for mutation in mutations):
        return document
    rules = [
        part
        for rule in spec["matchConstraints"]["resourceRules"]
        for part in _with_jobs_apart(rule)
    ]
    constraints = {**spec["matchConstraints"], "resourceRules": rules}
    return {**document, "spec": {**spec, "matchConstraints": constraints}}


_OF_TEMPLATE: Final = re.compile(r"/spec/template\b|\bObject\.spec\.template\b", re.ASCII)


def _with_jobs_apart(rule: JsonObject) -> list[JsonObject]:
    operations = rule["operations"]
    if "jobs" not in rule["resources"] or not {"CREATE", "UPDATE"} <= set(operations):
        return [rule]
    resources = [resource for resource in rule["resources"] if resource != "jobs"]
    created = [operation for operation in operations if operation != "UPDATE"]
    jobs = {**rule, "operations": created, "resources": ["jobs"]}
    return [*([{**rule, "resources": resources}] if resources else ()), jobs]


_OF_NAMESPACE: Final = re.compile(r"\bnamespaceObject\b", re.ASCII)


def _with_namespace_variables(spec: JsonObject) -> tuple[JsonDict, str]:
    """Return a spec whose match conditions do not ask for the namespace, which an API server does
    not give them (`webhook/matchconditions/matcher.go`): those that do become variables. The text
    begins validations that hold where one of them does not; it is empty if there are none."""
    conditions = spec.get("matchConditions") or ()
    asking = [
        condition for condition in conditions if _OF_NAMESPACE.search(condition["expression"])
    ]
    result = dict(spec)
    if not asking:
        return result, ""
    left = [condition for condition in conditions if condition not in asking]
    own_variables = list(spec.get("variables") or ())
    names = {variable["name"] for variable in own_variables}
    variables: list[JsonObject] = []
    for item in asking:
        name = _camel_case(item["name"])
        while name in names:
            name += "Here"
        names.add(name)
        variables.append({"name": name, "expression": item["expression"]})
    result.pop("matchConditions")
    if left:
        result["matchConditions"] = left
    result["variables"] = [*variables, *own_variables]
    return result, "".join(f"!variables.{variable['name']} || " for variable in variables)


def _camel_case(name: str) -> str:
    first, *words = re.split(r"[^A-Za-z0-9]+", name)
    return first + "".join(word.capitalize() for word in words)


_CONTAINERS: Final = re.compile(
    r"\(((?P<spec>object(\.\w+)*\.spec)\.containers"
    r"( \+ (?P=spec)\.\?(init|ephemeral)Containers\.orValue\(\[\]\))+)\)(?=\.(all|exists)\()",
    re.ASCII,
)
"""The containers of a pod, as `cel_text` sums them up."""


def with_container_variable(spec: JsonDict) -> JsonDict:
    """Return a spec whose validations call all containers of a pod by a name."""
    texts = [validation["expression"] for validation in spec["validations"]]
    match = next(filter(None, map(_CONTAINERS.search, texts)), None)
    variables = list(spec.get("variables") or ())
    if match is None or any(variable["name"] == "containers" for variable in variables):
        return spec
    named = [
        {
            **validation,
            "expression": validation["expression"].replace(match[0], "variables.containers"),
        }
        for validation in spec["validations"]
    ]
    variable = {"name": "containers", "expression": match[1]}
    result = {name: member for name, member in spec.items() if name != "validations"}
    return {**result, "variables": [*variables, variable], "validations": named}


def json_patches(expressions: Iterable[str]) -> list[JsonObject]:
    """Return mutations by JSON patches, one after the other."""
    return [
        {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}
        for expression in expressions
    ]


def pointer_to(pointer: str, name: str) -> str:
    """Return the expression of a JSON pointer to a member."""
    escaped = name.replace("~", "~0").replace("/", "~1")
    if pointer.endswith("'"):
        return f"{pointer[:-1]}/{escaped}'"
    return f"{pointer} + '/{escaped}'"


def apply_configuration(expression: str) -> JsonObject:
    """Return a mutation that merges an object into what is there."""
    return {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}


def _accepted(
    kind: str, name: Sequence[str], annotations: Mapping[str, str], spec: JsonObject
) -> JsonObject:
    result = {
        key: text
        for key, text in annotations.items()
        if key.startswith(_SAID_OF_POLICIES) and not key.endswith("/minversion")
    }
    document: JsonObject = {
        "apiVersion": POLICY_VERSION,
        "kind": kind,
        "metadata": {"name": object_name(name), **({"annotations": result} if result else {})},
        "spec": spec,
    }
    for error in registration.validate_create(registration.decode_object(document, kind).value):
        raise NotTranslated(f"what an API server would refuse, in {_told(error)}")
    return document


def _of_one_line(validation: JsonObject) -> JsonObject:
    """Return a validation whose message has no line breaks, which an API server would not take."""
    message = validation.get("message")
    return {**validation, "message": " ".join(message.split())} if message else validation


def object_name(parts: Sequence[str]) -> str:
    """Return the parts of a name as one that an object may have."""
    text = re.sub(r"[^a-z0-9.-]+", "-", "-".join(parts).lower()).strip("-.")
    return text[:253].rstrip("-.")


def binding_document(
    policy: JsonObject,
    actions: Sequence[str],
    param_ref: JsonObject | None = None,
    namespaces: Sequence[JsonObject] = (),
    suffix: str = "",
) -> JsonObject:
    """Return a binding of a policy, for namespaces whose labels fulfil requirements."""
    name = policy["metadata"]["name"]
    spec: JsonDict = {"policyName": name}
    if param_ref is not None:
        spec["paramRef"] = param_ref
    if namespaces:
        selector = {"matchExpressions": list(namespaces)}
        spec["matchResources"] = {"namespaceSelector": selector}
    spec["validationActions"] = list(actions)
    return {
        "apiVersion": POLICY_VERSION,
        "kind": registration.BINDING_KIND,
        "metadata": {"name": f"{name}-{suffix}" if suffix else name},
        "spec": spec,
    }


def mutating_binding_document(
    policy: JsonObject, param_ref: JsonObject | None = None
) -> JsonObject:
    """Return the binding of a mutating policy."""
    name = policy["metadata"]["name"]
    params = {"paramRef": param_ref} if param_ref else {}
    return {
        "apiVersion": POLICY_VERSION,
        "kind": registration.MUTATING_BINDING_KIND,
        "metadata": {"name": name},
        "spec": {"policyName": name, **params},
    }


# --- Merging -----------------------------------------------------------------
#
# Rules of one policy that are for the same requests and do the same: one policy with several
# validations, as one would write it by hand.
#
# Translations keep a policy for each rule, so that each can be judged alone; what is written is
# merged.


@dataclass(frozen=True, slots=True)
class Merged:
    """Documents of a policy, and what the policies are called that stand for others."""

    documents: tuple[JsonObject, ...]
    names: dict[str, str]


def merged(name: str, documents: Sequence[JsonObject], reserved: Collection[str]) -> Merged:
    """Return the documents that rules of a policy of this name have become, as they are written.
    `reserved` are the names of policies that no other may have."""
    bindings: dict[str, list[JsonObject]] = {}
    for document in documents:
        if document["kind"] == registration.BINDING_KIND:
            bindings.setdefault(document["spec"]["policyName"], []).append(document)
    groups: dict[str, list[list[JsonObject]]] = {}
    for document in documents:
        if document["kind"] == registration.POLICY_KIND:
            same = groups.setdefault(_alike(document, bindings.get(_name(document), [])), [])
            group = next((each for each in same if _fits(document, each)), None)
            if group is None:
                same.append([document])
            else:
                group.append(document)
    names: dict[str, str] = {}
    result: dict[str, JsonObject] = {}
    for group in (each for same in groups.values() for each in same if len(each) > 1):
        first, *remaining = map(_name, group)
        new = _common_name(name, [first, *remaining])
        if new in {*reserved, *result} - {first, *remaining}:
            continue
        names |= dict.fromkeys([first, *remaining], new)
        result[first] = _joined(group, new)
    return Merged(tuple(_written(documents, names, result)), names)


def _name(document: JsonObject) -> str:
    return str(document["metadata"]["name"])


def _alike(policy: JsonObject, bindings: Iterable[JsonObject]) -> str:
    """Return a text that is the same of policies that may be merged."""
    name = _name(policy)
    spec = {key: member for key, member in policy["spec"].items() if key not in _JOINED}
    bound = [
        (_name(binding).removeprefix(name), {**binding["spec"], "policyName": ""})
        for binding in bindings
    ]
    return json.dumps([policy["metadata"].get("annotations"), spec, bound], sort_keys=True)


_JOINED = ("validations", "variables", "auditAnnotations")


def _fits(policy: JsonObject, group: Iterable[JsonObject]) -> bool:
    """Return whether no variable or audit annotation of a policy is another one in a group."""
    return all(
        item == other or item.get(key) != other.get(key)
        for part, key in (("variables", "name"), ("auditAnnotations", "key"))
        for item in policy["spec"].get(part) or ()
        for each in group
        for other in each["spec"].get(part) or ()
    )


def _common_name(name: str, names: Sequence[str]) -> str:
    """Return the name of the whole policy with the words in which the names of others end."""
    rests = [text.removeprefix(f"{name}-").split("-") for text in names]
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
        result: list[JsonObject] = []
        for item in (each for policy in group for each in policy["spec"].get(part) or ()):
            result += [] if item in result else [item]
        if result:
            spec[part] = result
    spec["validations"] = spec.pop("validations")  # last, behind the variables
    return {**group[0], "metadata": {**group[0]["metadata"], "name": name}, "spec": spec}


def _written(
    documents: Sequence[JsonObject], names: dict[str, str], changed: dict[str, JsonObject]
) -> Iterator[JsonObject]:
    seen: set[tuple[str, str]] = set()
    for document in documents:
        if document["kind"] == registration.POLICY_KIND and _name(document) in names:
            document = changed.get(_name(document), document)
        elif (
            document["kind"] == registration.BINDING_KIND
            and document["spec"]["policyName"] in names
        ):
            policy = document["spec"]["policyName"]
            new = names[policy]
            suffix = _name(document).removeprefix(policy)
            about = {**document["metadata"], "name": f"{new}{suffix}"}
            document = {
                **document,
                "metadata": about,
                "spec": {**document["spec"], "policyName": new},
            }
        place = document["kind"], _name(document)
        if place not in seen and not (
            document["kind"] == registration.POLICY_KIND and _name(document) in names
        ):
            seen.add(place)
            yield document
