"""The defaulting rules: read from the data pack and compiled, once per kind, into functions.

A rule has a `path` to its target and says what happens there: `value` or `copyFrom` set it when it
is absent (or always, with `force`), `fn` calls a function, `use` applies a named set of rules with
the target as their object, `delete` removes it. `when` holds conditions on neighbours of the
target, `gate` names a feature gate (`!Gate` when it must be off), `plugin` the admission plugin
that does it. Where `nil` stands, a list or map that came empty is left empty; its path has to start
at the root.

Gates and plugins are looked at while compiling, so a compiled rule only touches the object.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from celadon.kube.catalogue.plugin_facts import PLUGIN_ORDER
from celadon.kube.defaulting.defaulting_context import Run
from celadon.kube.defaulting.field_functions import FIELD_FUNCTIONS, FieldFunction, Rule
from celadon.kube.defaulting.gated_fields import ON_BY_DEFAULT, gated_rules
from celadon.kube.defaulting.mutating_plugins import PLUGIN_FIELD_FUNCTIONS, PLUGIN_FUNCTIONS
from celadon.kube.defaulting.object_functions import OBJECT_FUNCTIONS
from celadon.kube.defaulting.rule_paths import (
    AT_ROOT,
    Apply,
    Each,
    Placed,
    Step,
    grouped,
    in_order,
    lookup,
    parse_path,
)
from celadon.kube.json_copies import fresh
from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas import packs

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
        "",
        "dropKeys",
        "dropStopSignal",
        "emptyObjectIfOnlyKeys",
        "negativeToOne",
        "podCIDRs",
        "podIPs",
        "podLevelResources",
        "pullPolicy",
        "requestsFromLimits",
        "rollbackTo",
        "roundMilli",
        "targetPort",
        "templateGeneration",
    }
)
"""Functions that set and take away members of what they are given, and nothing below; of what the
members are, they change nothing unless it is new."""
_ON_FIELDS: Final[Mapping[str, FieldFunction]] = {**FIELD_FUNCTIONS, **PLUGIN_FIELD_FUNCTIONS}


def enabled_gates(overrides: Mapping[str, bool]) -> frozenset[str]:
    """The gates that are on; `AllBeta` turns on those betas that are off by default."""
    pack = packs.load("defaults")
    gates = {**dict.fromkeys(ON_BY_DEFAULT, True), **pack["gates"]}
    if overrides.get("AllBeta"):
        gates.update(dict.fromkeys(pack["allBeta"], True))
    gates.update(overrides)
    return frozenset(name for name, on in gates.items() if on)


@functools.lru_cache(maxsize=512)
def compiled(
    gvk: GroupVersionKind, phase: str, gates: frozenset[str], plugins: frozenset[str]
) -> tuple[Apply, ...]:
    """What a phase does to objects of a kind, in order."""
    listed = listed_rules(gvk, phase)
    if phase == "plugins":
        chosen = (rule for rule in listed if rule["plugin"] in plugins)
        listed = tuple(sorted(chosen, key=lambda rule: PLUGIN_ORDER[rule["plugin"]]))
    return compile_rules(listed, gates)


class SharingRules(NamedTuple):
    """What defaults an object without entering its settled parts. `roots` are paths from the root
    of which rules anywhere depend: if a value there is another one, no part is settled."""

    rules: tuple[Apply, ...]
    roots: tuple[tuple[str, ...], ...]

    def are_settled(self, made: Mapping[str, Any], live: Mapping[str, Any]) -> bool:
        """Whether the parts that an object shares with one before need not be looked at."""
        return all(_is_same(path, made, live) for path in self.roots)


def _is_same(path: tuple[str, ...], made: Any, live: Any) -> bool:
    for name in path:
        if made is live:
            return True
        if made.__class__ is not dict or live.__class__ is not dict:
            break
        made, live = made.get(name), live.get(name)
    return bool(made == live)


@functools.lru_cache(maxsize=256)
def sharing_rules(gvk: GroupVersionKind, gates: frozenset[str]) -> SharingRules | None:
    """Of the phases `default` and `convert`. None for a kind with rules whose functions reach
    deeper than to the members of what they are given."""
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
            yield from _with_sets(packs.load("defaults")["sets"][rule["use"]])


def _root_paths(rule: Rule) -> Iterator[str]:
    looked_at = (*rule.get("when", {}), rule.get("copyFrom", ""), rule.get("from", ""))
    return (path.removeprefix(AT_ROOT) for path in looked_at if path.startswith(AT_ROOT))


def listed_rules(gvk: GroupVersionKind, phase: str) -> tuple[Rule, ...]:
    """The rules of a phase for a kind, whatever their gates and plugins."""
    pack = packs.load("defaults")
    kind = f"{gvk.api_version}/{gvk.kind}"
    gated = gated_rules(kind) if phase == "create" else ()
    return (
        *EXTRA_RULES.get((kind, phase), ()),
        *pack["kinds"].get(kind, {}).get(phase, ()),
        *gated,
    )


def placed_rules(
    rules: Iterable[Rule], gates: frozenset[str], above: str = ""
) -> Iterator[tuple[str, Rule]]:
    """All rules that hold, those of sets at their places, with the paths of their targets."""
    for rule in rules:
        if not gate_allows(rule.get("gate"), gates):
            continue
        path = ".".join(filter(None, (above, rule["path"])))
        if "use" in rule:
            yield from placed_rules(packs.load("defaults")["sets"][rule["use"]], gates, path)
        else:
            yield path, rule


@functools.lru_cache(maxsize=512)
def _set(name: str, gates: frozenset[str], *, sharing: bool) -> tuple[Apply, ...]:
    return compile_rules(packs.load("defaults")["sets"][name], gates, sharing=sharing)


def compile_rules(
    rules: Iterable[Rule], gates: frozenset[str], *, sharing: bool = False
) -> tuple[Apply, ...]:
    """What the rules do, in their order."""
    holding = (rule for rule in rules if gate_allows(rule.get("gate"), gates))
    return grouped([_rule(rule, gates, sharing=sharing) for rule in holding], sharing=sharing)


def gate_allows(gate: str | None, gates: frozenset[str]) -> bool:
    """Whether a rule with this gate holds."""
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
    """Whether it gives an absent field a scalar, whatever else there is."""
    is_scalar = "value" in rule and not isinstance(rule["value"], (dict, list))
    return is_scalar and not rule.get("when") and not rule.get("force") and "fn" not in rule


def _default_scalar(name: str, value: object) -> Apply:
    def default(obj: Any, _: Run) -> None:
        if name not in obj:
            obj[name] = value

    return default


def _at(step: Step, action: Action) -> Apply:
    """The action on a field, or on every item of it."""
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
    """The field at a path from the root is absent, not empty."""
    steps = tuple(path.split("."))
    return lambda _, run: all(one.path != steps for one in run.empties)


def conditions(rule: Rule) -> tuple[Condition, ...]:
    """What has to hold of the object with the target, for a rule to do anything."""
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


def _delete(parent: Any, key: Any, run: Run) -> None:
    if parent.pop(key, ABSENT) is not ABSENT:
        run.is_disturbed = True


def _call(function: FieldFunction, rule: Rule) -> Action:
    def call(parent: object, key: object, run: Run) -> None:
        function(parent, key, run, rule)

    return call


def _copy(path: str, *, force: bool, alias: bool) -> Action:
    def copy(parent: Any, key: Any, run: Run) -> None:
        if force or parent.get(key) is None:
            value = lookup(path, parent, run.root)
            if value is not None:
                parent[key] = value if alias else fresh(value)

    return copy


def _set_value(value: Any, *, force: bool) -> Action:
    if isinstance(value, (dict, list)):

        def set_fresh(parent: Any, key: Any, _: Run) -> None:
            if force or parent.get(key) is None:
                parent[key] = fresh(value)

        return set_fresh

    def set_scalar(parent: Any, key: Any, _: Run) -> None:
        if force or key not in parent:
            parent[key] = value

    return set_scalar


def update_rules(gvk: GroupVersionKind) -> Mapping[str, tuple[str, ...]]:
    """`keep`, `bump`, `statusKeep`: paths, see `registry.update.prepare_for_update`."""
    kind = f"{gvk.api_version}/{gvk.kind}"
    found: Mapping[str, tuple[str, ...]] = (
        packs.load("defaults")["kinds"].get(kind, {}).get("update", {})
    )
    return found
