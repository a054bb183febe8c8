"""The tests that come with policies of other engines, run against what the policies became: suites
of `gator` and of `kyverno test`."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from celadon import admission
from celadon.admission import registration
from celadon.admission.policies.mutating import MutatingEngine
from celadon.kube import GroupVersionKind, Json, JsonObject, StatusError, User, metadata
from celadon.kube.fieldmanager import MutatedKinds
from celadon.kube.json_types import JsonDict, Needed, Shape
from celadon.kube.registry import drafted
from celadon.kube.resources import Catalog, guess_resource
from celadon.kube.schemas import DecodeError, round_trip
from celadon.migrate.translations import binding_document, mutating_binding_document

# --- Objects as requests -----------------------------------------------------

# Objects of tests as requests: judged as they are written, without defaults, as the command lines
# of other engines judge them.

_NAMESPACE: Final = GroupVersionKind("", "v1", "Namespace")


def request_for(
    value: JsonObject,
    operation: admission.Operation,
    user: User,
    catalog: Catalog,
    old: JsonObject | None = None,
    *,
    with_nulls: bool = True,
) -> admission.Request:
    """Return the request that has an object. One whose test has no old object has what it is to
    become. What lives in namespaces and names none is in `default`. An API server writes some
    lists that are not given as null; gator does not, and judges objects that lack what they
    must have."""
    obj = dict(value)
    group, _, version = str(obj.get("apiVersion", "")).rpartition("/")
    gvk = GroupVersionKind(group, version, str(obj.get("kind", "")))
    resource = catalog.by_gvk(gvk)
    name, namespace = metadata.name(obj), metadata.namespace(obj)
    if resource is None or resource.namespaced:
        # gator and `kyverno test` judge files, which need not name a namespace.
        namespace = namespace or "default"
        obj["metadata"] = {**(obj.get("metadata") or {}), "namespace": namespace}
    elif gvk == _NAMESPACE:
        namespace = name
    judged = _as_written(obj, gvk, with_nulls=with_nulls)
    before = judged if old is None else _as_written(old, gvk, with_nulls=with_nulls)
    return admission.Request(
        operation,
        gvk,
        resource.gvr if resource else guess_resource(gvk),
        name=name,
        namespace=namespace,
        object=None if operation is admission.Operation.DELETE else judged,
        old_object=None if operation is admission.Operation.CREATE else before,
        user=user,
        options=admission.default_options(operation),
    )


def _as_written(obj: JsonObject, gvk: GroupVersionKind, *, with_nulls: bool) -> JsonObject:
    try:
        # As Go would write it: other engines decode objects of built-in kinds, too, and see the
        # fields that are always written.
        read = round_trip(obj, gvk) or obj
    except DecodeError:
        return obj
    return read if with_nulls else {name: _without_nulls(member) for name, member in read.items()}


def _without_nulls(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {name: _without_nulls(value) for name, value in value.items() if value is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def namespace_with(name: str, labels: Mapping[str, str]) -> JsonObject:
    """Return a namespace that has labels."""
    # The label that an API server gives every namespace; the selectors of bindings ask for it.
    labels = {"kubernetes.io/metadata.name": name, **labels}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


# --- Suites of gator ---------------------------------------------------------

# Suites of gator (`test.gatekeeper.sh`), run against the translation.
#
# A case has an object, or an AdmissionReview around one, and says whether there are violations.
# Gatekeeper counts them, one for each container; a policy refuses a request once, with one
# message. So a number above zero means that it is refused, and a pattern for messages must be
# found in the message.

GATOR_SHAPE: Final[Shape] = {
    "tests": Needed(
        [
            {
                "name": str,
                "template": Needed(str),
                "constraint": Needed(str),
                "skip": bool,
                "cases": [
                    {
                        "name": str,
                        "object": Needed(str),
                        "inventory": [str],
                        "skip": bool,
                        "assertions": [{"violations": (bool, str, int), "message": str}],
                    }
                ],
            }
        ]
    ),
}
"""What a suite must look like."""


def is_suite(value: object) -> bool:
    """Return whether a document is a suite of gator."""
    return (
        isinstance(value, Mapping)
        and value.get("kind") == "Suite"
        and str(value.get("apiVersion", "")).startswith("test.gatekeeper.sh/")
    )


@dataclass(frozen=True, slots=True)
class GatorCase:
    """Holds what a constraint is to say of an object."""

    name: str
    object: JsonObject
    inventory: tuple[JsonObject, ...]
    assertions: tuple[JsonObject, ...]


def disagreement(
    case: GatorCase, documents: Sequence[JsonObject], catalog: Catalog
) -> tuple[str, str, str]:
    """Return what a case expects and what its translation says instead, with its message: what is
    found is empty where all is as expected."""
    messages = tuple(_messages(case, documents, catalog))
    # A case without assertions expects a violation, as gator does.
    for assertion in case.assertions or ({},):
        pattern = str(assertion.get("message") or "")
        is_found = any(re.search(pattern, message) for message in messages)
        if is_found != _wants(assertion.get("violations")):
            expected = "no violation" if is_found else "a violation"
            if pattern:
                expected += f" with `{pattern}`"
            result = "violations" if messages else "no violation"
            return expected, result, "; ".join(messages)
    return "", "", ""


def _wants(violations: object) -> bool:
    """Return whether violations are expected: `yes`, `no`, a number, or `yes` by default."""
    if isinstance(violations, str):
        return violations.lower() not in ("no", "false", "0")
    return True if violations is None else bool(violations)


def _messages(case: GatorCase, documents: Sequence[JsonObject], catalog: Catalog) -> Iterator[str]:
    """Return the messages with which a translation refuses the object of a case."""
    review = case.object
    obj, old, operation, user = review, None, admission.Operation.CREATE, User("kubernetes-admin")
    if review.get("kind") == "AdmissionReview":
        review_request = review.get("request") or {}
        name = str(review_request.get("operation"))
        operation = (
            admission.Operation[name] if name in admission.Operation.__members__ else operation
        )
        old = review_request.get("oldObject")
        obj = review_request.get("object") or old or {}
        user_info = review_request.get("userInfo") or {}
        user = User(user_info.get("username") or user.name, tuple(user_info.get("groups") or ()))
    request = request_for(obj, operation, user, catalog, old, with_nulls=False)
    namespaces = [
        namespace_with(metadata.name(item), metadata.labels(item))
        for item in case.inventory
        if item.get("kind") == "Namespace"
    ]
    around = namespace_with(request.namespace or "default", {})
    inventory = [
        document
        for document in documents
        if document["kind"] not in (registration.POLICY_KIND, registration.BINDING_KIND)
    ]
    world = admission.ObjectWorld([around, *namespaces, *inventory])
    policies = [
        admission.decode_policy(document).value
        for document in documents
        if document["kind"] == registration.POLICY_KIND
    ]
    bindings = [
        admission.decode_binding(document).value
        for document in documents
        if document["kind"] == registration.BINDING_KIND
    ]
    for decision in admission.Engine(policies, bindings).explain(request, world).decisions:
        if decision.action is admission.Action.DENY:
            yield decision.message


# --- Suites of Kyverno -------------------------------------------------------

# Tests that come with Kyverno's policies (`kyverno-test.yaml`), run against the translation.
#
# A result names a rule and objects, and says `pass`, `fail` or `skip`. The translation says the
# same where its policies admit, deny, or do not match. Objects are judged as they are written:
# Kyverno's command line adds no defaults either.

SUITE_SHAPE: Final[Shape] = {
    "policies": [str],
    "resources": [str],
    "variables": str,
    "userinfo": str,
    "values": {},
    "results": Needed(
        [
            {
                "policy": str,
                "rule": str,
                "kind": str,
                "resource": str,
                "resources": [str],
                "patchedResources": (str, [str]),
                "result": str,
                "status": str,
                "operation": str,
            }
        ]
    ),
}
"""What a `kyverno-test.yaml` must look like."""

VALUES_SHAPE: Final[Shape] = {
    "globalValues": {},
    "policies": [
        {
            "name": str,
            "resources": [{"name": str, "values": {}}],
            "rules": [{"name": str, "values": {}}],
        }
    ],
    "namespaceSelector": [{"name": str, "labels": {str: str}}],
}
"""What the values that a test gives must look like."""

USER_SHAPE: Final[Shape] = {
    "userInfo": {"username": str, "groups": [str]},
    "clusterRoles": [str],
}

"""What the user that a test names must look like."""


@dataclass(frozen=True, slots=True)
class Case:
    """Holds what a rule is to say of an object."""

    policy: str
    rule: str
    object: JsonObject
    expected: str
    """`pass`, `fail`, `skip` or another word of Kyverno."""
    operation: admission.Operation = admission.Operation.CREATE
    user: User = field(default_factory=lambda: User("kubernetes-admin"))
    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Labels by namespace."""
    values: Mapping[str, Json] = field(default_factory=dict)
    """Variables that the test gives instead of looking them up."""
    patched: JsonObject | None = None
    """What a rule that mutates makes of the object; None where the test does not say."""
    old: JsonObject | None = None
    """What an object was that is updated; None where it stays what it is."""


