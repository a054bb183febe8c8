"""The defaulting rules: read from the data pack and compiled, once per kind, into functions.

A rule has a `path` to its target and says what happens there: `value` or `copyFrom` set it when it
is absent (or always, with `force`), `fn` calls a function, `use` applies a named set of rules with
the target as their object, `delete` removes it. `when` holds conditions on neighbours of the
target, `gate` names a feature gate (`!Gate` when it must be off), `plugin` the admission plugin
that does it. Where `nil` stands, a list or map that came empty is left empty; its path has to start
at the root. Of fields that one gate takes away, each stays in a changed object that used any of
them; one that is taken `alone` stays only where it was used itself, or one it is `keptWith`, and
one of `new` objects only stays in all changed ones.

Gates and plugins are looked at while compiling, so a compiled rule only touches the object.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, NamedTuple

from celadon.kube.defaulting.defaulting_context import (
    AT_ROOT,
    Apply,
    Each,
    Placed,
    Run,
    Step,
    grouped,
    in_order,
    lookup,
    parse_path,
)
from celadon.kube.defaulting.field_functions import FIELD_FUNCTIONS, FieldFunction, Rule
from celadon.kube.defaulting.gated_fields import ON_BY_DEFAULT, gated_rules
from celadon.kube.defaulting.plugin_defaults import PLUGIN_FIELD_FUNCTIONS, PLUGIN_FUNCTIONS
from celadon.kube.defaulting.workload_defaults import OBJECT_FUNCTIONS
from celadon.kube.json_types import Json, JsonObject, fresh
from celadon.kube.names import GroupVersionKind
from celadon.kube.releases import emulated_release, per_release
from celadon.kube.resources.admission_plugins import PLUGIN_ORDER, known_plugins
from celadon.kube.resources.feature_gates import BETA, gates_of, is_gate_on
from celadon.kube.schemas import schema_packs
from celadon.kube.schemas.schema_packs import component_name
from celadon.kube.schemas.struct_decoding import struct_codec
from celadon.records import dataclass

ABSENT: Final = object()
Condition = Callable[[Any, Run], bool]
Action = Callable[[Any, Any, Run], None]

EXTRA_RULES: Final[Mapping[tuple[str, str], tuple[Rule, ...]]] = {
    ("apps/v1/Deployment", "convert"): ({"path": "metadata.annotations", "fn": "rollbackTo"},),
    ("v1/Pod", "plugins"): (
        {"path": "", "fn": "limitRanger", "plugin": "LimitRanger"},
        {"path": "spec", "fn": "priority", "plugin": "Priority"},
        {"path": "spec", "fn": "runtimeClass", "plugin": "RuntimeClass"},
        {"path": "", "fn": "podTopologyLabels", "plugin": "PodTopologyLabels"},
    ),
    ("v1/PersistentVolumeClaim", "plugins"): (
        {"path": "", "fn": "defaultStorageClass", "plugin": "DefaultStorageClass"},
    ),
    ("networking.k8s.io/v1/Ingress", "plugins"): (
        {"path": "", "fn": "defaultIngressClass", "plugin": "DefaultIngressClass"},
    ),
}
"""Rules that need more than the pack can say; a plugin's come before those of the pack."""

ON_OBJECTS: Final[Mapping[str, Apply]] = {**OBJECT_FUNCTIONS, **PLUGIN_FUNCTIONS}
"""Functions that are given the object at the path of the rule."""
_SHALLOW: Final = frozenset(
    {
        *("", "dropKeys", "dropStopSignal", "emptyObjectIfOnlyKeys", "negativeToOne", "podCIDRs"),
        *("podIPs", "podLevelResources", "pullPolicy", "requestsFromLimits", "rollbackTo"),
        *("roundMilli", "targetPort", "templateGeneration"),
    }
)
"""Functions that set and take away members of what they are given, and nothing below; of what the
members are, they change nothing unless it is new."""
_ON_FIELDS: Final[Mapping[str, FieldFunction]] = {**FIELD_FUNCTIONS, **PLUGIN_FIELD_FUNCTIONS}


def enabled_gates(overrides: Mapping[str, bool]) -> frozenset[str]:
    """Return the gates that are on in the current release; `AllBeta` turns on those betas that are
    off by default."""
    release, known_gates = emulated_release(), gates_of(emulated_release())
    names = {*ON_BY_DEFAULT, *schema_packs.load("defaults")["gates"]}
    gates = {name: is_gate_on(name, release) for name in names}
    if overrides.get("AllBeta"):
        betas = (name for name in names if name in known_gates and known_gates[name].stage == BETA)
        gates.update(dict.fromkeys(betas, True))
    gates.update(overrides)
    return frozenset(name for name, on in gates.items() if on)


