"""Kyverno's policies as they stand in files: what a rule applies to, what it demands, and the
exceptions to it.

`ClusterPolicy` and `Policy` of kyverno.io are read. Fields that the translation does not know are
kept by name, so that a rule that has one is not translated as if it had not.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from celadon.kube import Json, JsonObject
from celadon.kube.json_types import Needed, Shape
from celadon.kube.well_known_values import POD_TEMPLATES
from celadon.migrate.kyverno.patterns import wildcard_match
from celadon.migrate.translations import NotTranslated, Origin, Translation

KINDS: Final = ("ClusterPolicy", "Policy")

_AUTOGEN: Final = "pod-policies.kyverno.io/autogen-controllers"

OWN_NAMESPACE: Final = re.compile(
    r"\{\{\s*request\.(namespace|object\.metadata\.namespace)\s*\}\}", re.ASCII
)
"""A variable that reads the namespace of a request."""

_SELECTOR_SHAPE: Final[Shape] = {
    "matchLabels": {str: str},
    "matchExpressions": [{"key": Needed(str), "operator": Needed(str), "values": [str]}],
}


@dataclass(frozen=True, slots=True)
class Filter:
    """One block of resources in `match` or `exclude`: all that it says must hold."""

    kinds: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)
    selector: JsonObject | None = None
    namespace_selector: JsonObject | None = None
    operations: tuple[str, ...] = ()
    subjects: tuple[JsonObject, ...] = ()
    roles: tuple[str, ...] = ()
    cluster_roles: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def says_something(self) -> bool:
        """Return whether it is not empty: what is empty takes nothing."""
        return self != Filter()


@dataclass(frozen=True, slots=True)
class Filters:
    """A `match` or `exclude` takes any of several blocks, or all of them."""

    blocks: tuple[Filter, ...] = ()
    all_of: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a policy."""

    name: str
    match: Filters
    exclude: Filters
    value: JsonObject
    """The rule as it stands in the file."""

    @property
    def kind(self) -> str:
        """Return the field that says what the rule does: `validate`, `mutate`, `generate`,
        `verifyImages`; empty if it has none of them."""
        kinds = ("validate", "mutate", "generate", "verifyImages")
        return next((kind for kind in kinds if self.value.get(kind)), "")

    @property
    def preconditions(self) -> Json:
        """Return the conditions without which the rule is skipped."""
        return self.value.get("preconditions")

    @property
    def context(self) -> Sequence[JsonObject]:
        """Return the entries of what the rule looks up."""
        return self.value.get("context") or ()


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy of Kyverno."""

    name: str
    namespace: str
    value: JsonObject
    rules: tuple[Rule, ...]
    allows_existing: bool = False
    """Whether objects that violate rules already may be changed, also where rules do not say so."""

    @property
    def annotations(self) -> Mapping[str, str]:
        """Return the annotations of the policy."""
        return self.value["metadata"].get("annotations") or {}

    @property
    def full_name(self) -> str:
        """The name with the namespace, if it has one: so exceptions name it."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    def enforces(self, rule: Rule) -> bool:
        """Return whether what a rule refuses is refused, and not only reported."""
        failure_action = (rule.value.get("validate") or {}).get("failureAction")
        # The field of the policy is the older one, and speaks for all rules that say nothing
        # themselves. Kyverno takes `enforce` and `Enforce`.
        action = failure_action or self.value["spec"].get("validationFailureAction") or ""
        return str(action).lower() == "enforce"

    def lets_existing_pass(self, rule: Rule) -> bool:
        """Return whether an object that violates a rule already may be changed: so it is where a
        rule enforces and does not say otherwise."""
        setting = (rule.value.get("validate") or {}).get("allowExistingViolations")
        allows = self.allows_existing if setting is None else setting is True
        return allows and self.enforces(rule)

    def overrides(self, rule: Rule) -> Sequence[JsonObject]:
        """Return what else a rule does in some namespaces: of several that fit, the first."""
        failure_action_overrides = (rule.value.get("validate") or {}).get("failureActionOverrides")
        return (
            failure_action_overrides
            or self.value["spec"].get("validationFailureActionOverrides")
            or ()
        )

    @property
    def autogen(self) -> tuple[str, ...]:
        """Return the kinds of pod controllers that rules for Pods are meant for, too."""
        # Without the annotation all controllers are meant; `none` switches it off
        # (`pkg/autogen/v1/autogen.go`, `computeRules`).
        annotation = self.annotations.get(_AUTOGEN)
        if annotation is None or annotation == "all":
            return POD_CONTROLLERS
        return tuple(text for text in annotation.split(",") if text and text != "none")