def patched_files(suite: JsonObject) -> list[str]:
    """Return the files with objects as rules that mutate leave them."""
    return list(
        dict.fromkeys(name for result in suite["results"] for name in _patched_names(result))
    )


def _patched_names(result: JsonObject) -> list[str]:
    names = result.get("patchedResources") or []
    return [names] if isinstance(names, str) else list(names)


def read_suite(
    suite: JsonObject,
    resources: Sequence[JsonObject],
    values: JsonObject,
    user: JsonObject,
    patched: Mapping[str, Sequence[JsonObject]] = MappingProxyType({}),
) -> list[Case]:
    """Return the cases of a test for policies of Kyverno. What is given fits the shapes above;
    `patched` are the objects in `patched_files`."""
    user_info = user.get("userInfo") or {}
    requester = User(
        user_info.get("username") or "kubernetes-admin", tuple(user_info.get("groups") or ())
    )
    namespaces = {
        str(item.get("name")): item.get("labels") or {}
        for item in values.get("namespaceSelector") or ()
    }
    for resource in resources:
        if (resource.get("apiVersion"), resource.get("kind")) == ("v1", "Namespace"):
            namespaces.setdefault(metadata.name(resource), metadata.labels(resource))
    return [
        Case(
            policy,
            rule,
            resource,
            _expected(result),
            _operation(result, variables),
            requester,
            namespaces,
            variables,
            expectation,
        )
        for result in suite["results"]
        if not any(result.get(name) for name in _OTHER_KINDS)
        for policy, rule in [_names(result)]
        for resource in _resources(result, resources)
        for variables in [_values(values, policy, rule, metadata.name(resource))]
        for expectation in _wanted(resource, [patched[file] for file in _patched_names(result)])
    ]


