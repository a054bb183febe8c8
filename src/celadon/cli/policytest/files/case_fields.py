"""A case as it stands in a file, with the defaults of its file, to a `Case`.

A case and the defaults are read field by field: `CaseFields.path` is where a field stands, in the
case or in the defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from celadon.cli.check.questions import user_info
from celadon.cli.own_files import problem_at
from celadon.cli.policytest.files.file_format import SNAPSHOT
from celadon.cli.policytest.files.given_objects import ObjectReader
from celadon.cli.policytest.run.case_results import (
    AuthorizerAnswer,
    Case,
    CaseVerdict,
    Expectation,
    How,
    TextMatch,
)
from celadon.cli.reading.documents import Document
from celadon.cli.reading.json_text import Path
from celadon.cli.reading.problems import Problem
from celadon.kube import GroupKind, JsonObject, Ruling, User, metadata
from celadon.kube.workload_controllers import created_kinds

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


_SHORT = tuple(one for one in CaseVerdict if one.value in {"deny", "warn", "audit", "error"})
"""Verdicts that may be given with their message: `deny: no more than 5 replicas`."""


class ExpectationReader:
    """Reads expectations of one test, of which the shape is right; what is wrong beyond that goes
    to `problems`."""

    def __init__(self, test: Document, problems: list[Problem]) -> None:
        self._test = test
        self._problems = problems

    def read(self, path: Path) -> Expectation:
        """Return what is expected, at a path of the test."""
        given: Any = self._test.value_at(path)
        place = self._place(path)
        if given == SNAPSHOT:
            return Expectation(CaseVerdict.ADMIT, place, snapshot=True)
        if isinstance(given, str):
            return Expectation(CaseVerdict(given), place)
        verdict, at = self._verdict(given, path)
        patch = given.get("patch")
        if isinstance(patch, Mapping):
            self._complain((*path, "patch"), "a JSON patch is expected here, a list of operations")
            patch = None
        warnings = given.get("warnings")
        return Expectation(
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

    def _verdict(self, given: JsonObject, path: Path) -> tuple[CaseVerdict, Path]:
        """And where the message stands, if there is one."""
        short = [one for one in _SHORT if one.value in given]
        said = CaseVerdict(given["verdict"]) if "verdict" in given else None
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
            said = CaseVerdict.ADMIT
        return said, at

    def _text(self, path: Path) -> TextMatch:
        given: Any = self._test.value_at(path)
        place = self._place(path)
        if isinstance(given, str):
            return TextMatch(given, How.IS, place)
        if "contains" in given:
            return TextMatch(given["contains"], How.CONTAINS, place)
        pattern = given["matches"]
        try:
            re2.compile(pattern)
        except re2.RegexError as error:
            self._complain((*path, "matches"), f"not a regular expression of RE2: {error}")
        return TextMatch(pattern, How.MATCHES, place)

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
        self._answers: dict[Path, tuple[AuthorizerAnswer, ...]] = {}

    def case(self, index: int) -> Case | None:
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
        return Case(
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

    def _authorizer(self, at: Path) -> tuple[AuthorizerAnswer, ...]:
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


def _answer(given: JsonObject) -> AuthorizerAnswer:
    asked = dict(given)
    ruling = _RULINGS[asked.pop("decision")]
    reason, error = asked.pop("reason", ""), asked.pop("error", None)
    return AuthorizerAnswer(ruling, asked, reason, error)


def names(given: str | list[str]) -> tuple[str, ...]:
    """One name, or several."""
    return (given,) if isinstance(given, str) else tuple(given)


def versions(given: list[str]) -> tuple[str, ...]:
    """Releases without a leading `v`."""
    return tuple(one.removeprefix("v") for one in given)