@per_release(maxsize=512)
def compiled(
    gvk: GroupVersionKind, phase: str, gates: frozenset[str], plugins: frozenset[str]
) -> tuple[Apply, ...]:
    """Return what a phase does to objects of a kind, in order."""
    listed = listed_rules(gvk, phase)
    if phase == "plugins":
        plugin_names = known_plugins(plugins)
        chosen = (rule for rule in listed if rule["plugin"] in plugin_names)
        listed = tuple(sorted(chosen, key=lambda rule: PLUGIN_ORDER[rule["plugin"]]))
    return compile_rules(listed, gates)


class SharingRules(NamedTuple):
    """Defaults an object without entering its settled parts. `roots` are paths from
    the root of which rules anywhere depend: if a value there is another one, no part is settled."""

    rules: tuple[Apply, ...]
    roots: tuple[tuple[str, ...], ...]

    def are_settled(self, obj: JsonObject, live: JsonObject) -> bool:
        """Return whether the parts that an object shares with one before need not be looked at."""
        return all(_is_same(path, obj, live) for path in self.roots)


def _is_same(path: tuple[str, ...], obj: object, live: object) -> bool:
    for name in path:
        if obj is live:
            return True
        if obj.__class__ is not dict or live.__class__ is not dict:
            break
        obj, live = obj.get(name), live.get(name)
    return bool(obj == live)


@per_release(maxsize=256)
def sharing_rules(gvk: GroupVersionKind, gates: frozenset[str]) -> SharingRules | None:
    """Return the rules of the phases `default` and `convert`. None for a kind with rules whose
    functions reach deeper than to the members of what they are given."""
    listed = (*listed_rules(gvk, "default"), *listed_rules(gvk, "convert"))
    every = tuple(_with_sets(listed))
    if any(rule.get("fn", "") not in _SHALLOW for rule in every):
        return None
    return SharingRules(
        compile_rules(listed, gates, sharing=True),
        tuple(sorted({tuple(path.split(".")) for rule in every for path in _root_paths(rule)})),
    )


def _with_sets(rules: Iterable[Rule]) -> Iterator[Rule]:
    for rule in rules:
        yield rule
        if "use" in rule:
            yield from _with_sets(schema_packs.load("defaults")["sets"][rule["use"]])


def _root_paths(rule: Rule) -> Iterator[str]:
    looked_at = (*rule.get("when", {}), rule.get("copyFrom", ""), rule.get("from", ""))
    return (path.removeprefix(AT_ROOT) for path in looked_at if path.startswith(AT_ROOT))


def listed_rules(gvk: GroupVersionKind, phase: str) -> tuple[Rule, ...]:
    """Return the rules of a phase for a kind, whatever their gates and plugins."""
    pack = schema_packs.load("defaults")
    kind = f"{gvk.api_version}/{gvk.kind}"
    gated = gated_rules(kind) if phase == "create" else ()
    return (
        *EXTRA_RULES.get((kind, phase), ()),
        *pack["kinds"].get(kind, {}).get(phase, ()),
        *gated,
    )


@per_release()
def gated_fields(gvk: GroupVersionKind) -> tuple[tuple[str, str], ...]:
    """Return the paths of fields (`spec.containers[*].lifecycle`) for which it matters whether a
    feature gate is on, each with that gate."""
    rules = (rule for phase in _PHASES for rule in listed_rules(gvk, phase))
    return tuple(_gated_fields(rules, ""))


_PHASES: Final = ("default", "convert", "create", "plugins")


def _gated_fields(rules: Iterable[Rule], above: str) -> Iterator[tuple[str, str]]:
    for rule in rules:
        path = ".".join(filter(None, (above, rule["path"])))
        if "gate" in rule:
            yield path, rule["gate"].removeprefix("!")
        if "use" in rule:
            yield from _gated_fields(schema_packs.load("defaults")["sets"][rule["use"]], path)


def placed_rules(
    rules: Iterable[Rule], gates: frozenset[str], above: str = ""
) -> Iterator[tuple[str, Rule]]:
    """Yield all rules that hold, those of sets at their places, with the paths of their targets."""
    for rule in rules:
        if not gate_allows(rule.get("gate"), gates):
            continue
        path = ".".join(filter(None, (above, rule["path"])))
        if "use" in rule:
            yield from placed_rules(schema_packs.load("defaults")["sets"][rule["use"]], gates, path)
        else:
            yield path, rule