_OTHER_KINDS: Final = (
    "isValidatingAdmissionPolicy",
    "isMutatingAdmissionPolicy",
    "isGeneratingPolicy",
    "isDeletingPolicy",
    "isImageValidatingPolicy",
)


def _names(result: JsonObject) -> tuple[str, str]:
    """Return the policy and the rule that a result is of; those for controllers are the rule's."""
    rule = str(result.get("rule", ""))
    for prefix in ("autogen-cronjob-", "autogen-"):
        rule = rule.removeprefix(prefix)
    return str(result.get("policy", "")).rpartition("/")[2], rule


def _resources(result: JsonObject, resources: Sequence[JsonObject]) -> Iterator[JsonObject]:
    names = [
        *(result.get("resources") or ()),
        *([result["resource"]] if "resource" in result else ()),
    ]
    for name in names:
        namespace, _, last = str(name).rpartition("/")
        for resource in resources:
            if (
                metadata.name(resource) == last
                and result.get("kind") in (None, "", resource.get("kind"))
                and namespace in ("", metadata.namespace(resource) or "default")
            ):
                yield resource


def _wanted(
    value: JsonObject, files: Sequence[Sequence[JsonObject]]
) -> Iterator[JsonObject | None]:
    """Return what an object is to become: nothing is said where a test names no file. Kyverno
    passes over an object that the files do not have."""
    if not files:
        yield None
    for other in itertools.chain.from_iterable(files):
        if _identity(other) == _identity(value):
            yield other
            return


