"""Gatekeeper's mutators (`Assign`, `AssignMetadata`, `ModifySet`) as mutating admission policies.

A mutator names a place by its `location`, a path of fields that may lead through the items of one
list, and what is to stand there. It becomes JSON patches: what is absent on the way is added whole,
as Gatekeeper does. Path tests are conditions. Facts about the meaning: gatekeeper
`pkg/mutation/mutators/core/mutation_function.go` and `pkg/mutation/path`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from celadon.kube import GroupVersionKind, JsonObject
from celadon.kube.json_types import JsonDict
from celadon.kube.resources import Catalog
from celadon.migrate import cel_text, translations
from celadon.migrate.gatekeeper import constraint_translation
from celadon.migrate.gatekeeper.templates import is_mutator
from celadon.migrate.schema_fields import Form, PatchTarget, Place, is_selectable, object_place


def translate_mutators(
    documents: Sequence[JsonObject], catalog: Catalog
) -> list[translations.Translation | None]:
    """Return what becomes of each mutator among documents of Gatekeeper, which have their shapes;
    None of the others. A `Config` among them exempts namespaces."""
    exempt = constraint_translation.exempt_namespaces(documents, "mutation-webhook")
    return [
        _translated(document, catalog, exempt) if is_mutator(document) else None
        for document in documents
    ]


def _translated(
    document: JsonObject, catalog: Catalog, exempt: Sequence[str]
) -> translations.Translation:
    origin = translations.Origin(document["metadata"]["name"], "", (), "mutate")
    try:
        policy = _policy(document, catalog, exempt)
    except translations.NotTranslated as error:
        return translations.Translation(origin, reason=error.reason, instead=error.instead)
    return translations.Translation(
        origin, (policy, translations.mutating_binding_document(policy))
    )


def _policy(document: JsonObject, catalog: Catalog, exempt: Sequence[str]) -> JsonObject:
    """Return the policy of a mutator. Raises NotTranslated."""
    kind, spec = document["kind"], document["spec"]
    if kind not in ("Assign", "AssignMetadata", "ModifySet"):
        raise translations.NotTranslated(
            f"an image that is taken apart (`{kind}`)"
            if kind == "AssignImage"
            else f"mutators of kind `{kind}`",
            "Write a MutatingAdmissionPolicy.",
        )
    match: JsonDict = dict(spec.get("match") or {})
    if match.get("name"):
        raise translations.NotTranslated(
            "a mutation by the object's name",
            "Names may be generated after mutations: tell the objects by a label.",
        )
    match["excludedNamespaces"] = [*(match.get("excludedNamespaces") or ()), *exempt]
    rules, gvks = _rules(kind, spec, catalog)
    around = constraint_translation.matching(match, catalog)
    constraints = around.constraints(constraint_translation.OPERATIONS)
    if rules:
        scope = {} if around.scope == "*" else {"scope": around.scope}
        constraints["resourceRules"] = [{**rule, **scope} for rule in rules]
    result: JsonDict = {"matchConstraints": constraints}
    if around.conditions:
        result["matchConditions"] = [
            {"name": name, "expression": text} for name, text in around.conditions
        ]
    # Gatekeeper applies mutators until none of them changes anything any more.
    result["reinvocationPolicy"] = "IfNeeded"
    result["mutations"] = translations.json_patches(_expressions(kind, spec, gvks))
    annotations = document["metadata"].get("annotations") or {}
    return translations.mutating_document([document["metadata"]["name"]], annotations, result)


# --- What it applies to ------------------------------------------------------


def _rules(
    kind: str, spec: JsonObject, catalog: Catalog
) -> tuple[list[JsonObject], list[GroupVersionKind]]:
    """Return the rules for what `applyTo` names and `match` leaves, and the kinds that these are;
    none of `AssignMetadata`, which has no `applyTo`. Raises NotTranslated."""
    rules: list[JsonObject] = []
    gvks: list[GroupVersionKind] = []
    if kind == "AssignMetadata":
        return rules, gvks
    filters: Sequence[JsonObject] = (spec.get("match") or {}).get("kinds") or ({},)
    for entry in spec.get("applyTo") or ():
        named = set(entry.get("operations") or ("*",))
        operations = [
            operation for operation in constraint_translation.OPERATIONS if named & {"*", operation}
        ]
        versions = list(entry.get("versions") or ())
        for group in entry.get("groups") or ():
            kinds = [kind for kind in entry.get("kinds") or () if _is_meant(group, kind, filters)]
            gvks += [GroupVersionKind(group, v, kind) for kind in kinds for v in versions]
            resources = [
                r
                for kind in kinds
                for r in constraint_translation.resources_of(group, kind, catalog)
            ]
            if resources and versions and operations:
                rules.append(
                    {
                        "apiGroups": [group],
                        "apiVersions": versions,
                        "operations": operations,
                        "resources": resources,
                    }
                )
    if not rules:
        raise translations.NotTranslated("a mutation of no kind that it applies to")
    return rules, gvks


def _is_meant(group: str, kind: str, filters: Sequence[JsonObject]) -> bool:
    return any(
        {"*", group} & set(item.get("apiGroups") or ("*",))
        and {"*", kind} & set(item.get("kinds") or ("*",))
        for item in filters
    )


# --- Locations ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Field:
    """A step to a field, or to a key of a map."""

    name: str


@dataclass(frozen=True, slots=True)
class _Items:
    """A step to those items of a list that have a value at a key, to all of them if it is None."""

    key: str
    value: str | int | None


_Path = tuple[_Field | _Items, ...]

_STEP: Final = re.compile(
    r"\s*(?P<name>[A-Za-z_-][\w-]*|\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+')\s*"
    r"(?:\[\s*(?P<key>[A-Za-z_-][\w-]*|\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+')\s*:\s*"
    r"(?:(?P<all>\*)|(?P<number>[0-9]+)|"
    r"(?P<value>[A-Za-z_-][\w-]*|\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'))\s*\]\s*)?(?:\.|\Z)",
    re.ASCII,
)


def _path(text: str) -> _Path:
    """Return the path that a location is. Raises NotTranslated if it is none."""
    steps: list[_Field | _Items] = []
    index = 0
    while index < len(text):
        match = _STEP.match(text, index)
        if match is None:
            raise translations.NotTranslated(f"`{text}`, which is no location")
        index = match.end()
        steps.append(_Field(_unquoted(match["name"])))
        if match["key"]:
            value: str | int | None = None
            if not match["all"]:
                value = int(match["number"]) if match["number"] else _unquoted(match["value"])
            steps.append(_Items(_unquoted(match["key"]), value))
    if not steps or text.rstrip().endswith("."):
        raise translations.NotTranslated(f"`{text}`, which is no location")
    return tuple(steps)


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text[0] in "\"'" else text


def _tests(parameters: JsonObject, path: _Path) -> dict[int, bool]:
    """Return the steps of a path that must be there (true), or must not (false). Raises
    NotTranslated."""
    tests: dict[int, bool] = {}
    for path_test in parameters.get("pathTests") or ():
        part = _path(path_test["subPath"])
        is_wanted = path_test["condition"] == "MustExist"
        if part != path[: len(part)]:
            raise translations.NotTranslated(
                "a path test of what is not on the way to the location"
            )
        if not is_wanted and path_test["condition"] != "MustNotExist":
            raise translations.NotTranslated(
                f"the condition `{path_test['condition']}` of a path test"
            )
        if tests.setdefault(len(part) - 1, is_wanted) is not is_wanted:
            raise _NEVER
    return tests


_NEVER: Final = translations.NotTranslated("a mutation that never changes anything")


# --- What is written ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _MutatedValue(PatchTarget):
    """A value that a mutator edits."""

    def field(self, name: str) -> _MutatedValue:
        """Return a field of it, or what a map has at a key. Raises NotTranslated."""
        shape = self.place.shape.member(name)
        if shape is None:
            raise translations.NotTranslated(
                f"the field `{name}`, which objects of the kind do not have"
            )
        return self.member(name, shape)

    def item(self) -> _MutatedValue:
        """Return an item of a list, which has no pointer yet."""
        return replace(self, place=self.place.item("item"))

    def there(self) -> _MutatedValue:
        """Return the value, taken to be there."""
        return replace(self, place=self.place.there())

    def written(self, value: object) -> str:
        """Return the expression of a value that is to stand here. Raises NotTranslated."""
        if isinstance(value, Mapping):
            # A typed object has fields with names of CEL only; what else there is can be a map.
            is_map = self.place.shape.form is Form.MAP or not all(map(is_selectable, value))
            members = (
                f"{cel_text.quoted(name) if is_map else name}: {self.field(name).written(member)}"
                for name, member in value.items()
            )
            return f"{'' if is_map else self.type_name}{{{', '.join(members)}}}"
        if isinstance(value, list):
            return f"[{', '.join(map(self.item().written, value))}]"
        return value.text if isinstance(value, _Expression) else cel_text.literal(value)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class _Expression:
    """An expression that reads what is written."""

    text: str


@dataclass(frozen=True, slots=True)
class _Write:
    """Holds what is written at the end of the path: this value; or, where there is a list already,
    that list with some values, or without them."""

    value: object
    """JSON, in which a value may be a `_Expression`."""
    adds: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()

    def at(self, spot: _MutatedValue) -> str:
        """Return what is written where something may be already."""
        plain = spot.place.there().plain
        if self.takes:
            return f"{plain}.filter(item, !(item in {cel_text.literal(self.takes)}))"
        if self.adds:
            return f"{plain} + {cel_text.literal(self.adds)}.filter(item, !(item in {plain}))"
        return spot.written(self.value)


def _expressions(kind: str, spec: JsonObject, gvks: Sequence[GroupVersionKind]) -> list[str]:
    """Return the JSON patches of a mutator, one after the other. Raises NotTranslated."""
    path = _path(spec["location"])
    parameters = spec.get("parameters") or {}
    root = _MutatedValue(object_place(gvks), "''", "Object")
    is_of_metadata = path[0] == _Field("metadata")
    if is_of_metadata is not (kind == "AssignMetadata"):
        raise translations.NotTranslated(f"`{spec['location']}`, which `{kind}` cannot change")
    if is_of_metadata:
        fields = [item.name for item in path if isinstance(item, _Field)]
        if len(path) != len(fields) or fields[1:2] not in (["labels"], ["annotations"]):
            raise translations.NotTranslated(f"`{spec['location']}`, which `{kind}` cannot change")
        # What is there already is never changed.
        parameters = {**parameters, "pathTests": [
            {"subPath": spec["location"], "condition": "MustNotExist"}
        ]}  # fmt: skip
    write = _set(parameters) if kind == "ModifySet" else _assigned(parameters)
    edits = _edits(root, path, _tests(parameters, path), write)
    if not edits:
        raise _NEVER
    return edits


def _assigned(parameters: JsonObject) -> _Write:
    """Return what is assigned. Raises NotTranslated."""
    _check(parameters, {"pathTests", "assign"})
    assign = parameters.get("assign") or {}
    _check(assign, {"value", "fromMetadata"})
    if "value" in assign:
        return _Write(assign["value"])
    field = (assign.get("fromMetadata") or {}).get("field")
    if field not in ("name", "namespace"):
        raise translations.NotTranslated("a mutator without a value")
    return _Write(_Expression(f"object.metadata.?{field}.orValue('')"))


def _set(parameters: JsonObject) -> _Write:
    """Return what becomes of a set. Raises NotTranslated."""
    _check(parameters, {"pathTests", "operation", "values"})
    values = list((parameters.get("values") or {}).get("fromList") or ())
    if not values or not all(isinstance(value, str) for value in values):
        raise translations.NotTranslated("a set of what is no text")
    match parameters.get("operation") or "merge":
        case "merge":
            return _Write(values, adds=tuple(dict.fromkeys(values)))
        case "prune":
            return _Write(None, takes=tuple(values))
    raise translations.NotTranslated(f"the operation `{parameters['operation']}`")


def _check(value: JsonObject, fields: set[str]) -> None:
    for name in sorted(set(value) - fields):
        raise translations.NotTranslated(
            f"`{name}` in parameters",
            "Policies see the request, its namespace and params: keep it in Gatekeeper."
            if name == "externalData"
            else "",
        )


# --- Edits -------------------------------------------------------------------

_Choice = tuple[cel_text.Condition, str]
"""A patch, or a list of patches, and when it is done, if none before it is."""

_INDEX: Final = "index"


def _edits(root: _MutatedValue, path: _Path, tests: Mapping[int, bool], write: _Write) -> list[str]:
    """Return the JSON patches that write at a path, one after the other. Raises NotTranslated."""
    first = next((n for n, item in enumerate(path) if isinstance(item, _Items)), len(path))
    names = [item.name for item in path[:first] if isinstance(item, _Field)]
    if first == len(path):
        guard, choices = _below(root, names, tests, write)
        return [_guarded(guard, [(choice, f"[{patch}]") for choice, patch in choices])]
    items, *steps = path[first:]
    rest = [step.name for step in steps if isinstance(step, _Field)]
    if len(rest) < len(steps) or not isinstance(items, _Items):
        raise translations.NotTranslated(
            "a location in a list in a list", "Write a MutatingAdmissionPolicy."
        )
    of_list = {depth: test for depth, test in tests.items() if depth < first}
    of_rest = {depth - first - 1: test for depth, test in tests.items() if depth > first}
    result = []
    if tests.get(first) is not False and False not in of_list.values():
        result.append(_of_items(_at(root, names), items, rest, of_rest, write))
    is_added = items.value is not None and True not in {tests.get(first), *of_rest.values()}
    if is_added and not write.takes:
        item = _nested(rest, write.value)
        added = {items.key: items.value, **item} if rest and isinstance(item, dict) else item
        result.append(_appended(root, names, of_list, items, added))
    return result


def _nested(names: Sequence[str], value: object) -> object:
    """Return a value in the objects around it."""
    for name in reversed(names):
        value = {name: value}
    return value


def _at(spot: _MutatedValue, names: Sequence[str]) -> _MutatedValue:
    for name in names:
        spot = spot.field(name)
    return spot


def _patch(spot: _MutatedValue, value: str, op: str = "add") -> str:
    return f"JSONPatch{{op: '{op}', path: {spot.pointer}, value: {value}}}"


def _below(
    spot: _MutatedValue, names: Sequence[str], tests: Mapping[int, bool], write: _Write
) -> tuple[cel_text.Condition, list[_Choice]]:
    """Return when something is written at fields below a place, and the patches to choose from.
    Raises NotTranslated."""
    if write.takes:
        # Nothing is taken out of what is not there.
        if False in tests.values():
            raise _NEVER
        end = _at(spot, names)
        return end.place.present(), [(cel_text.ALWAYS, _patch(end, write.at(end)))]
    guard, choices, last = _way(spot, names, tests, write.value, to_end=bool(write.adds))
    if last is not None:
        choices.append((cel_text.ALWAYS, _patch(last, write.at(last))))
    return guard, choices


def _way(
    spot: _MutatedValue,
    names: Sequence[str],
    tests: Mapping[int, bool],
    value: object,
    *,
    to_end: bool,
) -> tuple[cel_text.Condition, list[_Choice], _MutatedValue | None]:
    """Return whether the path tests hold, the patches that add what is absent on the way, whole,
    and the end of the way, where all is there; none if what would be there must not be. With
    `to_end`, an end that is absent is added, too. Raises NotTranslated."""
    sure = max((depth for depth, test in tests.items() if test), default=-1)
    guards: list[cel_text.Condition] = []
    choices: list[_Choice] = []
    present_spot = spot
    for depth, name in enumerate(names):
        spot, present_spot = spot.field(name), present_spot.field(name)
        condition = spot.place.present()
        if depth in tests:
            guards.append(condition if tests[depth] else cel_text.negation(condition))
        is_absent = cel_text.negation(present_spot.place.present())
        is_wanted = depth > sure and (to_end or depth < len(names) - 1)
        if tests.get(depth) is False:
            if depth < sure:
                raise _NEVER
            whole = present_spot.written(_nested(names[depth + 1 :], value))
            return (
                cel_text.conjunction(guards),
                [*choices, (cel_text.ALWAYS, _patch(present_spot, whole))],
                None,
            )
        if is_wanted and is_absent != cel_text.NEVER:
            whole = present_spot.written(_nested(names[depth + 1 :], value))
            choices.append((is_absent, _patch(present_spot, whole)))
        present_spot = present_spot.there()
    return cel_text.conjunction(guards), choices, present_spot


def _of_items(
    listed: _MutatedValue,
    items: _Items,
    rest: Sequence[str],
    tests: Mapping[int, bool],
    write: _Write,
) -> str:
    """Return the patches of those items of a list that are there. Raises NotTranslated."""
    variable = listed.place.item_name
    # An item has the pointer of its list and its index.
    pointer = f"{listed.pointer[:-1]}/' + string({_INDEX})"
    item = _MutatedValue(listed.place.there().item(variable), pointer, listed.type_name)
    if rest:
        guard, choices = _below(item, rest, tests, write)
    else:
        guard, choices = (
            cel_text.ALWAYS,
            [(cel_text.ALWAYS, _patch(item, write.at(item), "replace"))],
        )
    if items.value is not None:
        guard = cel_text.conjunction([_has_key(item.place, items), guard])
    only = "" if guard == cel_text.ALWAYS else f"{guard.text}, "
    return f"{listed.place.items}.transformList({_INDEX}, {variable}, {only}{_first(choices)})"


def _has_key(place: Place, items: _Items) -> cel_text.Condition:
    shape = place.shape.member(items.key)
    if shape is None:
        raise translations.NotTranslated(
            f"the key `{items.key}`, which items of the list do not have"
        )
    key = place.member(items.key, shape)
    is_value = cel_text.comparison(key.there().plain, "==", cel_text.literal(items.value))
    return cel_text.conjunction([key.present(), is_value])


def _appended(
    root: _MutatedValue,
    names: Sequence[str],
    tests: Mapping[int, bool],
    items: _Items,
    item: object,
) -> str:
    """Return the patch that adds an item to a list which has none with its key. Raises
    NotTranslated."""
    guard, whole, listed = _way(root, names, tests, [item], to_end=True)
    choices = [(condition, f"[{patch}]") for condition, patch in whole]
    if listed is not None:
        variable = listed.place.item_name
        of_key = _has_key(listed.place.item(variable), items)
        choices.append((cel_text.some(listed.place.plain, variable, of_key), "[]"))
        end = replace(listed, pointer=translations.pointer_to(listed.pointer, "-"))
        choices.append((cel_text.ALWAYS, f"[{_patch(end, end.item().written(item))}]"))
    return _guarded(guard, choices)


def _guarded(guard: cel_text.Condition, choices: Sequence[_Choice]) -> str:
    text = _first(choices)
    if guard == cel_text.ALWAYS:
        return text
    return f"{guard.inside(cel_text.Binding.OR)} ? {f'({text})' if len(choices) > 1 else text} : []"


def _first(choices: Sequence[_Choice]) -> str:
    *guarded, (_, last) = choices
    return (
        "".join(
            f"{condition.inside(cel_text.Binding.OR)} ? {text} : " for condition, text in guarded
        )
        + last
    )