POD_CONTROLLERS: Final = (
    "DaemonSet",
    "Deployment",
    "Job",
    "ReplicaSet",
    "ReplicationController",
    "StatefulSet",
    "CronJob",
)

TEMPLATES: Final[Mapping[str, tuple[str, ...]]] = {
    kind.kind: path for kind, path in POD_TEMPLATES.items() if kind.kind in POD_CONTROLLERS
}
"""Where each of them has the template of its Pods."""

_FILTER_SHAPE: Final[Shape] = {
    "resources": {
        "kinds": [str],
        "name": str,
        "names": [str],
        "namespaces": [str],
        "annotations": {str: str},
        "selector": _SELECTOR_SHAPE,
        "namespaceSelector": _SELECTOR_SHAPE,
        "operations": [str],
    },
    "subjects": [{"kind": str, "name": str, "namespace": str}],
    "roles": [str],
    "clusterRoles": [str],
}
FILTERS_SHAPE: Final[Shape] = {**_FILTER_SHAPE, "any": [_FILTER_SHAPE], "all": [_FILTER_SHAPE]}

_OVERRIDE_SHAPE: Final[Shape] = {
    "action": str,
    "namespaces": [str],
    "namespaceSelector": _SELECTOR_SHAPE,
}

POLICY_SHAPE: Final[Shape] = {
    "metadata": Needed({"name": Needed(str), "namespace": str, "annotations": {str: str}}),
    "spec": Needed(
        {
            "validationFailureAction": str,
            "validationFailureActionOverrides": [_OVERRIDE_SHAPE],
            "failurePolicy": str,
            "rules": [
                Needed(
                    {
                        "name": Needed(str),
                        "match": FILTERS_SHAPE,
                        "exclude": FILTERS_SHAPE,
                        "context": [{"name": Needed(str), "configMap": {}}],
                        "validate": {
                            "message": str,
                            "failureActionOverrides": [_OVERRIDE_SHAPE],
                            "deny": {},
                            "anyPattern": [],
                            "foreach": [{"list": Needed(str)}],
                            "cel": {"expressions": [{"expression": Needed(str)}]},
                            "podSecurity": {
                                "level": str,
                                "version": str,
                                "exclude": [{"controlName": Needed(str), "images": [str]}],
                            },
                        },
                        "mutate": {
                            "patchStrategicMerge": {},
                            "foreach": [{"list": Needed(str), "patchStrategicMerge": {}}],
                        },
                        "celPreconditions": [{"name": Needed(str), "expression": Needed(str)}],
                    }
                )
            ],
        }
    ),
}
"""What a policy must look like before it is read."""


def is_policy(value: object) -> bool:
    """Return whether a document is a policy that is read here."""
    return (
        isinstance(value, Mapping)
        and str(value.get("apiVersion", "")).startswith("kyverno.io/")
        and value.get("kind") in KINDS
    )


def read_policy(value: JsonObject, *, allows_existing: bool = False) -> Policy:
    """Return a policy. Shapes were checked before (`celadon.kube.json_types`)."""
    metadata = value["metadata"]
    return Policy(
        metadata["name"],
        metadata.get("namespace", "default") if value["kind"] == "Policy" else "",
        value,
        tuple(_rule(rule) for rule in value["spec"].get("rules") or ()),
        allows_existing,
    )


def _rule(value: JsonObject) -> Rule:
    return Rule(
        value["name"],
        read_filters(value.get("match") or {}),
        read_filters(value.get("exclude") or {}),
        value,
    )


def read_filters(value: JsonObject) -> Filters:
    """Return what `match` or `exclude` says, or the match of an exception."""
    for name in ("any", "all"):
        if value.get(name):
            blocks = tuple(_filter(item) for item in value[name])
            return Filters(blocks, name == "all" and len(blocks) > 1)
    return Filters((_filter(value),)) if value else Filters()


_FIELDS: Final = frozenset(_FILTER_SHAPE["resources"])


def _filter(value: JsonObject) -> Filter:
    resources = value.get("resources") or {}
    name = resources.get("name")
    return Filter(
        tuple(resources.get("kinds") or ()),
        (*(resources.get("names") or ()), *([name] if name else ())),
        tuple(resources.get("namespaces") or ()),
        resources.get("annotations") or {},
        resources.get("selector"),
        resources.get("namespaceSelector"),
        tuple(resources.get("operations") or ()),
        tuple(value.get("subjects") or ()),
        tuple(value.get("roles") or ()),
        tuple(value.get("clusterRoles") or ()),
        tuple(sorted(set(resources) - _FIELDS)),
    )


# --- Rules for pod controllers -----------------------------------------------


