"""Turns what is given of a new release of Kubernetes into data, and says what it could not tell.

    python tools/next_release.py FOLDER [--go SOURCES --previous-go SOURCES]

reads of `FOLDER`, in the form of `../shared/releases/MINOR`, `version.json`, the discovery
documents and `openapi/v3`, and where they are there feature gates, admission plugins, bootstrap
objects and recordings. `data/` then says what the new release has, `data/releases/PREVIOUS.json`
what the one before it has differently, and the packs are built. Go sources of both releases tell
the order of fields, their numbers in protobuf, what Go writes of unset ones, and which gates are
locked.

The report names all that no document tells: it is the list of what is left to do by hand. Each line
of it begins with the place in `data/` or in the source that it is about.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import build_packs
import import_gates
from go_structs import GoSources
from import_release import (
    DOCUMENTED,
    GATED,
    GATED_VERSIONS,
    NeighbourRelease,
    changes,
    nearest_version,
    write_change,
)
from pack_sources import FILES, FOLDERS, ROOT, SOURCES, Sources, every_source, levels_of, text_of
from release_sources import release_changes, release_sources

from celadon.kube.releases import LATEST_RELEASE, answering_as
from celadon.kube.resources.admission_plugins import PLUGIN_ORDER, default_plugins, known_plugins

Json = Any

RELEASES: Final = ROOT / "src" / "celadon" / "kube" / "releases.py"
LATEST_PLACE: Final = "LATEST_RELEASE of kube/releases.py and VERSIONS of cli/options.py"
_DESCRIBED: Final = re.compile(r'^DESCRIBED: Final = "(.*)"$', re.MULTILINE)

TAKEN: Final = "What changed"
FIELDS: Final = "Fields of which only the type is known"
RESOURCES: Final = "Resources of which more is to be known"
UNTOLD: Final = "What no document tells"
GATES: Final = "Feature gates"
PLUGINS: Final = "Admission plugins"
BOOTSTRAP: Final = "Objects of a new server"
RECORDINGS: Final = "Recordings that differ"


@dataclass(frozen=True, slots=True)
class Finding:
    """A line of the report. `place` is a path below `data/`, in which `*` stands for any name, or a
    file of the source, `parts` are names of members there if it is only about these; `is_open` says
    that something is left to be done."""

    section: str
    place: str
    text: str
    is_open: bool = True
    parts: tuple[str, ...] = ()

    @property
    def places(self) -> tuple[str, ...]:
        """All that it is about."""
        return tuple(f"{self.place}/{part}" for part in self.parts) or (self.place,)

    @property
    def line(self) -> str:
        """The finding in the report."""
        parts = f" ({', '.join(self.parts)})" if self.parts else ""
        return f"- [{' ' if self.is_open else 'x'}] {self.place}{parts}: {self.text}"


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    release = json.loads((options.folder / "version.json").read_text())["release"]
    go = tuple(GoSources(path) for path in (options.go, options.previous_go) if path)
    findings = import_documents(options.folder, *go)
    findings += import_gate_table(options.folder, options.go)
    text = _DESCRIBED.sub(f'DESCRIBED: Final = "{release}"', RELEASES.read_text("utf-8"))
    RELEASES.write_text(text, encoding="utf-8")
    build_packs.main()
    if tuple(map(int, release.split("."))) > LATEST_RELEASE:
        findings.append(Finding(UNTOLD, LATEST_PLACE, f"say {release}, then run this again"))
    else:
        findings += [*plugins(options.folder, release), *bootstrap(options.folder, release)]
        if options.recordings is not None:
            findings += recordings(options.folder, release, options.recordings)
    sys.stdout.write(report(release, findings))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tools/next_release.py", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--go", type=Path, metavar="SOURCES", help="of the new release")
    parser.add_argument("--previous-go", type=Path, metavar="SOURCES", help="of the one before it")
    parser.add_argument(
        "--recordings",
        nargs="*",
        metavar="GROUP",
        help="replay them, too: all, or these groups of them",
    )
    return parser


def report(release: str, findings: Iterable[Finding]) -> str:
    """The findings as text, by section; what is left to be done is marked and counted."""
    sections: dict[str, list[Finding]] = {}
    for one in findings:
        sections.setdefault(one.section, []).append(one)
    lines = [f"# Kubernetes {release}"]
    for section, members in sections.items():
        left = sum(one.is_open for one in members)
        lines += ["", f"## {section} ({len(members)}, {left} open)", ""]
        lines += [one.line for one in members]
    return "\n".join(lines) + "\n"


# --- Documents ---------------------------------------------------------------


def import_documents(
    folder: Path,
    go: GoSources | None = None,
    previous_go: GoSources | None = None,
    data: Path = SOURCES,
) -> list[Finding]:
    """Writes what the documents of a release say into `data`, and how the release before it, which
    `data` described, is made of that."""
    base = every_source(data)
    made = NeighbourRelease(base, folder, go, previous_go).sources()
    previous = described(data)
    change = changes(made, base, (*FILES, *FOLDERS))
    assert release_sources(made, change) == base, f"{previous} cannot be told from the new release"
    write_change(data, previous, f"v{previous}.0", change)
    for part in DOCUMENTED:
        write_part(data, part, made[part])
    return [*Comparison(base, made, has_go=go is not None).findings()]


def described(data: Path) -> str:
    """The release that `data` describes: the one after those that have a file of their own."""
    newest = next(release for release, _ in release_changes(data))
    major, minor = newest.split(".")
    return f"{major}.{int(minor) + 1}"


def write_part(data: Path, part: str, value: Json) -> None:
    if part in FILES:
        path = data / f"{part}.json"
        path.write_text(text_of(value, levels_of(path)), encoding="utf-8")
        return
    for path in (data / part).glob("*.json"):
        if path.stem not in value:
            path.unlink()
    for name, entries in value.items():
        path = data / part / f"{name}.json"
        path.write_text(text_of(entries, levels_of(path)), encoding="utf-8")


class Comparison:
    """What is new in a release, and what of that no document tells."""

    def __init__(self, base: Sources, made: Sources, *, has_go: bool) -> None:
        self._base, self._made = base, made
        self._has_go = has_go
        self._old, self._new = _types(base), _types(made)

    def findings(self) -> Iterator[Finding]:
        yield from self._groups()
        yield from self._resources()
        yield from self._changed_fields()
        yield from self._new_fields()
        yield from self._defaults()
        yield from self._untold()

    def _groups(self) -> Iterator[Finding]:
        old = {group["name"]: group for group in self._base["groups"]["groups"]}
        new = {group["name"]: group for group in self._made["groups"]["groups"]}
        for name in sorted({*old, *new}):
            before, now = old.get(name), new.get(name)
            if before != now:
                text = f"{_versions(before)} became {_versions(now)}"
                yield Finding(TAKEN, f"groups/groups/{name}", text, is_open=False)

    def _resources(self) -> Iterator[Finding]:
        old, new = _entries(self._base, "resources"), _entries(self._made, "resources")
        for place in sorted(old.keys() - new.keys()):
            yield Finding(TAKEN, f"resources/{place}", "is gone", is_open=False)
        for place in sorted(old.keys() & new.keys()):
            parts = [key for key in {**old[place], **new[place]} if _differ(old, new, place, key)]
            if parts:
                text = f"other {', '.join(parts)}"
                yield Finding(TAKEN, f"resources/{place}", text, is_open=False)
        for place in sorted(new.keys() - old.keys()):
            entry, names = new[place], {one.partition("/")[2] for one in old}
            name = place.partition("/")[2]
            like = "those of another version" if name in names else "not known"
            parts = ("columns", "fieldSelectors")
            yield Finding(RESOURCES, f"resources/{place}", like, parts=parts)
            text = f"validation, warnings and what is special about {entry['kind']}"
            yield Finding(RESOURCES, "src/celadon/kube", text)

    def _changed_fields(self) -> Iterator[Finding]:
        for name in sorted(self._old.keys() - self._new.keys()):
            yield Finding(TAKEN, f"schemas/{_place(name)}", "is gone", is_open=False)
        for name in sorted(self._old.keys() & self._new.keys()):
            old, new = (one[name].get("fields", {}) for one in (self._old, self._new))
            for field in sorted(old.keys() - new.keys()):
                text = "is gone, with its rules"
                yield Finding(TAKEN, f"schemas/{_place(name)}/fields/{field}", text, is_open=False)
            for field in sorted(old.keys() & new.keys()):
                if old[field] != new[field]:
                    text = f"{json.dumps(old[field])} became {json.dumps(new[field])}"
                    place = f"schemas/{_place(name)}/fields/{field}"
                    yield Finding(TAKEN, place, text, is_open=False)

    def _added(self) -> dict[str, list[str]]:
        """By type, the fields that are new, all of a new type."""
        added = {}
        for name, entry in sorted(self._new.items()):
            before = self._old.get(name, {}).get("fields", {})
            fields = [field for field in entry.get("fields", {}) if field not in before]
            if fields or name not in self._old:
                added[name] = fields
        return added

    def _new_fields(self) -> Iterator[Finding]:
        for name, fields in self._added().items():
            place, sibling = f"schemas/{_place(name)}", self._sibling(name)
            if sibling:
                yield Finding(FIELDS, place, f"beside its structure all as {sibling} has it")
                continue
            for field in fields:
                if field not in ("kind", "apiVersion"):
                    yield self._new_field(f"{place}/fields/{field}", name, field)
            has_internal = "internal" in self._old.get(name, {}) or name not in self._old
            parts = ("rules", "immutable", *(("internal",) if has_internal else ()))
            text = f"of {', '.join(fields) or 'the type'}"
            yield Finding(FIELDS, place, text, parts=parts)

    def _sibling(self, name: str) -> str:
        """The package that a new type was taken from: that of another version, or none."""
        package, _, kind = name.rpartition(".")
        above, _, version = package.rpartition(".")
        versions = [
            other.removesuffix(f".{kind}").rpartition(".")[2]
            for other in self._old
            if re.fullmatch(rf"{re.escape(above)}\.\w+\.{kind}", other)
        ]
        nearest = nearest_version(version, versions)
        return "" if name in self._old or nearest is None else _short(f"{above}.{nearest}")

    def _new_field(self, place: str, name: str, field: str) -> Finding:
        node = self._new[name]["fields"][field]
        known = {} if isinstance(node, str) else node
        lacks = [key for key in ("number", "default") if key not in known]
        lacks += ["list type"] if "items" in known and "list" not in known else []
        text = f"{_type_text(node)}; no {', '.join((*lacks, 'gate'))}"
        return Finding(FIELDS, place, text)

    def _defaults(self) -> Iterator[Finding]:
        """Kinds whose objects may have new fields, and the rules that they share."""
        added = frozenset(self._added())
        kinds = {tuple(one["gvk"]): name for name, one in self._new.items() if "gvk" in one}
        sets: set[str] = set()
        for file, entries in sorted(self._made["resources"].items()):
            group, _, version = file.rpartition(".")
            for kind in sorted({entry["kind"] for entry in entries.values()}):
                type_ = kinds.get(("" if group == "core" else group, version, kind))
                reached = () if type_ is None else sorted(added & self._reached(type_))
                if reached:
                    rules = self._made["defaults"].get(file, {}).get(kind, {})
                    sets |= _used(rules, self._made["defaulting"]["sets"])
                    text = f"of new fields in {', '.join(map(_short, reached))}"
                    yield Finding(UNTOLD, f"defaults/{file}/{kind}", text)
        if sets:
            text = "used by kinds with new fields"
            yield Finding(UNTOLD, "defaulting/sets", text, parts=tuple(sorted(sets)))

    def _reached(self, name: str) -> set[str]:
        reached, rest = set(), [name]
        while rest:
            one = rest.pop()
            if one not in reached:
                reached.add(one)
                rest += _references(self._new.get(one, {}))
        return reached

    def _untold(self) -> Iterator[Finding]:
        if not self._has_go:
            text = "stand in Go sources only, which are not given"
            parts = ("fields/order", "always", "zeros", "ptr", "embeds")
            yield Finding(UNTOLD, "schemas/*/*", text, parts=parts)
        yield Finding(UNTOLD, "resources/*/*/columns", "recordings of tables show what changed")
        for part in ("columns", "messages", "unpublished", "defaults/*/*/update/keep"):
            yield Finding(UNTOLD, part, "in no document: stays as it was")
        for (group, name), (package, kind) in GATED.items():
            text = "served with a gate only"
            yield Finding(UNTOLD, f"resources/{group}.*/{name}", text)
            yield Finding(UNTOLD, f"schemas/io.k8s.api.{package}.*/{kind}*", text)
            yield Finding(UNTOLD, f"defaults/{group}.*/{kind}", text)
            yield Finding(UNTOLD, f"groups/groups/{group}", text)
        for group, package in GATED_VERSIONS.items():
            text = "alpha versions are served with a gate only"
            yield Finding(UNTOLD, f"resources/{group}.v*alpha*", text)
            yield Finding(UNTOLD, f"schemas/io.k8s.api.{package}.v*alpha*", text)
            yield Finding(UNTOLD, f"defaults/{group}.v*alpha*", text)
            yield Finding(UNTOLD, f"groups/groups/{group}", text)
        mentioned = "schemas/io.k8s.apimachinery.pkg.apis.meta.v1/GroupResource"
        yield Finding(UNTOLD, mentioned, "mentioned only by what is served with a gate")
        for place in ("src/celadon/kube/validation", "src/celadon/kube/warnings"):
            yield Finding(UNTOLD, place, "changed rules and sentences: recordings show some")


def _types(sources: Sources) -> dict[str, Json]:
    return {
        f"{package}.{kind}": entry
        for package, entries in sources["schemas"].items()
        for kind, entry in entries.items()
    }


def _entries(sources: Sources, part: str) -> dict[str, Json]:
    return {
        f"{file}/{name}": entry
        for file, entries in sources[part].items()
        for name, entry in entries.items()
    }


def _differ(old: Mapping[str, Json], new: Mapping[str, Json], place: str, key: str) -> bool:
    return bool(old[place].get(key) != new[place].get(key))


def _versions(group: Json) -> str:
    return "nothing" if group is None else ", ".join(group["versions"])


def _place(name: str) -> str:
    package, _, kind = name.rpartition(".")
    return f"{package}/{kind}"


def _short(name: str) -> str:
    return name.removeprefix("io.k8s.").removeprefix("api.")


def _type_text(node: Json) -> str:
    return node if isinstance(node, str) else json.dumps(node)


def _references(node: Json) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("ref"), str):
            yield node["ref"]
        for key in ("items", "values"):
            yield from _references(node.get(key))
        for field in node.get("fields", {}).values():
            yield from _references(field)


def _used(rules: Json, sets: Mapping[str, Json]) -> set[str]:
    """The sets that rules use, and those that these use."""
    used: set[str] = set()
    rest = [rules]
    while rest:
        one = rest.pop()
        if isinstance(one, dict) and isinstance(one.get("use"), str) and one["use"] not in used:
            used.add(one["use"])
            rest.append(sets[one["use"]])
        rest += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
    return used


# --- Gates, plugins, objects of a new server, recordings ---------------------


def import_gate_table(folder: Path, go: Path | None, data: Path = SOURCES) -> list[Finding]:
    """Writes what the release says of its gates into `data/feature_gates.json`."""
    if not (folder / "feature-gates.json").exists():
        return [Finding(GATES, "feature_gates", "not given: they stay as they were")]
    path = data / "feature_gates.json"
    histories = json.loads(path.read_text(encoding="utf-8"))
    release = json.loads((folder / "version.json").read_text())["release"]
    minor = tuple(map(int, release.split(".")))
    before = {name: import_gates.state_at(one, minor) for name, one in histories.items()}
    gates = import_gates.gates_of(folder, go)
    if go is None:
        for name, state in gates.items():
            same = before.get(name) or {}
            kept = {key: same[key] for key in ("locked", "needs") if key in same}
            gates[name] = {**state, **kept}
    made = import_gates.with_release(histories, minor, gates)
    path.write_text(text_of(made, levels_of(path)), encoding="utf-8")
    return [*_gate_findings(before, gates, has_go=go is not None)]


def _gate_findings(
    before: Mapping[str, Json], now: Mapping[str, Json], *, has_go: bool
) -> Iterator[Finding]:
    for name in sorted({*before, *now}):
        old, new = before.get(name), now.get(name)
        if old == new:
            continue
        place = f"feature_gates/{name}"
        if old is None:
            text = f"{_gate_text(new)}: what it is about in the source"
            yield Finding(GATES, place, text)
        else:
            text = f"{_gate_text(old)} became {_gate_text(new)}"
            yield Finding(GATES, place, text, is_open=False)
    if not has_go:
        text = "stand in Go sources only, which are not given"
        yield Finding(GATES, "feature_gates/*", text, parts=("locked", "needs"))


def _gate_text(state: Json) -> str:
    return "gone" if state is None else f"{state['stage']}, {'on' if state['default'] else 'off'}"


def plugins(folder: Path, release: str) -> Iterator[Finding]:
    """How `admission_plugins` differs from the plugins that a server of the release has."""
    path = folder / "admission-plugins.json"
    if not path.exists():
        yield Finding(PLUGINS, "src/celadon/kube/resources/admission_plugins.py", "not given")
        return
    given = json.loads(path.read_text())
    with answering_as(release):
        ours = {"default": default_plugins(), "known": frozenset(known_plugins(PLUGIN_ORDER))}
    for key, known in ours.items():
        listed = frozenset(given[key])
        for name in sorted(listed ^ known):
            text = f"is {key} in {release}" if name in listed else f"is not {key} in {release}"
            yield Finding(
                PLUGINS, "src/celadon/kube/resources/admission_plugins.py", f"{name} {text}"
            )


def bootstrap(folder: Path, release: str) -> Iterator[Finding]:
    """Objects that a new server of the release has and this one has not, or otherwise."""
    if not (folder / "bootstrap.json").exists():
        yield Finding(BOOTSTRAP, "src/celadon/apiserver/bootstrap_objects.py", "not given")
        return
    module = "tests.apiserver.bootstrap_differences"
    for line in _lines_of(module, str(folder / "bootstrap.json"), release):
        yield Finding(BOOTSTRAP, "src/celadon/apiserver/bootstrap_objects.py", line)


def recordings(folder: Path, release: str, groups: Collection[str] = ()) -> Iterator[Finding]:
    """What recordings of the release show, asked of a server that answers as it."""
    command = ("--release", release, "--only", "process", *groups)
    for line in _lines_of("tests.recorded", *command):
        if line.startswith(("FAIL", "    ")):
            yield Finding(RECORDINGS, str(folder / "conformance"), line.strip())


def _lines_of(module: str, *arguments: str) -> list[str]:
    """What a module of the tests prints, run as a command with what was written just now."""
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.stderr:
        sys.stderr.write(done.stderr)
    return done.stdout.splitlines()


if __name__ == "__main__":
    sys.exit(main())