def _identity(value: JsonObject) -> tuple[str, str, str]:
    namespace = metadata.namespace(value) or "default"
    return str(value.get("kind")), namespace, metadata.name(value)


def _values(values: JsonObject, policy: str, rule: str, name: str) -> JsonObject:
    global_values: JsonDict = dict(values.get("globalValues") or {})
    for item in values.get("policies") or ():
        if item.get("name") == policy:
            for part, text in (("rules", rule), ("resources", name)):
                for element in item.get(part) or ():
                    if element.get("name") == text:
                        global_values |= element.get("values") or {}
    return global_values


def _expected(result: JsonObject) -> str:
    """Return what is expected; a warning is a failure of a policy that is not scored."""
    text = str(result.get("result", result.get("status", "")))
    return "fail" if text == "warn" else text


def _operation(result: JsonObject, values: Mapping[str, Json]) -> admission.Operation:
    name = str(result.get("operation") or values.get("request.operation"))
    return (
        admission.Operation[name]
        if name in admission.Operation.__members__
        else admission.Operation.CREATE
    )


# --- Judging -----------------------------------------------------------------


def judged_by(
    case: Case,
    policies: Sequence[JsonObject],
    catalog: Catalog,
    together: Sequence[JsonObject] = (),
) -> tuple[str, str]:
    """Return what policies say of a case, `pass`, `fail` or `skip`, and their message. What a
    mutated object is to look like is what all rules of a policy make of it: `together` are those
    of all rules."""
    request, world = _request(case, catalog)
    if any(policy["kind"] == registration.MUTATING_POLICY_KIND for policy in policies):
        return _changed_by(case, policies, together or policies, request, world)
    admitted = False
    for document in policies:
        decisions = _engine(document).explain(request, world).decisions
        for decision in decisions:
            if decision.action is admission.Action.DENY:
                return "fail", decision.message
        admitted = admitted or bool(decisions)
    return ("pass" if admitted else "skip"), ""


def _changed_by(
    case: Case,
    policies: Sequence[JsonObject],
    together: Sequence[JsonObject],
    request: admission.Request,
    world: admission.ObjectWorld,
) -> tuple[str, str]:
    """Return what mutating policies do with an object: `pass` if they leave it as the test says,
    `skip` if they leave it alone. Both sides have their defaults, as in a cluster."""
    kinds = MutatedKinds()
    before = drafted(request.object or {}, request.kind, kinds.context).form()
    request = replace(request, object=before)
    try:
        is_changed = _mutating(policies).rounds(world, kinds).run(request, 0) != before
        after = _mutating(together).rounds(world, kinds).run(request, 0)
    except StatusError as error:
        return "error", str(error)
    result = (
        "pass" if is_changed or (not case.rule and _matches(policies, request, world)) else "skip"
    )
    if case.patched is not None:
        patched = request_for(case.patched, case.operation, case.user, world.catalog).object
        expected = drafted(patched or {}, request.kind, kinds.context).form()
        difference = _difference(after, expected)
        if difference and (is_changed or case.expected == "pass"):
            return "fail", difference
        if case.expected == "pass":
            result = "pass"  # what defaults have done already is no change
    return result, ""