@per_release(maxsize=512)
def _set(name: str, gates: frozenset[str], *, sharing: bool) -> tuple[Apply, ...]:
    return compile_rules(schema_packs.load("defaults")["sets"][name], gates, sharing=sharing)


def compile_rules(
    rules: Iterable[Rule], gates: frozenset[str], *, sharing: bool = False
) -> tuple[Apply, ...]:
    """Return what the rules do, in their order."""
    holding = (rule for rule in rules if gate_allows(rule.get("gate"), gates))
    return grouped([_rule(rule, gates, sharing=sharing) for rule in holding], sharing=sharing)


def gate_allows(gate: str | None, gates: frozenset[str]) -> bool:
    """Return whether a rule with this gate holds."""
    if gate is None:
        return True
    return gate[1:] not in gates if gate.startswith("!") else gate in gates


def _rule(rule: Rule, gates: frozenset[str], *, sharing: bool) -> Placed:
    steps = parse_path(rule["path"])
    if "use" in rule:
        return steps, in_order(_set(rule["use"], gates, sharing=sharing))
    if rule.get("fn") in ON_OBJECTS:
        return steps, ON_OBJECTS[rule["fn"]]
    *above, last = steps
    if _is_plain(rule) and last.each is not Each.ITEMS:
        return tuple(above), _default_scalar(last.name, rule["value"])
    return tuple(above), _at(last, _when(rule, _action(rule)))


def _is_plain(rule: Rule) -> bool:
    """Return whether it gives an absent field a scalar, whatever else there is."""
    is_scalar = "value" in rule and not isinstance(rule["value"], (dict, list))
    return is_scalar and not rule.get("when") and not rule.get("force") and "fn" not in rule


def _default_scalar(name: str, value: object) -> Apply:
    def default(obj: Any, _: Run) -> None:
        if name not in obj:
            obj[name] = value

    return default


def _at(step: Step, action: Action) -> Apply:
    """Return the action on a field, or on every item of it."""
    name = step.name

    def field(obj: Any, run: Run) -> None:
        action(obj, name, run)

    def items(obj: Any, run: Run) -> None:
        children = obj.get(name)
        for i in range(len(children or ())):
            action(children, i, run)

    return items if step.each is Each.ITEMS else field


def _when(rule: Rule, action: Action) -> Action:
    every = conditions(rule)
    if rule.get("nil"):
        every = (*every, _came_not_empty(rule["path"]))
    if not every:
        return action

    def guarded(parent: object, key: object, run: Run) -> None:
        for holds in every:
            if not holds(parent, run):
                return
        action(parent, key, run)

    return guarded


def _came_not_empty(path: str) -> Condition:
    """Return whether the field at a path from the root is absent, not empty."""
    steps = tuple(path.split("."))
    return lambda _, run: all(empty.path != steps for empty in run.empties)


def conditions(rule: Rule) -> tuple[Condition, ...]:
    """Return what has to hold of the object with the target, for a rule to do anything."""
    return tuple(_condition(path, want) for path, want in rule.get("when", {}).items())


def _condition(path: str, want: object) -> Condition:
    if want is None:
        return lambda parent, run: lookup(path, parent, run.root) is None
    if isinstance(want, dict):
        return lambda parent, run: lookup(path, parent, run.root) not in (None, "")
    choices = want if isinstance(want, list) else [want]
    return lambda parent, run: lookup(path, parent, run.root) in choices


def _action(rule: Rule) -> Action:
    if "delete" in rule:
        return _delete
    if "fn" in rule:
        return _call(_ON_FIELDS[rule["fn"]], rule)
    force = rule.get("force", False)
    if "copyFrom" in rule:
        return _copy(rule["copyFrom"], force=force, alias=rule.get("alias", False))
    return _set_value(rule["value"], force=force)


def _delete(parent: Any, key: Json, run: Run) -> None:
    if parent.pop(key, ABSENT) is not ABSENT:
        run.is_disturbed = True


def _call(function: FieldFunction, rule: Rule) -> Action:
    def call(parent: object, key: object, run: Run) -> None:
        function(parent, key, run, rule)

    return call


