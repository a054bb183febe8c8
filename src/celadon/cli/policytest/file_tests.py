"""A document of kind PolicyTest to a `PolicyTest`: its objects, its cases, their defaults."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from celadon.admission import ADMIN, Operation
from celadon.admission.registration import (
    BINDING_KIND,
    MUTATING_BINDING_KIND,
    MUTATING_POLICY_KIND,
    POLICY_KIND,
)
from celadon.cel.extend import re2
from celadon.cli.check.check_report import Place
from celadon.cli.check.plugins import PluginChoice, plugin_choice
from celadon.cli.check.questions import user_info
from celadon.cli.options import VERSIONS, did_you_mean
from celadon.cli.own_files import faults, is_own, problem_at
from celadon.cli.policytest import case_results
from celadon.cli.policytest.file_format import KIND, SCHEMA, SNAPSHOT
from celadon.cli.reading.documents import (
    EXTENSIONS,
    Document,
    DocumentReader,
    Problem,
    expand_paths,
    is_test_file,
    read_text,
    shape_problem,
)
from celadon.cli.reading.json_text import Path
from celadon.kube import GroupKind, JsonObject, Ruling, User, metadata
from celadon.kube.registry import JsonPatchError, apply_json_patch, apply_merge_patch
from celadon.kube.resources import UnusablePlugins
from celadon.kube.workload_controllers import created_kinds

# --- Objects -----------------------------------------------------------------
#
# Objects as test files give them: inline, in files, or as patches on others.
#
# `ObjectReader` belongs to one test file: paths are relative to it, names are those of its
# `objects`. What cannot be read goes to its `problems`, each once. Files are read once.

Patch = JsonObject | Sequence[JsonObject]
"""A merge patch or a JSON patch."""


class ObjectReader:
    """Reads what one test file names. `files` are the files that were read, as they were named."""

    def __init__(self, test: Document) -> None:
        self._test = test
        self._folder = os.path.dirname(test.file)
        self._reader = DocumentReader()
        self._read: dict[str, list[Document]] = {}
        self._bases: dict[str, Document | None] = {}
        self._expanded: dict[str, tuple[Document, ...]] = {}
        self.problems: list[Problem] = []
        self.files: list[str] = []

    def manifests(self, path: Path) -> list[Document]:
        """The documents that a list at a path of the test stands for."""
        given = self._test.value_at(path) or []
        return [
            found
            for index, one in enumerate(given if isinstance(given, list) else ())
            for found in self.manifest(one, (*path, index))
        ]

    def manifest(self, given: object, path: Path) -> Sequence[Document]:
        """The documents that one item of such a list stands for."""
        if isinstance(given, str):
            if given not in self._expanded:
                self._expanded[given] = tuple(self._below(given, path))
            return self._expanded[given]
        inline = self.inline(path)
        return [] if inline is None else [inline]

    def beside(self, files: Sequence[str]) -> list[Document]:
        """The documents in files that nobody has named."""
        return [one for file in files for one in self._documents(file, ())]

    def _below(self, given: str, path: Path) -> Iterator[Document]:
        """Yield what is in a file, in the files of a folder or in those that a pattern matches."""
        for file in expand_paths([self._path(given)]):
            if isinstance(file, Problem):
                self._complain(path, file.message)
            else:
                yield from self._documents(file, path)

    def inline(self, path: Path) -> Document | None:
        """An object that stands in the test itself."""
        value: Any = self._test.value_at(path)
        return self._shaped(Document(self._test.chunk, (*self._test.path, *path), value))

    def _shaped(self, document: Document) -> Document | None:
        wrong = shape_problem(document)
        if wrong is None:
            return document
        self.problems.append(wrong)
        return None

    def object(self, path: Path) -> Document | None:
        """The object that a field of the test stands for; None for what is wrong."""
        given: Any = self._test.value_at(path)
        if isinstance(given, str):
            return self._named(given, path)
        if "apiVersion" in given:
            return self.inline(path)
        return self._derived(given, path)

    def patched(self, document: Document | None, path: Path) -> Document | None:
        """An object with the patch at a path of the test; as it is if there is none."""
        patch: Any = self._test.value_at(path)
        if document is None or patch is None:
            return document
        try:
            value = patched(document.value, patch)
        except JsonPatchError as error:
            self._complain(path, f"the patch does not apply: {error}")
            return None
        if not _is_object(value):
            self._complain(path, "the patch leaves no object with `apiVersion` and `kind`")
            return None
        return self._shaped(replace(document, value=value))

    def _named(self, name: str, path: Path) -> Document | None:
        """One of `objects`, or a file."""
        objects = self._test.value.get("objects") or {}
        if name not in objects:
            return self._only(name, path, "", "")
        if name not in self._bases:
            self._bases[name] = None  # one that is based on itself is none
            self._bases[name] = self.object(("objects", name))
            if self._bases[name] is None:
                self._complain(("objects", name), f"`{name}` is no object")
        return self._bases[name]

    def _derived(self, given: JsonObject, path: Path) -> Document | None:
        if ("base" in given) == ("file" in given):
            self._complain(path, "either `base` or `file` is needed")
            return None
        if "base" in given:
            objects = self._test.value.get("objects") or {}
            if given["base"] not in objects:
                hint = did_you_mean(given["base"], objects)
                wrong = f"no object `{given['base']}` among `objects`{hint}"
                self._complain((*path, "base"), wrong)
                return None
            found = self._named(given["base"], path)
        else:
            kind, name = given.get("kind", ""), given.get("name", "")
            found = self._only(given["file"], (*path, "file"), kind, name)
        return self.patched(found, (*path, "patch"))

    def _only(self, file: str, path: Path, kind: str, name: str) -> Document | None:
        """The one object of a file, of those of a kind and a name."""
        if not os.path.isfile(self._path(file)):
            objects = self._test.value.get("objects") or {}
            hint = did_you_mean(file, objects)
            among = " among `objects`" if objects else ""
            self._complain(path, f"no file `{file}`, and no object of this name{among}{hint}")
            return None
        documents = self._documents(self._path(file), path)
        found = [
            one
            for one in documents
            if kind in ("", one.value["kind"]) and name in ("", metadata.name(one.value))
        ]
        if len(found) == 1:
            return found[0]
        if not documents:
            return None  # what is wrong with the file has been said
        count = "several objects" if found else "no such object"
        names = ", ".join(f"{one.value['kind']} {metadata.name(one.value)}" for one in documents)
        self._complain(path, f"`{file}` has {count}: {names}", "say which: kind, name")
        return None

    def _documents(self, file: str, path: Path) -> list[Document]:
        found = self._read.get(file)
        if found is None:
            found = self._read[file] = []
            self.files.append(file)
            text = read_text(file)
            if isinstance(text, Problem):
                self._complain(path, f"`{file}`: {text.message}")
                return found
            for one in self._reader.read(text):
                if isinstance(one, Problem):
                    self.problems.append(one)
                elif self._shaped(one) is not None:
                    found.append(one)
        return found

    def _path(self, given: str) -> str:
        return os.path.join(self._folder, given)

    def _complain(self, path: Path, text: str, help: str = "") -> None:
        self.problems.append(problem_at(self._test, path, text, help))


def patched(value: JsonObject, patch: Patch) -> Any:  # noqa: ANN401 - any JSON
    """An object with a merge patch, or a JSON patch if it is a list. Raises JsonPatchError."""
    if isinstance(patch, Mapping):
        return apply_merge_patch(value, patch)
    return apply_json_patch(value, patch)


def _is_object(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(name), str) and value[name] for name in ("apiVersion", "kind")
    )


# --- Cases -------------------------------------------------------------------
#
# A case as it stands in a file, with the defaults of its file, to a `Case`.
#
# A case and the defaults are read field by field: `CaseFields.path` is where a field stands, in
# the case or in the defaults.

# --- Short bindings ----------------------------------------------------------
#
# Bindings as tests give them: whole ones, files, or only what a binding's spec says.
#
# The short form has no name of its own: it replaces the binding of the policy that has the
# policy's name, or is the only one that the policy has.

_KINDS: Final = {POLICY_KIND: BINDING_KIND, MUTATING_POLICY_KIND: MUTATING_BINDING_KIND}


class ShortBindings:
    """Reads the lists of bindings of one test. `known` are the documents that it is about."""

    def __init__(
        self, test: Document, objects: ObjectReader, known: Callable[[], list[Document]]
    ) -> None:
        self._test = test
        self._objects = objects
        self._known = known

    def documents(self, path: Path) -> list[Document]:
        """The bindings of a list at a path of the test."""
        given: Any = self._test.value_at(path)
        found: list[Document] = []
        for index, one in enumerate(given):
            at = (*path, index)
            if isinstance(one, Mapping) and "kind" not in one:
                found.append(self._made(one, at))
            else:
                found += self._objects.manifest(one, at)
        return found

    def _made(self, spec: JsonObject, path: Path) -> Document:
        policy = spec["policyName"]
        version, kind = "admissionregistration.k8s.io/v1", BINDING_KIND
        bound = []
        for one in self._known():
            if one.value["kind"] in _KINDS and metadata.name(one.value) == policy:
                version, kind = one.value["apiVersion"], _KINDS[one.value["kind"]]
            elif one.value["kind"] in _KINDS.values():
                named = one.value_at(("spec", "policyName"))
                bound += [metadata.name(one.value)] if named == policy else []
        name = bound[0] if len(bound) == 1 else policy
        value = {
            "apiVersion": version,
            "kind": kind,
            "metadata": {"name": name},
            "spec": {"validationActions": ["Deny"], **spec} if kind == BINDING_KIND else dict(spec),
        }
        return Document(self._test.chunk, (*self._test.path, *path), value)


# --- Fields ------------------------------------------------------------------

# --- Expectation fields ------------------------------------------------------
#
# What stands under `expect`, to an `Expectation`.


_SHORT = tuple(
    one for one in case_results.CaseVerdict if one.value in {"deny", "warn", "audit", "error"}
)
"""Verdicts that may be given with their message: `deny: no more than 5 replicas`."""


class ExpectationReader:
    """Reads expectations of one test, of which the shape is right; what is wrong beyond that goes
    to `problems`."""

    def __init__(self, test: Document, problems: list[Problem]) -> None:
        self._test = test
        self._problems = problems

    def read(self, path: Path) -> case_results.Expectation:
        """Return what is expected, at a path of the test."""
        given: Any = self._test.value_at(path)
        place = self._place(path)
        if given == SNAPSHOT:
            return case_results.Expectation(case_results.CaseVerdict.ADMIT, place, snapshot=True)
        if isinstance(given, str):
            return case_results.Expectation(case_results.CaseVerdict(given), place)
        verdict, at = self._verdict(given, path)
        patch = given.get("patch")
        if isinstance(patch, Mapping):
            self._complain((*path, "patch"), "a JSON patch is expected here, a list of operations")
            patch = None
        warnings = given.get("warnings")
        return case_results.Expectation(
            verdict,
            place,
            message=self._text(at) if at else None,
            reason=given.get("reason", ""),
            code=given.get("code", 0),
            policy=given.get("policy", ""),
            validation=given.get("validation"),
            violations=given.get("violations"),
            warnings=None
            if warnings is None
            else tuple(self._text((*path, "warnings", i)) for i in range(len(warnings))),
            audit_annotations={
                key: self._text((*path, "auditAnnotations", key))
                for key in given.get("auditAnnotations", {})
            },
            because=given.get("because", ""),
            object=given.get("object"),
            patch=None if patch is None else tuple(patch),
        )

    def _verdict(self, given: JsonObject, path: Path) -> tuple[case_results.CaseVerdict, Path]:
        """And where the message stands, if there is one."""
        short = [one for one in _SHORT if one.value in given]
        said = case_results.CaseVerdict(given["verdict"]) if "verdict" in given else None
        if len(short) + (said is not None) > 1:
            self._complain(path, "more than one verdict")
        if short:
            if "message" in given:
                self._complain(
                    (*path, "message"), f"the message stands at `{short[0].value}` already"
                )
            return short[0], (*path, short[0].value)
        at = (*path, "message") if "message" in given else ()
        if said is None:
            mutates = "object" in given or "patch" in given
            if not mutates:
                self._complain(path, "no `verdict`: admit, deny, warn, audit, error or noMatch")
            said = case_results.CaseVerdict.ADMIT
        return said, at

    def _text(self, path: Path) -> case_results.TextMatch:
        given: Any = self._test.value_at(path)
        place = self._place(path)
        if isinstance(given, str):
            return case_results.TextMatch(given, case_results.How.IS, place)
        if "contains" in given:
            return case_results.TextMatch(given["contains"], case_results.How.CONTAINS, place)
        pattern = given["matches"]
        try:
            re2.compile(pattern)
        except re2.RegexError as error:
            self._complain((*path, "matches"), f"not a regular expression of RE2: {error}")
        return case_results.TextMatch(pattern, case_results.How.MATCHES, place)

    def _place(self, path: Path) -> Place:
        return Place(self._test.file, self._test.line(path))

    def _complain(self, path: Path, text: str) -> None:
        self._problems.append(problem_at(self._test, path, text))


_RULINGS: Final = {
    "allow": Ruling.ALLOW,
    "deny": Ruling.DENY,
    "noOpinion": Ruling.NO_OPINION,
}
_DEFAULTS: Final = "defaults"


class CaseFields:
    """Reads the cases of one test file, of which the shape is right."""

    def __init__(self, test: Document, objects: ObjectReader, bindings: ShortBindings) -> None:
        self._test = test
        self._objects = objects
        self._bindings = bindings
        self._around: dict[Path, tuple[Document, ...]] = {}
        self._answers: dict[Path, tuple[case_results.AuthorizerAnswer, ...]] = {}

    def case(self, index: int) -> case_results.Case | None:
        """The case of an index; None, and a problem, if something is wrong with it."""
        at: Path = ("cases", index)
        before = len(self._objects.problems)
        document, old = self._request_objects(at)
        expect = ExpectationReader(self._test, self._objects.problems).read((*at, "expect"))
        namespace, extra = self._namespace(at, document or old)
        cluster = (*self.around(at), *extra)
        if document is not None:
            self._check_generated(at, document)
        if document is None or len(self._objects.problems) > before:
            return None
        return case_results.Case(
            self._get(at, "name", ""),
            self._place(at),
            expect,
            document,
            old,
            Operation(self._get(at, "operation", "CREATE")),
            self._get(at, "subresource", ""),
            namespace,
            self._user(at),
            dry_run=self._is_set(at, "dryRun"),
            cluster=cluster,
            answers=self._authorizer(at),
            policies=names(self._get(at, "policy", ())),
            versions=versions(self._get(at, "kubernetesVersions", ())),
            skip=self._get(at, "skip", ""),
            generated=self._get(at, "generated", ""),
        )

    def _request_objects(self, at: Path) -> tuple[Document | None, Document | None]:
        """Return what is asked about, and what it replaces."""
        operation = self._get(at, "operation", "CREATE")
        base = self._object(at, "object")
        document = self._patched(at, base, "patch")
        old = self._patched(at, self._object(at, "oldObject"), "oldPatch")
        if operation == "DELETE":
            document, old = document or old, None
        elif operation == "UPDATE" and old is None:
            old = self._patched(at, base, "oldPatch")
            if old is document and not self._path(at, "oldPatch"):
                text = "an UPDATE needs an `oldObject`, or a `patch` on the `object`"
                self._complain(at, text)
        if document is None and not self._path(at, "object"):
            self._complain(at, "no `object`, neither here nor in `defaults`")
        return document, old

    def _check_generated(self, at: Path, document: Document) -> None:
        """Controllers create what is wanted of objects of this kind."""
        wanted = self._get(at, "generated", "")
        kind = GroupKind(*document.group_kind)
        if wanted and wanted not in created_kinds(kind):
            text = f"no controller creates a {wanted} of a {kind.kind}"
            self._complain(self._path(at, "generated"), text)

    def _object(self, at: Path, name: str) -> Document | None:
        path = self._path(at, name)
        return self._objects.object(path) if path else None

    def _patched(self, at: Path, found: Document | None, name: str) -> Document | None:
        path = self._path(at, name)
        return self._objects.patched(found, path) if path else found

    def around(self, at: Path) -> tuple[Document, ...]:
        """Return what a case, or the test itself (an empty path), has in its cluster; the same
        documents for all that say nothing of their own."""
        if not at:
            return self._cluster(())
        return (*self._shared(), *self._cluster(at))

    def _shared(self) -> tuple[Document, ...]:
        if (_DEFAULTS,) not in self._around:
            self._around[(_DEFAULTS,)] = self._cluster((_DEFAULTS,))
        return self._around[(_DEFAULTS,)]

    def _cluster(self, at: Path) -> tuple[Document, ...]:
        """Return the cluster of this place alone."""
        given: Any = self._test.value_at(at) or {}
        found: list[Document] = []
        for name in ("crds", "resources", "params"):
            if name in given:
                found += self._objects.manifests((*at, name))
        for name, labels in given.get("namespaces", {}).items():
            found.append(self._made_namespace((*at, "namespaces", name), name, labels))
        if "bindings" in given:
            found += self._bindings.documents((*at, "bindings"))
        return tuple(found)

    def _namespace(self, at: Path, found: Document | None) -> tuple[str, list[Document]]:
        """That of objects that do not say theirs, and the Namespace if something is said of it."""
        given = self._get(at, "namespace", "default")
        if isinstance(given, str):
            return given, []
        own = "" if found is None else metadata.namespace(found.value)
        name = given.get("name") or own or "default"
        labels, annotations = given.get("labels", {}), given.get("annotations", {})
        path = self._path(at, "namespace")
        return name, [self._made_namespace(path, name, labels, annotations)]

    def _made_namespace(
        self,
        path: Path,
        name: str,
        labels: Mapping[str, str],
        annotations: Mapping[str, str] | None = None,
    ) -> Document:
        known = {"name": name, "labels": dict(labels)}
        if annotations:
            known["annotations"] = dict(annotations)
        value = {"apiVersion": "v1", "kind": "Namespace", "metadata": known}
        return Document(self._test.chunk, (*self._test.path, *path), value)

    def _user(self, at: Path) -> User:
        groups = self._get(at, "groups", ())
        name = self._get(at, "user", "")
        extra = self._get(at, "extra", {})
        uid = self._get(at, "uid", "")
        found = user_info(name, groups) if name else ADMIN
        if groups and not name:
            found = replace(ADMIN, groups=tuple(groups))
        return replace(found, uid=uid, extra=extra) if uid or extra else found

    def _authorizer(self, at: Path) -> tuple[case_results.AuthorizerAnswer, ...]:
        path = self._path(at, "authorizer")
        if not path:
            return ()
        if path not in self._answers:
            given: Any = self._test.value_at(path)
            self._answers[path] = tuple(map(_answer, given))
        return self._answers[path]

    def _path(self, at: Path, name: str) -> Path:
        """Return where a field of a case stands; empty if it is not given."""
        for holder in (at, (_DEFAULTS,)):
            given = self._test.value_at(holder)
            if isinstance(given, dict) and name in given:
                return (*holder, name)
        return ()

    def _is_set(self, at: Path, name: str) -> bool:
        return self._get(at, name, default=False) is True

    def _get(self, at: Path, name: str, default: object) -> Any:  # noqa: ANN401 - as the schema has it
        path = self._path(at, name)
        return self._test.value_at(path) if path else default

    def _place(self, at: Path) -> Place:
        return Place(self._test.file, self._test.line(at))

    def _complain(self, at: Path, text: str) -> None:
        self._objects.problems.append(problem_at(self._test, at, text))


def _answer(given: JsonObject) -> case_results.AuthorizerAnswer:
    asked = dict(given)
    ruling = _RULINGS[asked.pop("decision")]
    reason, error = asked.pop("reason", ""), asked.pop("error", None)
    return case_results.AuthorizerAnswer(ruling, asked, reason, error)


def names(given: str | list[str]) -> tuple[str, ...]:
    """One name, or several."""
    return (given,) if isinstance(given, str) else tuple(given)


def versions(given: list[str]) -> tuple[str, ...]:
    """Releases without a leading `v`."""
    return tuple(one.removeprefix("v") for one in given)


# --- Tests -------------------------------------------------------------------

_REGISTERED = frozenset({POLICY_KIND, BINDING_KIND, MUTATING_POLICY_KIND, MUTATING_BINDING_KIND})


def is_policy_test(document: Document) -> bool:
    """Return whether it is one, of whatever version."""
    return is_own(document, KIND)


def read_test(document: Document) -> case_results.PolicyTest:
    """The test, with its problems if something is wrong."""
    name = _name(document)
    wrong = [problem_at(document, *one) for one in faults(document.value, SCHEMA)]
    if wrong:
        return case_results.PolicyTest(name, document.file, (), (), problems=tuple(wrong))
    return _Reading(document).test(name)


def _name(document: Document) -> str:
    given = document.value_at(("metadata", "name"))
    return given if isinstance(given, str) and given else os.path.basename(document.file)


class _Reading:
    """One document on its way."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._objects = ObjectReader(document)
        self._policies: list[Document] = []
        bindings = ShortBindings(document, self._objects, lambda: self._policies)
        self._cases = CaseFields(document, self._objects, bindings)

    def test(self, name: str) -> case_results.PolicyTest:
        document, objects = self._document, self._objects
        given = document.value
        if "policies" in given:
            self._policies = objects.manifests(("policies",))
        else:
            self._policies = objects.beside(_policies_beside(document.file))
            self._policies = _with_registered(self._policies)
        cluster = (*self._policies, *self._cases.around(()))
        cases = list(self._read_cases())
        plugins = self._read_plugins()
        problems = [*objects.problems, *self._unknown_versions()]
        return case_results.PolicyTest(
            name,
            document.file,
            cluster,
            tuple(cases),
            versions(given.get("kubernetesVersions", [])),
            given.get("now", case_results.DEFAULT_NOW),
            (document.file, *objects.files),
            tuple(dict.fromkeys(problems)),
            plugins=plugins,
        )

    def _read_plugins(self) -> PluginChoice:
        given = self._document.value.get("admissionPlugins", {})
        try:
            return plugin_choice(
                given.get("enable", ()), given.get("disable", ()), None, whole_cluster=False
            )
        except UnusablePlugins as error:
            problem = problem_at(self._document, ("admissionPlugins",), str(error))
            self._objects.problems.append(problem)
            return PluginChoice()

    def _read_cases(self) -> Iterator[case_results.Case]:
        under_test = names(self._document.value.get("policy", ()))
        seen: dict[str, int] = {}
        for index in range(len(self._document.value["cases"])):
            case = self._cases.case(index)
            if case is None:
                continue
            line = seen.setdefault(case.name, case.place.line)
            if line != case.place.line:
                text = f"a case `{case.name}` is there already, in line {line}"
                self._objects.problems.append(problem_at(self._document, ("cases", index), text))
            yield case if case.policies else replace(case, policies=under_test)

    def _unknown_versions(self) -> Iterator[Problem]:
        """Releases that we do not know."""
        given: JsonObject = self._document.value
        cases = [(("cases", i), one) for i, one in enumerate(given["cases"])]
        for at, holder in ((), given), (("defaults",), given.get("defaults", {})), *cases:
            for i, one in enumerate(versions(holder.get("kubernetesVersions", []))):
                if one not in VERSIONS:
                    text = f"unknown version `{one}`, expected {VERSIONS[0]} to {VERSIONS[-1]}"
                    yield problem_at(self._document, (*at, "kubernetesVersions", i), text)


def _policies_beside(file: str) -> list[str]:
    """The file of the same name, else all files in the folder that are no tests."""
    folder, name = os.path.split(file)
    stem = name.lower().rpartition("policytest")[0].rstrip("._-")
    found = [
        one
        for one in sorted(os.listdir(folder or os.curdir))
        if one.lower().endswith(EXTENSIONS) and not is_test_file(one) and one != name
    ]
    same = [one for one in found if os.path.splitext(one)[0].lower() == stem]
    return [os.path.join(folder, one) for one in same or found]


def _with_registered(documents: list[Document]) -> list[Document]:
    """Return the documents of files that have a policy, or something about one, in them; manifests
    of other things may stand beside them."""
    files = {one.file for one in documents if one.value["kind"] in _REGISTERED}
    return [one for one in documents if one.file in files]