def _matches(
    documents: Sequence[JsonObject], request: admission.Request, world: admission.ObjectWorld
) -> bool:
    """Return whether a policy is for a request, which is all that Kyverno asks of policies in
    CEL."""
    for document in documents:
        spec = {
            name: part
            for name, part in document["spec"].items()
            if name in ("failurePolicy", "matchConstraints", "matchConditions", "variables")
        }
        judge = {
            **document,
            "kind": registration.POLICY_KIND,
            "spec": {**spec, "validations": _ALWAYS},
        }
        if _engine(judge).explain(request, world).decisions:
            return True
    return False


_ALWAYS: Final = [{"expression": "true"}]


def _mutating(documents: Sequence[JsonObject]) -> MutatingEngine:
    result = [
        registration.decode_object(document, registration.MUTATING_POLICY_KIND).value
        for document in documents
    ]
    bindings = [
        registration.decode_object(
            mutating_binding_document(document), registration.MUTATING_BINDING_KIND
        ).value
        for document in documents
    ]
    return MutatingEngine(
        [item for item in result if isinstance(item, registration.MutatingAdmissionPolicy)],
        [
            binding
            for binding in bindings
            if isinstance(binding, registration.MutatingAdmissionPolicyBinding)
        ],
    )


def _difference(obj: Json, expected: Json, path: str = "") -> str:
    """Return where two objects differ first; empty if they do not. Items with names may stand in
    any order."""
    if isinstance(obj, Mapping) and isinstance(expected, Mapping):
        for name in {**obj, **expected}:
            difference = _difference(obj.get(name), expected.get(name), f"{path}.{name}")
            if difference:
                return difference
        return ""
    if isinstance(obj, list) and isinstance(expected, list) and len(obj) == len(expected):
        pairs = zip(sorted(obj, key=_name), sorted(expected, key=_name), strict=True)
        each = (_difference(*pair, f"{path}[{index}]") for index, pair in enumerate(pairs))
        return next(filter(None, each), "")
    return "" if obj == expected else f"{path}: {obj!r}, expected {expected!r}"


def _name(item: Json) -> str:
    return str(item.get("name", "")) if isinstance(item, Mapping) else ""


def _engine(document: JsonObject) -> admission.Engine:
    policy = admission.decode_policy(document).value
    params = _PARAMS if document["spec"].get("paramKind") == _OF_CONFIG_MAPS else None
    binding = admission.decode_binding(binding_document(document, ["Deny"], params)).value
    return admission.Engine([policy], [binding])


def _request(case: Case, catalog: Catalog) -> tuple[admission.Request, admission.ObjectWorld]:
    request = request_for(case.object, case.operation, _user(case), catalog, case.old)
    labels = {request.namespace or "default": {}, **case.namespaces}
    objects = [namespace_with(*label) for label in labels.items()]
    return request, admission.ObjectWorld([*objects, _config_map(case.values)])


_OF_CONFIG_MAPS: Final = {"apiVersion": "v1", "kind": "ConfigMap"}
_PARAMS: Final = {
    "name": "given", "namespace": "default", "parameterNotFoundAction": "Deny"
}  # fmt: skip


def _config_map(values: Mapping[str, Json]) -> JsonObject:
    """Return the ConfigMap that a test describes, by values like `dictionary.data.key`."""
    parts = {key.partition(".data.")[2]: text for key, text in values.items()}
    data = {key: text for key, text in parts.items() if key and isinstance(text, str)}
    about = {"name": _PARAMS["name"], "namespace": _PARAMS["namespace"]}
    return {**_OF_CONFIG_MAPS, "metadata": about, "data": data}


def _user(case: Case) -> User:
    account = case.values.get("serviceAccountName")
    if account is None:
        return case.user
    namespace = case.values.get("serviceAccountNamespace") or "default"
    return replace(case.user, name=f"system:serviceaccount:{namespace}:{account}")
