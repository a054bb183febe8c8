"""Random admission policies and bindings, written to our server and to a real one.

Each is mostly right: a few of its fields hold what they may not, a few of its expressions do not
compile, and each kind of expression stands in each place where one may stand. Both servers are
asked for a dry run of a create and, of objects that both took, of updates.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, Final

from celadon.cel import types
from celadon.kube.library.environments import environment
from tests.fuzz.servers import Server
from tests.fuzz.typed_expressions import Expressions, damaged, pools
from tests.fuzz.writes import Difference, compared

Json = Any
GROUP: Final = "/apis/admissionregistration.k8s.io"
KINDS: Final = (
    ("ValidatingAdmissionPolicy", "validatingadmissionpolicies", ("v1", "v1", "v1beta1")),
    ("MutatingAdmissionPolicy", "mutatingadmissionpolicies", ("v1", "v1beta1", "v1alpha1")),
    ("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", ("v1", "v1beta1")),
    ("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", ("v1", "v1alpha1")),
)

POOLS: Final = pools("policy_writes")
TESTS: Final = POOLS["tests"]
TEXTS: Final = POOLS["texts"]
APPLIED: Final = POOLS["applied"]
PATCHES: Final = POOLS["patches"]
VALUES: Final = ("1", "'a'", "object", "[1]", "Object{}", "variables.a", "params", "null", *TESTS)
NAMES: Final = POOLS["names"]


def campaign(ours: Server, real: Server, seed: int, count: int) -> Iterator[Difference | None]:
    """Of so many objects, write by write."""
    for number in range(seed, seed + count):
        random = Random(number)
        kind, resource, versions = random.choice((*KINDS[:2], *KINDS))
        path = f"{GROUP}/{random.choice(versions)}/{resource}"
        made = Policies(random)
        obj = made.one(kind, path.split("/")[-2])
        yield _written(ours, real, "POST", path, [obj, obj])
        right = Policies(random, faults=0.0).one(kind, path.split("/")[-2])
        if any(s.call("POST", path, right).code != 201 for s in (ours, real)):
            yield _written(ours, real, "POST", path, [right, right])
            continue
        at = f"{path}/{right['metadata']['name']}"
        for _ in range(3):
            stored = [_current(server, at) for server in (ours, real)]
            changed = copy.deepcopy(right)
            made.change(changed)
            bodies = [{**changed, "metadata": one["metadata"]} for one in stored]
            yield _written(ours, real, "PUT", at, bodies)
        for server in (ours, real):
            server.call("DELETE", at)


def _current(server: Server, path: str) -> Json:
    """An object whose status is written already, if it has one."""
    obj = server.call("GET", path).body
    for _ in range(40):
        checked = obj.get("status", {}).get("typeChecking") is not None
        if checked or obj["kind"] != "ValidatingAdmissionPolicy":
            break
        server.settle()
        obj = server.call("GET", path).body
    return obj


def _written(
    ours: Server, real: Server, method: str, path: str, objects: list[Json]
) -> Difference | None:
    return compared(ours, real, method, f"{path}?dryRun=All", objects, exact=True)


class Policies:
    """Makes objects from a source of chance; a part of it is wrong as often as `faults` says."""

    def __init__(self, random: Random, faults: float = 0.06) -> None:
        self._random = random
        self._faults = faults
        self._expressions = Expressions(environment().extend({"object": types.DYN}), random)

    def one(self, kind: str, version: str) -> Json:
        name = f"fuzz-{self._random.randrange(10**9)}"
        meta: Json = {"name": self._or(name, "A", "a b", "x" * 254)}
        if self._random.random() < 0.1:
            meta["labels"] = {self._or("a", "a b"): self._or("b", "b c")}
        spec = {
            "ValidatingAdmissionPolicy": self._validating,
            "MutatingAdmissionPolicy": self._mutating,
            "ValidatingAdmissionPolicyBinding": self._binding,
            "MutatingAdmissionPolicyBinding": self._binding,
        }[kind]()
        if kind == "MutatingAdmissionPolicyBinding":
            self._dropped(spec, "validationActions")
        found = {"apiVersion": f"{GROUP[6:]}/{version}", "kind": kind, "metadata": meta}
        return {**found, "spec": spec} if not self._wrong(0.2) else found

    def change(self, obj: Json) -> None:
        """One or two parts of an object's spec, made anew."""
        again = self.one(obj["kind"], "v1").get("spec") or {}
        for _ in range(2):
            key = self._random.choice(sorted({*again, *obj["spec"]}))
            if key in again:
                obj["spec"][key] = again[key]
            elif self._random.random() < 0.3:
                obj["spec"].pop(key, None)

    # --- parts of objects --------------------------------------------------------------------

    def _wrong(self, share: float = 1.0) -> bool:
        return self._random.random() < self._faults * share

    def _or(self, right: Json, *wrong: Json) -> Json:
        return self._random.choice(wrong) if self._wrong() else right

    def _some(self, make: Callable[[], Json], most: int = 2, least: int = 0) -> list[Json]:
        return [make() for _ in range(self._random.randrange(least, most + 1))]

    def _dropped(self, spec: Json, *keys: str) -> None:
        for key in keys:
            if not self._wrong():
                spec.pop(key, None)

    def _maybe(self, spec: Json, key: str, chance: float, make: Callable[[], Json]) -> None:
        if self._random.random() < chance:
            spec[key] = make()

    def _expression(self, known: Sequence[str], right: str, wanted: types.Type) -> str:
        draw = self._random.random()
        if self._faults and draw < 0.5:
            return self._random.choice(known)
        if self._faults and draw < 0.65:
            return damaged(self._random, self._random.choice((*known, right)))
        if self._faults and draw < 0.8:
            return self._expressions.piece(wanted, 3).text
        return right

    def _test(self) -> str:
        return self._expression(TESTS, "object.metadata.name != 'x'", types.BOOL)

    def _common(self) -> Json:
        spec: Json = {"matchConstraints": self._match(required=True)}
        self._maybe(spec, "failurePolicy", 0.4, lambda: self._or("Fail", "Ignore", "", "x", None))
        self._maybe(spec, "paramKind", 0.5, self._param_kind)
        self._maybe(spec, "variables", 0.6, lambda: self._named(self._value, ("a", "b", "o", "p")))
        self._maybe(
            spec, "matchConditions", 0.4, lambda: self._named(self._test, ("c", "d", "a.b"))
        )
        return spec

    def _named(self, make: Callable[[], str], names: tuple[str, ...]) -> list[Json]:
        chosen = self._random.sample(names, self._random.randrange(len(names)))
        return [{"name": self._or(one, *NAMES), "expression": make()} for one in chosen]

    def _value(self) -> str:
        return self._expression(VALUES, "1", types.DYN)

    def _param_kind(self) -> Json:
        kinds = (("v1", "ConfigMap"), ("v1", "Secret"), ("apps/v1", "Deployment"), ("a.io/v1", "A"))
        version, kind = self._random.choice(kinds)
        return {
            "apiVersion": self._or(version, "", "/v1", "a/b/c", "A/v1", "a/B", None),
            "kind": self._or(kind, "", "a b", "config-map", None),
        }

    def _match(self, *, required: bool = False) -> Json:
        found: Json = {}
        self._maybe(
            found, "resourceRules", 1.0 if required and not self._wrong() else 0.4, self._rules
        )
        self._maybe(found, "excludeResourceRules", 0.2, self._rules)
        self._maybe(found, "namespaceSelector", 0.2, self._selector)
        self._maybe(found, "objectSelector", 0.2, self._selector)
        self._maybe(found, "matchPolicy", 0.2, lambda: self._or("Exact", "Equivalent", "", "x"))
        return found

    def _rules(self) -> list[Json]:
        return self._some(self._rule, 2, 0 if self._wrong() else 1)

    def _rule(self) -> Json:
        pick = self._random.choice
        rule: Json = {
            "apiGroups": self._or(pick(([""], ["apps"], ["*"], ["a", "b"])), [], ["*", "a"], None),
            "apiVersions": self._or(pick((["v1"], ["*"])), [], ["*", "v1"], [""], ["v1", "v1"]),
            "operations": self._or(
                pick((["CREATE"], ["CREATE", "UPDATE"])),
                *(["*"], ["*", "CREATE"], ["DELETE"], ["x"], []),
            ),
            "resources": self._or(
                pick((["pods"], ["pods", "*/scale"], ["*"], ["*/*"], ["pods/*"], ["pods/x"])),
                *([], ["*/*", "a"], ["*", "a"], ["a/b/c"], ["*/*", "*/a"], ["a/*", "a/b"], [""]),
                *(["*/a", "b/a"], ["/a"], ["a/"], ["a", "a"]),
            ),
        }  # fmt: skip
        names = (["a"], ["a", "b"])
        self._maybe(rule, "resourceNames", 0.1, lambda: self._or(pick(names), ["a", "a"], ["A b"]))
        self._maybe(rule, "scope", 0.2, lambda: self._or("*", "Namespaced", "Cluster", "x", ""))
        return rule

    def _selector(self) -> Json:
        pick = self._random.choice
        found: Json = {}
        self._maybe(
            found, "matchLabels", 0.5, lambda: {self._or("a", "a b", ""): self._or("b", "-", "b c")}
        )
        self._maybe(
            found,
            "matchExpressions",
            0.5,
            lambda: self._some(
                lambda: {
                    "key": self._or("a", "", "a b"),
                    "operator": self._or(pick(("In", "NotIn")), "Exists", "x", "", "DoesNotExist"),
                    "values": self._or(["b"], [], ["b c"], None),
                }
            ),
        )
        return found

    # --- the four kinds ----------------------------------------------------------------------

    def _validating(self) -> Json:
        spec = self._common()
        spec["validations"] = self._some(self._validation, 2, 0 if self._wrong() else 1)
        self._maybe(spec, "auditAnnotations", 0.4, lambda: self._some(self._annotation))
        return spec

    def _validation(self) -> Json:
        pick = self._random.choice
        found: Json = {"expression": self._test()}
        texts = ("no", " no ", "a\nb", "", " ", "x" * 5121)
        self._maybe(found, "message", 0.4, lambda: self._or("no", *texts))
        self._maybe(
            found, "messageExpression", 0.4, lambda: self._expression(TEXTS, "'a'", types.STRING)
        )
        reasons = ("Forbidden", "Invalid", "RequestEntityTooLarge")
        self._maybe(
            found,
            "reason",
            0.3,
            lambda: self._or(pick(reasons), "", "x", "NotFound", "Unauthorized"),
        )
        return found

    def _annotation(self) -> Json:
        long = f"'{'x' * 5119}'"
        return {
            "key": self._or(self._random.choice(("a", "b", "c")), *NAMES),
            "valueExpression": self._or(
                self._expression(TEXTS, "'a'", types.STRING), long, " " + long
            ),
        }

    def _mutating(self) -> Json:
        spec = self._common()
        spec["mutations"] = self._some(self._mutation, 2, 0 if self._wrong() else 1)
        again = ("Never", "IfNeeded")
        if not self._wrong():
            spec["reinvocationPolicy"] = self._or(self._random.choice(again), "", "x", None)
        return spec

    def _mutation(self) -> Json:
        applied = {"expression": self._expression(APPLIED, "Object{}", types.DYN)}
        patched = {
            "expression": self._expression(
                PATCHES, "[JSONPatch{op: 'remove', path: '/a'}]", types.list_of(types.DYN)
            )
        }
        both = {"applyConfiguration": applied, "jsonPatch": patched}
        key, kind = self._random.choice(
            (("applyConfiguration", "ApplyConfiguration"), ("jsonPatch", "JSONPatch"))
        )
        found = {"patchType": self._or(kind, "", "x", "JSONPatch", None), key: both[key]}
        return {**found, **both} if self._wrong(0.5) else found if not self._wrong(0.5) else {}

    def _binding(self) -> Json:
        spec: Json = {"policyName": self._or("p", "", "A b", "a/b", None)}
        actions = self._random.choice((["Deny"], ["Warn", "Audit"], ["Audit"]))
        wrong: tuple[Json, ...] = ([], ["Deny", "Warn"], ["Deny", "Deny"], ["x"], None)
        spec["validationActions"] = self._or(actions, *wrong)
        self._maybe(spec, "paramRef", 0.4, self._param_ref)
        self._maybe(spec, "matchResources", 0.4, self._match)
        return spec

    def _param_ref(self) -> Json:
        ref: Json = {"parameterNotFoundAction": self._or("Deny", "Allow", "", "x", None)}
        if self._random.random() < 0.5:
            ref["name"] = self._or("n", "", "A b", "a/b")
        if ("name" not in ref) != self._wrong():
            ref["selector"] = self._selector()
        self._maybe(ref, "namespace", 0.2, lambda: self._or("n", "", "A b"))
        return ref