def _copy(path: str, *, force: bool, alias: bool) -> Action:
    def copy(parent: Any, key: object, run: Run) -> None:
        if force or parent.get(key) is None:
            value = lookup(path, parent, run.root)
            if value is not None:
                parent[key] = value if alias else fresh(value)

    return copy


def _set_value(value: object, *, force: bool) -> Action:
    if isinstance(value, (dict, list)):

        def set_fresh(parent: Any, key: object, _: Run) -> None:
            if force or parent.get(key) is None:
                parent[key] = fresh(value)

        return set_fresh

    def set_scalar(parent: Any, key: object, _: Run) -> None:
        if force or key not in parent:
            parent[key] = value

    return set_scalar


def update_rules(gvk: GroupVersionKind) -> Mapping[str, tuple[str, ...]]:
    """`keep`, `bump`, `statusKeep`: paths, see `registry.update.prepare_for_update`. `reset`: which
    of `keep` nobody gets to own by writing the object, where that is not all."""
    kind = f"{gvk.api_version}/{gvk.kind}"
    rules: Mapping[str, tuple[str, ...]] = (
        schema_packs.load("defaults")["kinds"].get(kind, {}).get("update", {})
    )
    return rules


# --- Default triggers --------------------------------------------------------
#
# Which changes of a defaulted object defaulting has something to say about.
#
# Most have no consequences: who writes a field that has a default needs none. So the rules of a
# kind are sorted here by the components (Go's types) on whose fields they depend. When a struct
# is changed, or a new one comes into the object, its component tells whether any rule could do
# anything; if none can, none needs to be asked. No is only said of certain things, yes of
# anything.
#
# A rule that fills an absent field has nothing to do where the field was there before, or is
# there now. Any other depends on the fields that it names, and a function that is not known
# here on everything. What rules look at from the root of the object is not looked at here: see
# `SharingRules.roots`.

_FILLING: Final[Mapping[str, bool]] = {
    "emptyObjectIfOnlyKeys": False,
    "pullPolicy": True,
    "targetPort": True,
}
"""Functions that fill an absent field, which is there whenever they are done; whether one that is
zero too."""
_JUDGING: Final[Mapping[str, Callable[[Any, Rule], bool]]] = {
    "dropKeys": lambda value, rule: bool(value) and not value.keys().isdisjoint(rule["keys"]),
    "negativeToOne": lambda value, _: value is not None and value < 0,
}
"""Functions that look at nothing but their field, and whether they do something to its value."""
_NEEDED: Final[Mapping[str, str]] = {
    "podLevelResources": "resources",
    "requestsFromLimits": "limits",
}
"""Functions of objects that do nothing without a field."""


class Fill(NamedTuple):
    """A field that is filled when it is absent, or also when it is `zero`, if conditions hold."""

    name: str
    conditions: tuple[Condition, ...]
    zero: bool

    def is_due(self, struct: JsonObject, run: Run) -> bool:
        """Return whether the rule does it."""
        return self.is_open(struct) and all(holds(struct, run) for holds in self.conditions)

    def is_open(self, struct: JsonObject) -> bool:
        """Return whether the rule does it if its conditions hold."""
        value = struct.get(self.name)
        return not value if self.zero else value is None


Judgement = Callable[[Any], bool]


@dataclass(slots=True)
class Triggers:
    """The triggers of the structs of one component. Nobody changes it once `triggers` has made it.

    `judged` are fields of which a rule changes some values, `entered` those with rules for what is
    in them, `watched` those that rules look at, `needed` those with which any change may have
    consequences. `forces`: a rule sets something in every new struct; `is_restless`: any change
    may have consequences.
    """

    fills: list[Fill] = field(default_factory=list)
    judged: list[tuple[str, Judgement]] = field(default_factory=list)
    entered: set[str] = field(default_factory=set)
    watched: set[str] = field(default_factory=set)
    needed: set[str] = field(default_factory=set)
    forces: bool = False
    is_restless: bool = False

    def of_new(self, struct: JsonObject, run: Run) -> bool:
        """Return whether rules may do something to a struct that was not there, or to what is in
        it."""
        return (
            self.forces
            or self.is_restless
            or not self.entered.isdisjoint(struct)
            or any(applies(struct.get(name)) for name, applies in self.judged)
            or any(fill.is_due(struct, run) for fill in self.fills)
        )

    def of_set(self, struct: JsonObject, names: Collection[str]) -> bool:
        """Return whether rules may do something to a struct that is now like this, after something
        was put into these fields."""
        return (
            self.is_restless
            or not self.watched.isdisjoint(names)
            or not self.needed.isdisjoint(struct)
            or (bool(self.judged) and self._has_judged(struct, names))
        )

    def _has_judged(self, struct: JsonObject, names: Collection[str]) -> bool:
        return any(name in names and applies(struct.get(name)) for name, applies in self.judged)

    def of_emptied(self, struct: JsonObject, name: str) -> bool:
        """Return whether a default may fill a field that was taken away, or became zero."""
        return any(fill.name == name and fill.is_open(struct) for fill in self.fills)


