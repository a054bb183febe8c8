"""Policies of Kyverno that are written in CEL (`policies.kyverno.io`), as admission policies.

A `ValidatingPolicy` or `MutatingPolicy` has the fields of an admission policy and a few of its own:
what it is bound to stands in it, and it may be meant for the controllers of Pods, too. What it says
in Kyverno's own libraries (`resource.Get`, `http.Get`, images) does not compile here, and is not
translated.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.kube import Json, JsonObject
from celadon.kube.json_types import JsonDict, Needed, Shape
from celadon.migrate import translations
from celadon.migrate.cel_text import quoted
from celadon.migrate.kyverno.policies import TEMPLATES, PolicyException, condition_names

# --- Expressions about Pods, for their controllers ---------------------------

# Expressions for Pods as expressions for the templates of Pods that their controllers have, as
# Kyverno makes them of policies that mutate (`pkg/cel/policies/mpol/autogen`).

_SPEC: Final = re.compile(r"\b(object|oldObject|Object)\.spec", re.ASCII)
_METADATA: Final = re.compile(
    r"\b(object|oldObject|Object)\.metadata\.(labels|annotations)", re.ASCII
)
_TYPE_OF_METADATA: Final = re.compile(r"\bObject\.metadata\b(?=\s*\{)", re.ASCII)
_PATCH: Final = re.compile(r"\s*Object\s*\{", re.ASCII)


def shifted_expression(text: str, path: Sequence[str]) -> str:
    """Return an expression in which specs, labels and annotations are those of a template."""
    prefix = ".".join(path)
    text = _SPEC.sub(rf"\1.{prefix}.spec", text)
    return _METADATA.sub(rf"\1.{prefix}.metadata.\2", text)


def shifted_patch(text: str, path: Sequence[str]) -> str:
    """Return an apply configuration (`Object{...}`) that changes the template."""
    text = shifted_expression(text, path)
    begin = _PATCH.match(text)
    end = _closing_brace(text, begin.end()) if begin is not None else None
    if begin is None or end is None:
        return text
    types = [".".join(["Object", *path[: depth + 1]]) for depth in range(len(path))]
    opening = "".join(f"{name}: {type_name}{{" for name, type_name in zip(path, types, strict=True))
    # Kyverno leaves the types of metadata as they are, which no patch of a template takes.
    inside = _TYPE_OF_METADATA.sub(f"Object.{'.'.join(path)}.metadata", text[begin.end() : end])
    return f"Object{{{opening}{inside}{'}' * (len(path) + 1)}{text[end + 1 :]}"


def _closing_brace(text: str, start: int) -> int | None:
    depth = 1
    for index in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[index], 0)
        if depth == 0:
            return index
    return None


# --- Policies ----------------------------------------------------------------

_VALIDATING: Final = ("ValidatingPolicy", "NamespacedValidatingPolicy")
_MUTATING: Final = ("MutatingPolicy", "NamespacedMutatingPolicy")
CEL_KINDS: Final = (*_VALIDATING, *_MUTATING)

CEL_POLICY_SHAPE: Final[Shape] = {
    "metadata": Needed({"name": Needed(str), "namespace": str, "annotations": {str: str}}),
    "spec": Needed(
        {
            "autogen": {"podControllers": {"controllers": [str]}},
            "evaluation": {
                "mode": str,
                "admission": {"enabled": bool},
                "mutateExisting": {"enabled": bool},
                "useServerSideApply": bool,
            },
            "validationActions": [str],
            "failurePolicy": str,
            "reinvocationPolicy": str,
            "matchConstraints": {"resourceRules": Needed([{"resources": Needed([str])}])},
            "matchConditions": [{"name": Needed(str), "expression": Needed(str)}],
            "variables": [{"name": Needed(str), "expression": Needed(str)}],
            "validations": [{"expression": Needed(str)}],
            "mutations": [
                {
                    "patchType": Needed(str),
                    "jsonPatch": {"expression": Needed(str)},
                    "applyConfiguration": {"expression": Needed(str)},
                }
            ],
            "auditAnnotations": [{"key": Needed(str), "valueExpression": Needed(str)}],
        }
    ),
}
"""What a policy must look like before it is read."""

_KEPT: Final = (
    "failurePolicy",
    "matchConstraints",
    "matchConditions",
    "variables",
)
_ONLY: Final = {
    **dict.fromkeys(_VALIDATING, ("validations", "auditAnnotations")),
    **dict.fromkeys(_MUTATING, ("reinvocationPolicy", "mutations")),
}
"""What some kinds keep beside."""
_WITHOUT_MEANING: Final = {"autogen", "evaluation", "webhookConfiguration"}
"""What is said of Kyverno itself."""

_CONTROLLERS: Final[Mapping[str, str]] = {
    "daemonsets": "apps",
    "deployments": "apps",
    "replicasets": "apps",
    "statefulsets": "apps",
    "jobs": "batch",
    "cronjobs": "batch",
}


def is_cel_policy(value: object) -> bool:
    """Return whether a document is a policy that is read here."""
    return (
        isinstance(value, Mapping)
        and str(value.get("apiVersion", "")).startswith("policies.kyverno.io/")
        and value.get("kind") in CEL_KINDS
    )


def translate_cel_policy(
    policy: JsonObject, exceptions: Sequence[PolicyException] = ()
) -> translations.Translation:
    """Return what becomes of a policy, and of exceptions to it."""
    name = policy["metadata"]["name"]
    mutates = policy["kind"] in _MUTATING
    origin = translations.Origin(name, "", (), "mutate" if mutates else "validate")
    matching = [
        exception for exception in exceptions if exception.is_for_policy(policy["kind"], name)
    ]
    try:
        # Once without exceptions, so that a policy that cannot be translated says why, and not that
        # its exceptions cannot.
        whole = _documents(policy, ())
        left_out = dict(_left_out(policy, matching))
        heeded = [exception for exception in matching if exception.name not in left_out]
        if heeded:
            whole = _documents(policy, heeded)
    except translations.NotTranslated as error:
        reason, instead = _said(error, policy)
        return translations.Translation(origin, reason=reason, instead=instead)
    documents = list(map(translations.without_updates_of_jobs, whole))
    return translations.Translation(
        origin,
        tuple(documents),
        exceptions=tuple(exception.name for exception in heeded),
        left_out=tuple(left_out.items()),
        notes=(translations.TEMPLATES_OF_JOBS,) if documents != whole else (),
    )


_LIBRARIES: Final = (
    (r"\bglobalContext\.", "globalContext", "Give the values as params of the policy."),
    (r"\b(http|Http)\.([Gg]et|[Pp]ost|Client)\b", "http",
     "Keep it in Kyverno: policies call nobody."),
    (r"\bimage\.GetMetadata\b", "images", "Keep it in Kyverno: policies fetch no images."),
    (r"\bimage(Data)?\(|\bimages\b|\bparseImageReference\(|\bisImage\(", "images",
     "Compare the `image` of containers as a text."),
    (r"\bresource\.([Gg]et|[Ll]ist|[Pp]ost|GetMetadata|ToGVR)\b", "resource",
     "Policies see the request, its namespace and params: give the object as params."),
    (r"\bparseServiceAccount\(|\buser\.", "user", "Split `request.userInfo.username` at `:`."),
    (r"\b(md5|sha1|sha256|sha512|hash)\b", "hash", "Keep it in Kyverno: CEL hashes nothing."),
    (r"\b(json|yaml)\.unmarshal\b|\bunmarshal\(", "json and yaml",
     "Give the values fields of their own, or keys of a ConfigMap."),
    (r"\bnow\(\)|\btime\.now\b", "time", "Policies have no clock: let a controller look."),
    (r"\brandom\(", "random", "Let names be generated (`generateName`)."),
    (r"\bx509\.", "x509", "Keep it in Kyverno: CEL reads no certificates."),
)  # fmt: skip
"""Libraries that Kyverno's CEL has and Kubernetes' has not: how they are known, what they are
called, and what to do instead."""


def _said(error: translations.NotTranslated, policy: JsonObject) -> tuple[str, str]:
    """Return why a policy is not translated, and what to do instead: of one that uses a library of
    Kyverno, that it does."""
    text = "\n".join(_texts_in(policy["spec"]))
    if error.reason.startswith("what an API server would refuse"):
        for pattern, name, instead in _LIBRARIES:
            if re.search(pattern, text):
                return f"`{name}`, a library of Kyverno's own", instead
    return error.reason, error.instead


def _left_out(
    policy: JsonObject, exceptions: Sequence[PolicyException]
) -> Iterator[tuple[str, str]]:
    """Return the exceptions that cannot be said, with the reasons."""
    for exception in exceptions:
        try:
            exception.check()
            _documents(policy, [exception])
        except translations.NotTranslated as error:
            yield exception.name, error.reason


def _documents(policy: JsonObject, exceptions: Sequence[PolicyException]) -> list[JsonObject]:
    """Return the policies that a policy becomes, each with its binding. Raises NotTranslated."""
    name = policy["metadata"]["name"]
    annotations = policy["metadata"].get("annotations") or {}
    # Kyverno's default where nothing is said.
    actions = policy["spec"].get("validationActions") or ["Deny"]
    documents: list[JsonObject] = []
    for suffix, spec in _specs(policy):
        parts = [name, suffix] if suffix else [name]
        excepted = _excepting(spec, exceptions)
        if policy["kind"] in _MUTATING:
            document = translations.mutating_document(parts, annotations, excepted)
            documents += [document, translations.mutating_binding_document(document)]
        else:
            document = translations.policy_document(parts, annotations, excepted)
            documents += [document, translations.binding_document(document, actions)]
    return documents


def _excepting(spec: JsonObject, exceptions: Sequence[PolicyException]) -> JsonObject:
    """Return a spec with exceptions to it: match conditions, and lists of what is allowed to
    objects that some of them are for."""
    whole = [exception for exception in exceptions if not _allowances(exception)]
    exempting = [
        {"name": name, "expression": f"!({_applies(exception)})"}
        for name, exception in zip(condition_names(whole), whole, strict=True)
    ]
    result: JsonDict = {name: member for name, member in spec.items() if name in _READ_ALLOWANCES}
    for field, allowed in (("images", "allowedImages"), ("allowedValues", "allowedValues")):
        lists = [
            f"({_applies(exception)} ? {_texts(exception.value['spec'][field])} : [])"
            for exception in exceptions
            if exception.value["spec"].get(field)
        ]
        list_text = f"({' + '.join(lists)})" if lists else "[]"
        template = list_text.replace("\\", r"\\")
        result = _replaced(result, rf"(?<![\w.])exceptions\.{allowed}\b", template)
    conditions = [*exempting, *(spec.get("matchConditions") or ())]
    return {
        **spec, **result, **({"matchConditions": conditions} if conditions else {})
    }  # fmt: skip


_READ_ALLOWANCES: Final = ("variables", "validations", "mutations", "auditAnnotations")


def _allowances(exception: PolicyException) -> bool:
    spec = exception.value["spec"]
    return bool(spec.get("images") or spec.get("allowedValues"))


def _applies(exception: PolicyException) -> str:
    """Return whether an object is one that an exception is for."""
    conditions = exception.value["spec"].get("matchConditions") or ()
    texts = [str(condition["expression"]).strip() for condition in conditions]
    if len(texts) == 1:
        return texts[0]
    return " && ".join(f"({text})" for text in texts) or "true"


def _texts_in(value: Json) -> Iterator[str]:
    """Yield the texts that are values somewhere in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _texts_in(entry)
    elif isinstance(value, Sequence):
        for entry in value:
            yield from _texts_in(entry)