@dataclass(frozen=True, slots=True)
class Variant:
    """A rule as it is meant for some kinds: as it stands, for controllers with a template of Pods,
    or for CronJobs."""

    suffix: str
    rule: Rule
    name: str
    """What Kyverno calls the rule: reports and exceptions do so."""


def variants(policy: Policy, rule: Rule) -> Iterator[Variant]:
    """Return the forms of a rule: as it stands, and of one for Pods those for controllers of
    Pods."""
    yield Variant("", rule, rule.name)
    if not (_has_autogen(policy) and _is_for_pods(rule)):
        return
    controllers = tuple(text for text in policy.autogen if text != "CronJob")
    if controllers:
        shifted = _shifted(rule, controllers, TEMPLATES["Deployment"])
        yield Variant("controllers", shifted, f"autogen-{rule.name}")
    if "CronJob" in policy.autogen:
        shifted = _shifted(rule, ("CronJob",), TEMPLATES["CronJob"])
        yield Variant("cronjobs", shifted, f"autogen-cronjob-{rule.name}")


def _has_autogen(policy: Policy) -> bool:
    """Return whether no rule of a policy is against it: all speak of kinds, namespaces, operations
    and users only, and of Pods alone where they speak of Pods."""
    return all(
        rule.kind != "generate"
        and "patchesJson6902" not in json.dumps(rule.value.get("mutate", ""))
        and not any(
            block.names
            or block.annotations
            or block.selector is not None
            or ("Pod" in block.kinds and len(block.kinds) > 1)
            for block in (*rule.match.blocks, *rule.exclude.blocks)
        )
        for rule in policy.rules
    )


def _is_for_pods(rule: Rule) -> bool:
    excluded = [kind for block in rule.exclude.blocks for kind in block.kinds]
    return any("Pod" in block.kinds for block in rule.match.blocks) and (
        not excluded or "Pod" in excluded
    )


def _shifted(rule: Rule, kinds: tuple[str, ...], path: tuple[str, ...]) -> Rule:
    """Return a rule for Pods as one for kinds that have a Pod at a path: patterns are put there,
    and what is read of the object is read there."""
    validate = rule.value.get("validate") or {}
    value = dict(rule.value)
    if "pattern" in validate:
        value["validate"] = {**validate, "pattern": _nested(validate["pattern"], path)}
    elif "anyPattern" in validate:
        nested = [_nested(item, path) for item in validate["anyPattern"]]
        value["validate"] = {**validate, "anyPattern": nested}
    elif "patchStrategicMerge" in (rule.value.get("mutate") or {}):
        patch = _nested(rule.value["mutate"]["patchStrategicMerge"], path)
        value["mutate"] = {**rule.value["mutate"], "patchStrategicMerge": patch}
    elif "foreach" in (rule.value.get("mutate") or {}):
        entries = [
            {**item, "patchStrategicMerge": _nested(item["patchStrategicMerge"], path)}
            if "patchStrategicMerge" in item
            else item
            for item in rule.value["mutate"]["foreach"]
        ]
        value["mutate"] = {**rule.value["mutate"], "foreach": entries}
    # Kyverno replaces in all texts of the rule, so what merely looks like a path in a message is
    # moved with the paths (`pkg/autogen/v1/rule.go`). Only there the object is `request.object`;
    # rules in CEL read `object`.
    roots = ("", ".".join(path)) if "cel" in validate else ("request.", ".".join(path))
    shifted: JsonObject = {name: _moved(member, *roots) for name, member in value.items()}
    return Rule(rule.name, _of_kinds(rule.match, kinds), _of_kinds(rule.exclude, kinds), shifted)


def _moved(value: Json, before: str, below: str) -> Json:
    """Return a value in whose texts paths of a Pod lead to where a template is."""
    match value:
        case Mapping():
            return {
                _moved_text(name, before, below): _moved(value, before, below)
                for name, value in value.items()
            }
        case list():
            return [_moved(item, before, below) for item in value]
        case str():
            return _moved_text(value, before, below)
    return value


def _moved_text(text: str, before: str, below: str) -> str:
    pattern = rf"(?<![A-Za-z]){re.escape(before)}(object|oldObject)\.(spec|metadata)(?![A-Za-z])"
    return re.sub(pattern, rf"{before}\1.{below}.\2", text)


def _nested(pattern: Json, path: Sequence[str]) -> Json:
    for name in reversed(path):
        pattern = {name: pattern}
    return pattern


def _of_kinds(filters: Filters, kinds: tuple[str, ...]) -> Filters:
    blocks = tuple(
        replace(block, kinds=kinds) if "Pod" in block.kinds else block for block in filters.blocks
    )
    return replace(filters, blocks=blocks)


