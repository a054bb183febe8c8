"""Kyverno's conformance tests, played with what its policies become: `python -m
tools.kyverno_conformance FOLDER`, with `test/conformance/chainsaw` of Kyverno's repository.

A test of Chainsaw is played if all it does is create, apply, patch or delete objects and look at
them, or run a `kubectl` that does so. Its policies are translated and stand, as admission policies,
in an API server of the tool's own; each object that is sent there is a case: it is refused as the
test expects, or not. What the test asserts of objects that it has created is a case, too. The table
is Markdown.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from celadon.cli.migration.migration_run import Migration
from celadon.goyaml import read_yaml
from celadon.kube import GroupVersionKind, Json, JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.registry.patches import apply_merge_patch
from celadon.kube.resources import Catalog, known_resources
from celadon.testing import KubeApi, RequestRefused


class NotPlayed(Exception):
    """A test does what is not played here, or has a policy that is not translated."""


@dataclass
class Played:
    """What came of one test."""

    name: str
    """Its folder, below the one that was asked for."""
    reason: str = ""
    """Why it was not played."""
    cases: int = 0
    otherwise: list[str] = field(default_factory=list)


def played(test: Path, name: str) -> Played:
    """Play a test in a server of its own."""
    result = Played(name)
    document = next(iter(_documents(test)))
    with KubeApi() as api, tempfile.TemporaryDirectory() as patched:
        session = _Session(api, test.parent, Path(patched), result)
        try:
            for step in document["spec"].get("steps", ()):
                session.play(step, {})
        except NotPlayed as reason:
            result.reason = str(reason)
    if not session.policies:
        result.reason = result.reason or "it has no policy"
    return result


class _Session:
    """A test that is being played."""

    def __init__(self, api: KubeApi, folder: Path, patched: Path, result: Played) -> None:
        """`patched` is where policies are written that the test patches."""
        self._api = api
        self._folder = folder
        self._patched = patched
        self._result = result
        self._catalog: Catalog = known_resources()
        self.policies: list[Path] = []

    def play(self, step: JsonObject, bound: Mapping[str, str], folder: Path | None = None) -> None:
        """Play a step; a template stands for its operations."""
        used = step.get("use")
        if used is not None:
            template = self._folder / used["template"]
            values = {one["name"]: str(one["value"]) for one in used["with"]["bindings"]}
            if not template.stem.endswith("-ready"):
                for document in _documents(template):
                    self.play(document["spec"], values, folder)
        for operation in step.get("try", ()):
            self._operation(operation, bound)

    def _operation(self, operation: JsonObject, bound: Mapping[str, str]) -> None:
        for name, what in operation.items():
            match name:
                case "create" | "apply" | "update":
                    self._send(self._objects(what, bound), is_refused=_expects_error(what))
                case "script" | "command":
                    self._command(what)
                case "assert" | "error":
                    self._look(self._objects(what, bound), is_there=name == "assert")
                case "patch":
                    self._patch(self._objects(what, bound), is_refused=_expects_error(what))
                case "delete":
                    self._delete(what)
                case "sleep" | "description":
                    pass
                case _:
                    raise NotPlayed(f"`{name}` in its steps")

    def _objects(self, what: JsonObject, bound: Mapping[str, str]) -> list[tuple[Path, JsonObject]]:
        if "resource" in what:
            return [(self._folder / "-", what["resource"])]
        name = what["file"]
        file = self._folder / bound.get(name.strip("($)"), name)
        return [(file, one) for one in _documents(file)]

    def _command(self, what: JsonObject) -> None:
        words = what.get("content") or " ".join([what.get("entrypoint", ""), *what.get("args", ())])
        script = re.fullmatch(r"\./(\S+\.sh)", words.strip())
        if script is not None:
            words = (self._folder / script[1]).read_text()
        read = _read_script(words, is_refused=_expects_error(what))
        if read is None:
            raise NotPlayed("scripts")
        command, is_refused = read
        file = re.fullmatch(r"kubectl (?:apply|create) -f (?:\./)?(\S+)", command)
        if file is not None:
            path = self._folder / file[1]
            self._send([(path, one) for one in _documents(path)], is_refused=is_refused)
            return
        request = _request(command)
        if request is None:
            raise NotPlayed("scripts")
        method, place, body = request
        try:
            self._api.request(method, place, body)
            refusal = ""
        except RequestRefused as refused:
            refusal = str(refused.status.get("message"))
        self._count(command, refusal, is_refused=is_refused)

    def _count(self, what: str, refusal: str, *, is_refused: bool) -> None:
        self._result.cases += 1
        if bool(refusal) is not is_refused:
            self._result.otherwise.append(f"{what}: {refusal or 'admitted'}")

    def _send(self, objects: list[tuple[Path, JsonObject]], *, is_refused: bool) -> None:
        ours = [one for one in objects if not _is_kyvernos(one[1])]
        for file, _ in objects:
            if len(ours) < len(objects):
                self._translate(file, is_refused=is_refused)
                break
        if not ours:
            return
        refusals = [refusal for _, one in ours if (refusal := self._apply(one))]
        what = ", ".join(f"{one['kind']} {one['metadata'].get('name')}" for _, one in ours)
        self._count(what, "".join(refusals[:1]), is_refused=is_refused)

    def _translate(self, file: Path, *, is_refused: bool) -> None:
        if is_refused:
            raise NotPlayed("it is about what policies Kyverno takes")
        if file not in self.policies:
            self.policies.append(file)
        self._translate_all()

    def _patch(self, objects: list[tuple[Path, JsonObject]], *, is_refused: bool) -> None:
        for _, patch in objects:
            if not _is_kyvernos(patch):
                what = f"PATCH {patch['kind']} {metadata.name(patch)}"
                self._count(what, self._apply(patch), is_refused=is_refused)
                continue
            for number, file in enumerate(self.policies):
                documents = list(_documents(file))
                same = [_is_same(document, patch) for document in documents]
                if any(same):
                    self.policies[number] = self._patched / f"{number}.yaml"
                    pairs = zip(documents, same, strict=True)
                    changed = [
                        apply_merge_patch(one, patch) if is_it else one for one, is_it in pairs
                    ]
                    self.policies[number].write_text("\n---\n".join(map(json.dumps, changed)))
            self._translate_all()

    def _translate_all(self) -> None:
        migration = Migration.of([str(one) for one in self.policies], allows_existing=True)
        for outcome in migration.outcomes:
            if outcome.translation.reason:
                raise NotPlayed(f"not translated: {outcome.translation.reason}")
            for document in outcome.translation.documents:
                refusal = self._apply(document)
                if refusal:
                    raise NotPlayed(f"a translation that the server refuses: {refusal}")

    def _apply(self, given: JsonObject) -> str:
        """Create an object, or change it to what is given; return why it was refused."""
        obj: JsonDict = dict(given)
        group, _, version = str(obj["apiVersion"]).rpartition("/")
        gvk = GroupVersionKind(group, version, str(obj["kind"]))
        known = self._catalog.by_gvk(gvk)
        if known is None:
            raise NotPlayed(f"objects of kind {gvk.kind}")
        name = obj["metadata"].get("name", "")
        place = f"/apis/{group}/{version}" if group else f"/api/{version}"
        if known.namespaced:
            place += f"/namespaces/{obj['metadata'].get('namespace', 'default')}"
        place += f"/{known.gvr.resource}"
        try:
            # As `kubectl apply` does: a policy would refuse to create what is there.
            if name and self._live(obj) is not None:
                self._api.request("PATCH", f"{place}/{name}", obj)
            else:
                self._api.request("POST", place, obj)
        except RequestRefused as refused:
            return str(refused.status.get("message"))
        if gvk.kind == "CustomResourceDefinition":
            self._catalog = self._catalog.with_crds([obj])
        return ""

    def _look(self, objects: list[tuple[Path, JsonObject]], *, is_there: bool) -> None:
        for _, wanted in objects:
            if _is_kyvernos(wanted) or _is_made_by_kyverno(wanted) or "(" in str(wanted):
                continue
            # Nobody writes the status of workloads here.
            if wanted.get("kind") in _WORKLOADS:
                wanted = {name: part for name, part in wanted.items() if name != "status"}
            self._result.cases += 1
            live = self._live(wanted)
            if (live is not None and _contains(live, wanted)) is not is_there:
                what = f"{wanted['kind']} {wanted['metadata'].get('name')}"
                said = "is not as asserted" if is_there else "is as it must not be"
                self._result.otherwise.append(f"{what} {said}")

    def _live(self, wanted: JsonObject) -> JsonObject | None:
        place = self._place(wanted)
        try:
            found: JsonObject = self._api.request("GET", place)
        except RequestRefused:
            return None
        return found

    def _delete(self, what: JsonObject) -> None:
        is_refused = _expects_error(what)
        if "ref" not in what:
            raise NotPlayed("`delete` of what a file names")
        if _is_kyvernos(what["ref"]):
            raise NotPlayed("policies that are deleted")
        ref = {**what["ref"], "metadata": {**what["ref"]}}
        try:
            self._api.request("DELETE", self._place(ref))
            refusal = ""
        except RequestRefused as refused:
            refusal = str(refused)
        self._count(f"DELETE {ref['kind']}", refusal, is_refused=is_refused)

    def _place(self, obj: JsonObject) -> str:
        group, _, version = str(obj["apiVersion"]).rpartition("/")
        known = self._catalog.by_gvk(GroupVersionKind(group, version, str(obj["kind"])))
        if known is None:
            raise NotPlayed(f"objects of kind {obj['kind']}")
        if not metadata.name(obj):
            raise NotPlayed("objects that no name says which they are")
        place = f"/apis/{group}/{version}" if group else f"/api/{version}"
        if known.namespaced:
            place += f"/namespaces/{metadata.namespace(obj) or 'default'}"
        return f"{place}/{known.gvr.resource}/{metadata.name(obj)}"


_WORKLOADS: Final = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "Pod")

_SCRIPT: Final = re.compile(
    r"if (?P<command>kubectl [^|\n;]*?)(?P<searched>\s+2>&1 \| grep -q .*?)?\s*;?\s*"
    r"then\s+(?:echo .*\s+)?exit (?P<then>[01])\s*;?\s*"
    r"else\s+(?:echo .*\s+)?exit (?P<otherwise>[01])\s*;?\s*fi;?"
)
"""A command, and what it means that it succeeds, or that what it says has a text: a refusal."""


def _read_script(text: str, *, is_refused: bool) -> tuple[str, bool] | None:
    """Return the one command of a script, and whether it is expected to fail."""
    found = _SCRIPT.fullmatch(text.strip())
    if found is not None:
        is_fine = found["then"] == "0"
        return found["command"].strip(), is_fine if found["searched"] else not is_fine
    text = text.strip()
    return None if "\n" in text or "|" in text else (text, is_refused)


_Request = tuple[str, str, JsonObject]

_COMMANDS: Final = (
    (re.compile(r"run (?P<name>[\w-]+)"), "POST"),
    (re.compile(r"label (?P<kind>po|pod|deployment) (?P<name>[\w-]+) (?P<key>\w+)=(?P<value>\w+)"),
     "PATCH"),
    (re.compile(r"delete (?P<kind>po|pod|deployment) (?P<name>[\w-]+)"), "DELETE"),
    (re.compile(r"scale (?P<kind>deployment|sts) (?P<name>[\w-]+)"), "PATCH scale"),
    (re.compile(r"debug (?P<name>[\w-]+)"), "PATCH ephemeralcontainers"),
)  # fmt: skip
_OPTION: Final = re.compile(
    r"\s+(?:--?(image|namespace|n|replicas|c|overwrite))(?:[ =]([^\s-]\S*))?"
)
_PLACES: Final = {
    "po": "/api/v1/namespaces/{}/pods",
    "pod": "/api/v1/namespaces/{}/pods",
    "deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "sts": "/apis/apps/v1/namespaces/{}/statefulsets",
}


_NEEDED = {
    "POST": "image",
    "PATCH scale": "replicas",
    "PATCH ephemeralcontainers": "image",
}
"""The option without which a command is no request."""


def _request(command: str) -> _Request | None:
    """Return the request that a command of kubectl comes to; None if it is none of a few."""
    if not command.startswith("kubectl "):
        return None
    text = command.removeprefix("kubectl")
    options = dict(_OPTION.findall(text))
    words = _OPTION.sub("", text).strip()
    for pattern, what in _COMMANDS:
        found = pattern.fullmatch(words)
        if found is not None and (what not in _NEEDED or _NEEDED[what] in options):
            method, _, subresource = what.partition(" ")
            kind = found.groupdict().get("kind", "pod")
            namespace = options.get("n") or options.get("namespace") or "default"
            # The namespace that Chainsaw makes for a test is the default one here.
            namespace = namespace.replace("$NAMESPACE", "default")
            place = _PLACES[kind].format(namespace)
            if method != "POST":
                place += f"/{found['name']}"
            place += f"/{subresource}" if subresource else ""
            return method, place, _body(what, found.groupdict(), options)
    return None


def _body(what: str, found: Mapping[str, str], options: Mapping[str, str]) -> JsonObject:
    """Return what is sent: a Pod, or a patch."""
    match what:
        case "POST":
            container = {"name": found["name"], "image": options["image"]}
            about = {"name": found["name"], "labels": {"run": found["name"]}}
            pod: JsonObject = {"apiVersion": "v1", "kind": "Pod", "metadata": about}
            return {**pod, "spec": {"containers": [container]}}
        case "PATCH":
            return {"metadata": {"labels": {found["key"]: found["value"]}}}
        case "PATCH scale":
            return {"spec": {"replicas": int(options["replicas"])}}
        case "PATCH ephemeralcontainers":
            container = {"name": options.get("c", "debugger"), "image": options["image"]}
            return {"spec": {"ephemeralContainers": [container]}}
    return {}


def _documents(file: Path) -> Iterator[JsonDict]:
    try:
        text = file.read_text()
    except OSError as error:
        raise NotPlayed(f"a file that is not there: {file.name}") from error
    for _, value in read_yaml(text, []):
        if isinstance(value, dict) and "kind" in value:
            yield value


def _is_kyvernos(obj: JsonObject) -> bool:
    return "kyverno.io/" in str(obj.get("apiVersion"))


def _is_same(obj: JsonObject, other: JsonObject) -> bool:
    return obj["kind"] == other["kind"] and metadata.name(obj) == metadata.name(other)


def _is_made_by_kyverno(obj: JsonObject) -> bool:
    return "wgpolicyk8s" in str(obj.get("apiVersion")) or obj.get("kind") in (
        "Event", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
        "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration",
    )  # fmt: skip


def _expects_error(what: JsonObject) -> bool:
    checks = [one.get("check", {}) for one in what.get("expect", ())] + [what.get("check") or {}]
    return any(
        ("$error" in key and wanted is not False)
        or (key.startswith("(contains($stderr") and wanted is True)
        for check in checks
        for key, wanted in check.items()
    )


def _contains(live: Json, wanted: Json) -> bool:
    if isinstance(wanted, Mapping):
        return isinstance(live, Mapping) and all(
            key in live and _contains(live[key], value) for key, value in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(live, list)
            and len(live) == len(wanted)
            and all(map(_contains, live, wanted))
        )
    return live == wanted


def table(results: Iterable[Played]) -> Iterator[str]:
    """Yield the lines of a table by folder, and the reasons for what was not played."""
    found = list(results)
    folders: dict[str, list[Played]] = {}
    for one in found:
        folders.setdefault(one.name.split("/")[0], []).append(one)
    yield "| folder | tests | played | cases | otherwise |"
    yield "|---|---:|---:|---:|---:|"
    others: list[Played] = []
    for folder, own in sorted(folders.items()):
        if all(one.reason for one in own):
            others += own
        else:
            yield _row(folder, own)
    if others:
        yield _row("others", others)
    yield _row("**all**", found)
    yield ""
    yield "| tests | why they are not played |"
    yield "|---:|---|"
    reasons = Counter(one.reason for one in found if one.reason)
    single = sum(count == 1 for count in reasons.values())
    for reason, count in sorted(reasons.items(), key=lambda one: (-one[1], one[0])):
        if count > 1 or single == 1:
            yield f"| {count} | {reason} |"
    if single > 1:
        yield f"| {single} | each for another reason |"


def _row(name: str, results: list[Played]) -> str:
    done = [one for one in results if not one.reason]
    cases = sum(one.cases for one in done)
    return (
        f"| {name} | {len(results)} | {len(done)} | {cases} |"
        f" {sum(len(one.otherwise) for one in done)} |"
    )


def main(folder: str) -> None:
    """Print the table; cases that come out otherwise go to standard error."""
    root = Path(folder)
    results = []
    for test in sorted(root.rglob("chainsaw-test.yaml")):
        one = played(test, str(test.parent.relative_to(root)))
        results.append(one)
        for line in () if one.reason else one.otherwise:
            sys.stderr.write(f"{one.name}: {line}\n")
    sys.stdout.write("\n".join([*table(results), ""]))


if __name__ == "__main__":
    main(*sys.argv[1:])