def _replaced(
    value: Any,  # noqa: ANN401 - any JSON
    pattern: str,
    template: str,
) -> Any:  # noqa: ANN401
    """Return a value in whose texts a pattern is replaced. It is looked for in the texts as they
    are: in those of JSON, the `n` of a new line (`\\n`) would begin the word after it."""
    if isinstance(value, str):
        return re.sub(pattern, template, value)
    if isinstance(value, Mapping):
        return {name: _replaced(member, pattern, template) for name, member in value.items()}
    if isinstance(value, Sequence):
        return [_replaced(item, pattern, template) for item in value]
    return value


def _texts(values: Sequence[str]) -> str:
    return f"[{', '.join(map(quoted, values))}]"


def _specs(policy: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """Return the specs that a policy stands for, each with the suffix of its name. Raises
    NotTranslated."""
    spec = policy["spec"]
    mutates = policy["kind"] in _MUTATING
    _check_evaluation(spec.get("evaluation") or {}, mutates=mutates)
    names = (*_KEPT, *_ONLY[policy["kind"]])
    unknown = sorted(set(spec) - {*names, *_WITHOUT_MEANING, *_SAID_OF_BINDINGS[mutates]})
    if unknown:
        raise translations.NotTranslated(f"`{unknown[0]}`", _INSTEAD.get(unknown[0], ""))
    if not spec.get("matchConstraints"):
        raise translations.NotTranslated("a policy that matches nothing")
    result = {name: spec[name] for name in names if spec.get(name)}
    if "matchConditions" in result:
        result["matchConditions"] = _match_conditions(spec)
    if mutates:
        _check_mutations(spec.get("mutations") or ())
        # The field is required of a MutatingAdmissionPolicy, and optional of Kyverno's.
        result.setdefault("reinvocationPolicy", "Never")
    if policy["kind"].startswith("Namespaced"):
        # Admission policies are in no namespace, so that of the policy is a condition.
        result["matchConditions"] = [_in_namespace(policy), *(result.get("matchConditions") or ())]
    yield "", result
    if not _is_for_pods(spec["matchConstraints"]):
        return
    controllers = _controllers(spec)
    templates = [controller for controller in controllers if controller != "cronjobs"]
    below = _shifted_patches if mutates else _shifted
    if templates:
        yield "controllers", below(result, templates, TEMPLATES["Deployment"])
    if "cronjobs" in controllers:
        yield "cronjobs", below(result, ["cronjobs"], TEMPLATES["CronJob"])


def _match_conditions(spec: JsonObject) -> list[JsonObject]:
    """Return match conditions as an API server takes them: with names that it knows as such, and
    without variables, which Kyverno lets them have. Raises NotTranslated where these name each
    other so often that nobody would read the expression."""
    variables = {
        variable["name"]: str(variable["expression"]) for variable in spec.get("variables") or ()
    }
    return [
        {
            **match_condition,
            "name": condition_name(match_condition["name"]),
            "expression": _without_variables(
                match_condition["expression"], variables, itertools.count(1)
            ),
        }
        for match_condition in spec["matchConditions"]
    ]


def condition_name(name: str) -> str:
    """Return the name of a match condition as an API server takes it."""
    if _CONDITION_NAME.fullmatch(name):
        return name
    # Kyverno takes any text as a name, an API server only a qualified name.
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-_.")[:_LONGEST_NAME].rstrip("-_.")


_LONGEST_NAME: Final = 63
_CONDITION_NAME: Final = re.compile(
    r"(?:[a-z0-9.-]{1,253}/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", re.ASCII
)
_VARIABLE: Final = re.compile(
    r"""'(?:\\.|[^'\\])*+'?|"(?:\\.|[^"\\])*+"?|(?<![\w.])variables\.(\w+)""", re.ASCII
)
"""A text (perhaps without an end), in which nothing is a variable, or a variable."""

_MOST_VARIABLES: Final = 1_000
"""In one expression: each that names the one before twice doubles it."""


def _without_variables(text: str, variables: Mapping[str, str], counted: Iterator[int]) -> str:
    def put(match: re.Match[str]) -> str:
        name = match[1]
        if name not in variables:
            return match[0]
        if next(counted) > _MOST_VARIABLES:
            raise translations.NotTranslated(
                f"a match condition of more than {_MOST_VARIABLES} variables"
            )
        # A variable that names itself would go on without end; its name stays, and does not
        # compile.
        remaining = {key: variable for key, variable in variables.items() if key != name}
        return f"({_without_variables(variables[name].strip(), remaining, counted)})"

    return _VARIABLE.sub(put, text)


_EMPTY_LIST: Final = re.compile(r"\bvalue\s*:\s*(?:dyn\(\s*)?\[\s*\]", re.ASCII)
_EMPTY_MAP: Final = re.compile(r"\bvalue\s*:\s*(?:dyn\(\s*)?\{\s*\}", re.ASCII)
_OF_MAP: Final = re.compile(
    r"""/(?:annotations|labels|matchLabels|nodeSelector|limits|requests|data|binaryData)['"]""",
    re.ASCII,
)
"""The end of a path that leads to a map, of which an empty one is not written; other empty objects
are."""


def _check_mutations(mutations: Sequence[JsonObject]) -> None:
    """Check the mutations of a policy. Raises NotTranslated for an empty map or list that a patch
    makes for the next one: an API server does not keep it so long."""
    for mutation in mutations[:-1]:
        text = (mutation.get("jsonPatch") or {}).get("expression", "")
        if _EMPTY_LIST.search(text) or (_EMPTY_MAP.search(text) and _OF_MAP.search(text)):
            raise translations.NotTranslated(
                "an empty map or list that is there for the next mutation",
                "Put both into one list of patches: an API server drops what is empty between two.",
            )


_SAID_OF_BINDINGS: Final = (("validationActions",), ())
"""By whether a policy mutates."""
_INSTEAD: Final = dict.fromkeys(
    ("targetMatchConditions", "targetMatchConstraints"),
    "Objects that are there already are no concern of admission.",
)


def _check_evaluation(evaluation: JsonObject, *, mutates: bool) -> None:
    """Check when a policy is evaluated. Raises NotTranslated for a policy that Kyverno evaluates at
    other times, or otherwise."""
    if evaluation.get("mode", "Kubernetes") != "Kubernetes":
        raise translations.NotTranslated(
            "a policy for data that is no object of Kubernetes",
            "Keep it in Kyverno: admission sees what is sent to an API server.",
        )
    if (evaluation.get("admission") or {}).get("enabled") is False:
        raise translations.NotTranslated("a policy that is not for admission (`admission`)")
    if mutates and (evaluation.get("mutateExisting") or {}).get("enabled"):
        raise translations.NotTranslated("`mutateExisting`", _INSTEAD["targetMatchConstraints"])
    if mutates and evaluation.get("useServerSideApply"):
        raise translations.NotTranslated("atomic fields that are set (`useServerSideApply`)")


def _in_namespace(policy: JsonObject) -> JsonObject:
    namespace = policy["metadata"].get("namespace") or "default"
    return {"name": "is-in-namespace", "expression": f"request.namespace == '{namespace}'"}


def _controllers(spec: JsonObject) -> list[str]:
    """Return the controllers that a policy for Pods is meant for, too: all where none are named."""
    pod_controllers = (spec.get("autogen") or {}).get("podControllers") or {}
    named = pod_controllers.get("controllers")
    return [controller for controller in _CONTROLLERS if named is None or controller in named]


def _is_for_pods(match: JsonObject) -> bool:
    rules = match["resourceRules"]
    selector = match.get("objectSelector") or {}
    return (
        not any(selector.values())
        and not match.get("excludeResourceRules")
        and len(rules) == 1
        and rules[0].get("apiGroups") == [""]
        and rules[0].get("apiVersions") == ["v1"]
        and rules[0]["resources"] == ["pods"]
        and not rules[0].get("resourceNames")
    )


def _constraints(match: JsonObject, controllers: Sequence[str]) -> JsonObject:
    """Return what matches controllers of the Pods that are matched."""
    by_group: dict[str, list[str]] = {}
    for controller in controllers:
        by_group.setdefault(_CONTROLLERS[controller], []).append(controller)
    rules = [
        {
            "apiGroups": [group],
            "apiVersions": ["v1"],
            "operations": match["resourceRules"][0].get("operations") or ["CREATE", "UPDATE"],
            "resources": resources,
        }
        for group, resources in by_group.items()
    ]
    constraints: JsonDict = {"resourceRules": rules}
    if match.get("namespaceSelector"):
        constraints["namespaceSelector"] = match["namespaceSelector"]
    return constraints


def _shifted(spec: JsonObject, controllers: Sequence[str], path: Sequence[str]) -> JsonObject:
    """Return a spec for Pods as one for kinds that have a Pod at a path."""
    prefix = ".".join(path)
    below: JsonDict = {name: member for name, member in spec.items() if name != "matchConstraints"}
    for name, unless in (("spec", ""), ("metadata", r"(?!\.namespace\b)")):
        pattern = rf"(?<![A-Za-z])((?:object|oldObject)\.)({name}\b{unless})"
        below = _replaced(below, pattern, rf"\g<1>{prefix}.\2")
    return {**below, "matchConstraints": _constraints(spec["matchConstraints"], controllers)}


def _shifted_patches(
    spec: JsonObject, controllers: Sequence[str], path: Sequence[str]
) -> JsonObject:
    """Return a spec for Pods that mutates as one for kinds that have a Pod at a path. As in
    Kyverno, variables and JSON patches stay as they are."""
    result = {**spec, "matchConstraints": _constraints(spec["matchConstraints"], controllers)}
    if "matchConditions" in spec:
        result["matchConditions"] = [
            {
                **match_condition,
                "expression": shifted_expression(match_condition["expression"], path),
            }
            for match_condition in spec["matchConditions"]
        ]
    result["mutations"] = [
        {**mutation, "applyConfiguration": {"expression": shifted_patch(text, path)}}
        if (text := (mutation.get("applyConfiguration") or {}).get("expression"))
        else mutation
        for mutation in spec.get("mutations") or ()
    ]
    return result