NO_TRIGGERS: Final = Triggers()
"""Of components that no rule knows."""


@per_release(maxsize=256)
def triggers(gvk: GroupVersionKind, gates: frozenset[str]) -> Mapping[str, Triggers]:
    """Return the triggers of a built-in kind by component, of the phases `default` and
    `convert`."""
    root = component_name(gvk)
    assert root is not None, f"{gvk} is built in"
    result: dict[str, Triggers] = {}
    for phase in ("default", "convert"):
        for path, rule in placed_rules(listed_rules(gvk, phase), gates):
            _add(result, root, parse_path(path), rule)
    return result


def _add(triggers: dict[str, Triggers], root: str, steps: Sequence[Step], rule: Rule) -> None:
    way = _components(root, steps)
    for owner, step in zip(way, steps[:-1], strict=False):
        triggers.setdefault(owner, Triggers()).entered.add(step.name)
    if rule.get("fn") in ON_OBJECTS:
        _add_object_rule(triggers, way, steps, rule["fn"])
    elif steps[-1].each is Each.FIELD and way[-2]:
        _add_field_rule(triggers.setdefault(way[-2], Triggers()), steps[-1].name, rule)
    else:
        _watch_above(triggers, way, steps)


def _components(root: str, steps: Sequence[Step]) -> list[str]:
    """Return the components of the structs on the way, the target's last; empty for what is
    none."""
    way = [root]
    for step in steps:
        node: Json = struct_codec(way[-1]).field_nodes.get(step.name) if way[-1] else None
        if step.each is not Each.FIELD and isinstance(node, dict):
            node = node.get("items") or node.get("values")
        name = node.get("ref", "") if isinstance(node, dict) else ""
        way.append("" if name in schema_packs.SPECIAL_COMPONENTS else name)
    return way


def _add_object_rule(
    triggers: dict[str, Triggers], way: Sequence[str], steps: Sequence[Step], function: str
) -> None:
    if not way[-1]:
        _watch_above(triggers, way, steps)
        return
    if steps:
        triggers.setdefault(way[-2], Triggers()).entered.add(steps[-1].name)
    below = triggers.setdefault(way[-1], Triggers())
    if function in _NEEDED:
        below.needed.add(_NEEDED[function])
        below.entered.add(_NEEDED[function])
    else:
        below.is_restless = True


def _watch_above(triggers: dict[str, Triggers], way: Sequence[str], steps: Sequence[Step]) -> None:
    """Watch above: the innermost struct answers for what is no struct."""
    index = max(i for i, owner in enumerate(way[:-1]) if owner)
    owner = triggers.setdefault(way[index], Triggers())
    owner.watched.add(steps[index].name)
    owner.entered.add(steps[index].name)


def _add_field_rule(owner: Triggers, name: str, rule: Rule) -> None:
    function = rule.get("fn", "")
    looked_at = {path.partition(".")[0] for path in _relative_paths(rule)}
    if function in _JUDGING:
        owner.judged.append((name, _judgement(function, rule)))
    elif function in _FILLING or (not function and _only_fills(rule)):
        fill = Fill(name, conditions(rule), _FILLING.get(function, False))
        if fill not in owner.fills:
            owner.fills.append(fill)
        if function not in _FILLING:
            owner.watched |= looked_at
    elif function:
        owner.is_restless = True
    else:
        owner.watched |= {name, *looked_at}
        owner.forces = True


def _judgement(function: str, rule: Rule) -> Judgement:
    judge = _JUDGING[function]
    return lambda value: judge(value, rule)


def _only_fills(rule: Rule) -> bool:
    return not rule.get("force") and "delete" not in rule


def _relative_paths(rule: Rule) -> list[str]:
    paths = (*rule.get("when", {}), rule.get("copyFrom", ""), rule.get("from", ""))
    return [path for path in paths if path and not path.startswith(AT_ROOT)]