# --- Exceptions --------------------------------------------------------------

# Exceptions to Kyverno's policies: which policies and rules they are for, and for which objects.
#
# An exception is a match condition of the policies it is for. One that cannot be said whole is
# left out, and named: policies without it refuse more, not less.

EXCEPTION_SHAPE: Final[Shape] = {
    "metadata": Needed({"name": Needed(str), "namespace": str}),
    "spec": Needed(
        {
            "match": Needed(FILTERS_SHAPE),
            "conditions": {},
            "exceptions": Needed([{"policyName": Needed(str), "ruleNames": [str]}]),
            "podSecurity": [{}],
        }
    ),
}
"""What an exception to rules must look like (`kyverno.io`)."""

CEL_EXCEPTION_SHAPE: Final[Shape] = {
    "metadata": Needed({"name": Needed(str), "namespace": str}),
    "spec": Needed(
        {
            "policyRefs": Needed([{"name": Needed(str), "kind": Needed(str)}]),
            "matchConditions": [{"name": Needed(str), "expression": Needed(str)}],
            "images": [str],
            "allowedValues": [str],
            "expiresAt": str,
        }
    ),
}
"""What an exception to policies in CEL must look like (`policies.kyverno.io`)."""


def is_exception(value: object) -> bool:
    """Return whether a document is an exception, to rules or to policies in CEL."""
    return (
        isinstance(value, Mapping)
        and value.get("kind") == "PolicyException"
        and _group(value) in ("kyverno.io", "policies.kyverno.io")
    )


def exception_shape(value: JsonObject) -> Shape:
    """Return the shape that an exception must have."""
    return EXCEPTION_SHAPE if _group(value) == "kyverno.io" else CEL_EXCEPTION_SHAPE


def _group(value: JsonObject) -> str:
    return str(value.get("apiVersion", "")).partition("/")[0]


@dataclass(frozen=True, slots=True)
class PolicyException:
    """Holds a PolicyException, of either API group."""

    value: JsonObject

    @property
    def name(self) -> str:
        """The name with the namespace, if it has one."""
        about = self.value["metadata"]
        return f"{about['namespace']}/{about['name']}" if about.get("namespace") else about["name"]

    @property
    def filters(self) -> Filters:
        """Return the filters of the objects that it is for."""
        return read_filters(self.value["spec"]["match"])

    def is_for_rule(self, policy: str, rule: str) -> bool:
        """Return whether it is for a rule; policies in namespaces are named with them."""
        return _group(self.value) == "kyverno.io" and any(
            exception["policyName"] == policy
            and any(wildcard_match(name, rule) for name in exception.get("ruleNames") or ())
            for exception in self.value["spec"]["exceptions"]
        )

    def is_for_policy(self, kind: str, name: str) -> bool:
        """Return whether it is for a policy in CEL."""
        return _group(self.value) == "policies.kyverno.io" and any(
            (policy_ref["kind"], policy_ref["name"]) == (kind, name)
            for policy_ref in self.value["spec"]["policyRefs"]
        )

    def check(self) -> None:
        """Check an exception. Raises NotTranslated for what no policy can say."""
        spec = self.value["spec"]
        if spec.get("expiresAt"):
            raise NotTranslated(
                "an exception that ends (`expiresAt`)", "Policies know no time: add it by hand."
            )


def condition_names(exceptions: Sequence[PolicyException]) -> Iterator[str]:
    """Return what the match conditions are called that say exceptions; several may have one name,
    in several namespaces."""
    used: set[str] = set()
    for exception in exceptions:
        stem = f"is-not-excepted-by-{exception.value['metadata']['name']}"[:_LONGEST_STEM].rstrip(
            "-_."
        )
        numbered = (f"{stem}-{number}" for number in itertools.count(2))
        name = next(name for name in itertools.chain([stem], numbered) if name not in used)
        used.add(name)
        yield name


_LONGEST_STEM: Final = 58
"""Of names of match conditions, which may have 63 characters, so that there is room for a
number."""


def outcome_of(exception: PolicyException, translations: Iterable[Translation]) -> Translation:
    """Return what became of an exception, by the translations of all rules."""
    origin = Origin(exception.value["metadata"]["name"], "", (), "except")
    result = list(translations)
    for translation in result:
        for name, reason in translation.left_out:
            if name == exception.name:
                return Translation(origin, reason=reason, instead=_STRICTER)
    if any(exception.name in translation.exceptions for translation in result):
        return Translation(origin)
    return Translation(origin, reason="no rule that was translated is one that it names")


_STRICTER: Final = "The rules that it names are translated without it, and refuse more."
