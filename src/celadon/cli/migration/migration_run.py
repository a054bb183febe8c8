"""`celadon migrate`: what became of each rule of the policies it is given, and of the tests that
come with them, and the files that are written for it."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import yaml

from celadon import migrate
from celadon.admission.lint import Finding, Settings, Severity, lint
from celadon.admission.registration import BINDING_KIND, MUTATING_BINDING_KIND
from celadon.cel.formatter import laid_out
from celadon.cli.celadon_documents import FileNames
from celadon.cli.fmt import expression_fields, text_layout
from celadon.cli.project_config import UNFINISHED, other_file, passed_over
from celadon.cli.reading.documents import (
    Document,
    DocumentReader,
    Problem,
    Text,
    expand_paths,
    programmed,
    read_text,
    shape_problem,
)
from celadon.kube import GroupVersionKind, JsonObject
from celadon.kube.json_types import JsonDict, Shape, misfit
from celadon.kube.releases import current_release
from celadon.kube.resources import Catalog, known_resources
from celadon.kube.well_known_values import ADMISSION_REGISTRATION, DEFINITION_KIND

_SUITE_NAMES: Final = ("kyverno-test.yaml", "kyverno-test.yml")
_NOTHING: Final[JsonObject] = {}

_LOOKED_UP: Final = (("", "Namespace"), ("", "ConfigMap"))
"""Kinds of objects that policies look up: labels, and params."""

STATES: Final = ("translated", "differs", "not translated")
"""What became of a rule."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A case of a test that the translation decides otherwise."""

    object: JsonObject
    expected: str
    found: str
    message: str

    @property
    def name(self) -> str:
        """The kind and name of the object."""
        metadata = self.object.get("metadata") or {}
        return f"{self.object.get('kind')} {metadata.get('name')}"


@dataclass
class RuleOutcome:
    """One rule, and the cases that its tests have, came to this."""

    document: Document
    translation: migrate.Translation
    home: Document | None = None
    """The document that gives the file its name, where that is another one: the template of a
    constraint."""
    cases: int = 0
    """How many its tests have, also where there is nothing to judge them by."""
    differences: list[Difference] = field(default_factory=list)

    findings: Sequence[Finding] = ()
    """What the linter finds in the policies that it has become."""
    written: Mapping[str, str] = field(default_factory=dict)
    """What its policies are called where they are written together with those of other rules."""

    @property
    def policy_names(self) -> list[str]:
        """The names of its policies, as they are written."""
        names = [str(policy["metadata"]["name"]) for policy in self.translation.policies]
        return [self.written.get(name, name) for name in names]

    @property
    def position(self) -> str:
        """Return the file and line of the rule."""
        return f"{self.document.file}:{self.document.line(self.translation.origin.path)}"

    @property
    def is_heeded_exception(self) -> bool:
        """Return whether it is an exception that stands in the policies it is for."""
        return self.translation.origin.does == "except" and not self.translation.reason

    @property
    def state(self) -> str:
        """Return one of `STATES`."""
        if self.translation.reason:
            return "not translated"
        return "differs" if self.differences else "translated"

    @property
    def is_taken_over(self) -> bool:
        """Return whether its expressions stand in the original, as they are."""
        value = self.document.value
        rule = self.document.value_at(self.translation.origin.path)
        validation = rule.get("validate") if isinstance(rule, Mapping) else None
        return (
            self.home is not None
            or value["apiVersion"].startswith("policies.kyverno.io/")
            or (isinstance(validation, Mapping) and "cel" in validation)
        )

    @property
    def notes(self) -> list[str]:
        """Return what it is known to decide otherwise, and what is wrong with it: the first finding
        of each kind."""
        source = " in its own CEL" if self.is_taken_over else ""
        by_code: dict[str, list[Finding]] = {}
        for finding in self.findings:
            by_code.setdefault(finding.code, []).append(finding)
        remarks = [
            f"`celadon lint` finds {code}{source}: {first.message}"
            + (f", and {len(findings)} more" if findings else "")
            for code, (first, *findings) in by_code.items()
        ]
        return [*self.translation.notes, *remarks]

    def to_json(self) -> JsonObject:
        """Return the outcome as a report has it."""
        result: JsonDict = {
            "position": self.position,
            "policy": self.translation.origin.policy,
            "rule": self.translation.origin.rule,
            "does": self.translation.origin.does,
            "state": self.state,
            "policies": list(dict.fromkeys(self.policy_names)),
            "cases": self.cases,
        }
        if self.translation.exceptions:
            result["exceptions"] = list(self.translation.exceptions)
        if self.notes:
            result["notes"] = self.notes
        if self.translation.reason:
            result |= {"reason": self.translation.reason, "instead": self.translation.instead}
        if self.differences:
            result["differences"] = [
                {
                    "object": difference.name,
                    "expected": difference.expected,
                    "found": difference.found,
                    "message": difference.message,
                }
                for difference in self.differences
            ]
        return result


@dataclass
class RecordedRequests:
    """Counts the requests that were compared, and the others by the reason."""

    sent_count: int = 0
    """How many a cluster was sent, as dry runs."""
    compared: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    """What was said of the first request that was left for a reason."""
    without_params: list[str] = field(default_factory=list)
    """The rules that nothing was compared with, since their params are not there."""


class Parameter(NamedTuple):
    """An object that a binding names as params of its policy."""

    kind: GroupVersionKind
    namespace: str
    name: str


@dataclass
class Migration:
    """The policies of files, translated for the current release, and their tests, run."""

    allows_existing: bool = False
    """Whether what violates rules already may be changed, as in Kyverno."""
    outcomes: list[RuleOutcome] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    others: list[Problem] = field(default_factory=list)
    """Files that were passed over."""
    programs: list[str] = field(default_factory=list)
    """Policies of other engines, which are programs: where they are, and what."""
    existing: list[JsonObject] = field(default_factory=list)
    """The namespaces, ConfigMaps and definitions among the files, which matter to recorded
    requests."""
    recorded: RecordedRequests | None = None
    """What recorded requests were compared, if some were."""
    _suites: list[Document] = field(default_factory=list)
    _names: set[tuple[str, str]] = field(default_factory=set)
    """Kinds and names of the policies that there are."""

    @classmethod
    def of(cls, paths: Sequence[str], *, allows_existing: bool = False) -> Migration:
        """Read, translate, run the tests."""
        migration = cls(allows_existing)
        catalog = migration.translate(migration._documents(paths), known_resources())
        # Tests run when all policies are known: a suite may stand before what it tests.
        for file in _suites(paths):
            migration._run(file, catalog)
        for document in migration._suites:
            migration._run_gator(document, catalog)
        return migration

    def translate(self, documents: Iterable[Document], catalog: Catalog) -> Catalog:
        """Translate the policies among documents; return the catalog with what the definitions
        among them define."""
        policies: list[Document] = []
        of_gatekeeper: list[Document] = []
        of_azure: list[Document] = []
        definitions: list[JsonObject] = []
        for document in documents:
            if document.group_kind == DEFINITION_KIND and shape_problem(document) is None:
                definitions.append(document.value)
            elif migrate.shape_of(document.value) is not None:
                policies.append(document)
            elif migrate.gatekeeper_shape(document.value) is not None:
                of_gatekeeper.append(document)
            elif migrate.AzurePolicies.shape(document.value) is not None:
                of_azure.append(document)
            elif migrate.is_suite(document.value):
                self._suites.append(document)
            elif document.group_kind in _LOOKED_UP:
                self.existing.append(document.value)
            elif text := programmed(document):
                self.programs.append(f"{document.file}:{document.line()} is {text}")
        self.existing += definitions
        catalog = catalog.with_crds(definitions)
        # Names of Gatekeeper's policies are taken first, since params of theirs are named after
        # them.
        without = list(self._left_of_azure(of_azure, of_gatekeeper)) if of_azure else []
        constraints = [*self._translated_constraints(of_gatekeeper, catalog), *without]
        for outcome in constraints:
            self._names.update(map(_kind_and_name, outcome.translation.policies))
        constraints += self._translated_mutators(of_gatekeeper, catalog)
        exceptions = [policy for policy in policies if migrate.is_exception(policy.value)]
        fitting = [
            exception
            for exception in exceptions
            if self._fits(exception, migrate.shape_of(exception.value))
        ]
        read = [migrate.PolicyException(document.value) for document in fitting]
        for document in policies:
            if not migrate.is_exception(document.value):
                self._translate(document, catalog, read)
        translations = [outcome.translation for outcome in self.outcomes]
        self.outcomes += constraints
        for document, exception in zip(fitting, read, strict=True):
            self.outcomes.append(RuleOutcome(document, migrate.outcome_of(exception, translations)))
        for merged_outcome, written in merged_outcomes(self.outcomes):
            for item in merged_outcome:
                item.written = written.names
        return catalog

    def lint(self) -> None:
        """Lint what rules have become, so that they tell what is to be repaired in it."""
        owners = [
            (document, outcome)
            for outcome in self.outcomes
            for document in outcome.translation.documents
        ]
        documents = [*(owner for owner, _ in owners), *self.existing]
        result: dict[int, list[Finding]] = {}
        for finding in lint(documents, Settings(current_release())):
            if finding.severity is not Severity.INFO and finding.spot.document < len(owners):
                owner = owners[finding.spot.document][1]
                result.setdefault(id(owner), []).append(finding)
        for outcome in self.outcomes:
            outcome.findings = result.get(id(outcome), ())

    def _documents(self, paths: Sequence[str]) -> Iterator[Document]:
        for file in expand_paths(paths):
            yield from self._read(file, paths)

    def _read(self, file: str | Problem, named: Sequence[str]) -> Iterator[Document]:
        """Return the objects in a file, those in lists, too; what is no object of Kubernetes is
        passed over, and so is what is no policy yet, or a piece of one."""
        text = file if isinstance(file, Problem) else read_text(file)
        if isinstance(text, Problem):
            self.problems.append(text)
            return
        if (other := passed_over(text, named)) in UNFINISHED:
            self.others.append(other_file(text.file, other))
            return
        for item in DocumentReader().values(text):
            if isinstance(item, Problem):
                self.problems.append(item)
            else:
                for path, value in (*_objects(item[1]), *migrate.AzurePolicies.documents(item[1])):
                    yield Document(item[0], path, value)

    def _fits(self, document: Document, shape: Shape | None) -> bool:
        wrong = misfit(document.value, shape)
        if wrong is not None:
            self.problems.append(Problem(document.file, document.line(wrong.path), str(wrong)))
        return wrong is None

    def _translate(
        self, document: Document, catalog: Catalog, exceptions: Sequence[migrate.PolicyException]
    ) -> None:
        if self._fits(document, migrate.shape_of(document.value)):
            policy = _with_patches(document.value)
            for translation in migrate.translate_document(
                policy, catalog, exceptions, allows_existing=self.allows_existing
            ):
                self.outcomes.append(RuleOutcome(document, self._with_own_names(translation)))

    def _with_own_names(self, translation: migrate.Translation) -> migrate.Translation:
        """Return a translation whose policies are called like no others: policies of several
        namespaces may have one name."""
        names: dict[str, str] = {}
        for kind, name in map(_kind_and_name, translation.policies):
            free = (text for text in _numbered(name) if (kind, text) not in self._names)
            names[name] = next(free)
            self._names.add((kind, names[name]))
        return migrate.renamed(translation, names)

    def _left_of_azure(
        self, documents: Sequence[Document], of_gatekeeper: list[Document]
    ) -> Iterator[RuleOutcome]:
        """Put the constraints that Azure makes of definitions among Gatekeeper's documents, with
        the templates that stand in them; yield what is left out."""
        policies = migrate.AzurePolicies()
        fitting = [
            document
            for document in documents
            if self._fits(document, migrate.AzurePolicies.shape(document.value))
        ]
        for fitting_document in fitting:
            policies.add(fitting_document.value)
        for document in fitting:
            template: Document | None = None
            for use in policies.uses(document.value):
                try:
                    template = template or _azure_template(
                        document, use.embedded_template(), use.is_of_template, of_gatekeeper
                    )
                    if template is None:
                        yield RuleOutcome(document, use.left_out())
                        break
                    constraint = use.constraint(_kind_of(template))
                except migrate.NotTranslated as error:
                    yield RuleOutcome(document, use.left_out(error))
                else:
                    of_gatekeeper.append(Document(document.chunk, document.path, constraint))
                    if not any(document is template for document in of_gatekeeper):
                        of_gatekeeper.append(template)

    def _translated_constraints(
        self, documents: Sequence[Document], catalog: Catalog
    ) -> Iterator[RuleOutcome]:
        """Translate what is Gatekeeper's: each constraint with the nearest template of its kind."""
        fitting = [
            document
            for document in documents
            if self._fits(document, migrate.gatekeeper_shape(document.value))
        ]
        templates = [document for document in fitting if migrate.is_template(document.value)]
        constraints: dict[int, list[Document]] = {}
        alone: list[Document] = []
        for item in fitting:
            if migrate.is_constraint(item.value):
                template = _nearest(item, templates)
                if template is None:
                    alone.append(item)
                else:
                    constraints.setdefault(id(template), []).append(item)
            elif not migrate.is_template(item.value):
                alone.append(item)
        exempt = migrate.exempt_namespaces([document.value for document in fitting])
        for template in templates:
            constraint = constraints.get(id(template), [])
            translations = migrate.translate_constraints(
                template.value, [document.value for document in constraint], catalog, exempt
            )
            for document, translation in zip(constraint or [template], translations, strict=True):
                yield RuleOutcome(document, translation, template)
        for item in alone:
            yield from (RuleOutcome(item, lost) for lost in migrate.left_behind(item.value))

    def _translated_mutators(
        self, documents: Sequence[Document], catalog: Catalog
    ) -> Iterator[RuleOutcome]:
        """Translate those of Gatekeeper's documents that change objects; all were looked at."""
        fitting = [
            item
            for item in documents
            if misfit(item.value, migrate.gatekeeper_shape(item.value)) is None
        ]
        translations = migrate.translate_mutators([document.value for document in fitting], catalog)
        for document, translation in zip(fitting, translations, strict=True):
            if translation is not None:
                yield RuleOutcome(document, self._with_own_names(translation))

    # Tests.

    def _run(self, file: str, catalog: Catalog) -> None:
        suite = self._one(file, migrate.SUITE_SHAPE)
        if suite is None:
            return
        folder = os.path.dirname(file)
        resources = self._objects(folder, suite.get("resources") or ())
        values = suite.get("values") or _NOTHING
        if suite.get("variables"):
            values = (
                self._one(os.path.join(folder, suite["variables"]), migrate.VALUES_SHAPE)
                or _NOTHING
            )
        user: JsonObject = _NOTHING
        if suite.get("userinfo"):
            user = (
                self._one(os.path.join(folder, suite["userinfo"]), migrate.USER_SHAPE) or _NOTHING
            )
        named = {
            os.path.normpath(os.path.join(folder, name)) for name in suite.get("policies") or ()
        }
        outcomes = {
            (outcome.translation.origin.policy, outcome.translation.origin.rule): outcome
            for outcome in self.outcomes
            if os.path.normpath(outcome.document.file) in named
        }
        patched = {name: self._objects(folder, [name]) for name in migrate.patched_files(suite)}
        for case in migrate.read_suite(suite, resources, values, user, patched):
            outcome = outcomes.get((case.policy, case.rule))
            if outcome is not None:
                outcome.cases += 1
                if not outcome.translation.reason:
                    self._judge(case, outcome, catalog)

    def _judge(self, case: migrate.Case, outcome: RuleOutcome, catalog: Catalog) -> None:
        # Kyverno applies all rules of a policy that mutate, one after the other, before it
        # compares.
        together = [
            policy
            for other in self.outcomes
            if other.document is outcome.document and other.translation.origin.does == "mutate"
            for policy in other.translation.policies
        ]
        result, message = migrate.judged_by(case, outcome.translation.policies, catalog, together)
        if result != case.expected:
            outcome.differences.append(Difference(case.object, case.expected, result, message))

    def _run_gator(self, suite: Document, catalog: Catalog) -> None:
        if not self._fits(suite, migrate.GATOR_SHAPE):
            return
        folder = os.path.dirname(suite.file)
        outcomes = {
            (os.path.normpath(outcome.home.file), os.path.normpath(outcome.document.file)): outcome
            for outcome in self.outcomes
            if outcome.home is not None
        }
        for test in suite.value["tests"]:
            named = (os.path.join(folder, test[name]) for name in ("template", "constraint"))
            template, constraint = map(os.path.normpath, named)
            outcome = outcomes.get((template, constraint))
            for case in test.get("cases") or ():
                if outcome is not None and not (test.get("skip") or case.get("skip")):
                    outcome.cases += 1
                    if not outcome.translation.reason:
                        self._judge_gator(folder, case, outcome, catalog)

    def _judge_gator(
        self, folder: str, case: JsonObject, outcome: RuleOutcome, catalog: Catalog
    ) -> None:
        objects = self._objects(folder, [case["object"]])
        if len(objects) != 1:
            return
        inventory = tuple(self._objects(folder, case.get("inventory") or ()))
        assertions = tuple(case.get("assertions") or ())
        gator_case = migrate.GatorCase(str(case.get("name", "")), objects[0], inventory, assertions)
        expected, result, message = migrate.disagreement(
            gator_case, outcome.translation.documents, catalog
        )
        if expected:
            outcome.differences.append(Difference(objects[0], expected, result, message))

    def _objects(self, folder: str, names: Sequence[str]) -> list[JsonObject]:
        """Return the objects in files that a test names."""
        files = [os.path.join(folder, name) for name in names]
        return [document.value for file in files for document in self._read(file, files)]

    def _one(self, file: str, shape: Any) -> JsonObject | None:  # noqa: ANN401 - a shape
        """Return the one document of a file, if it has the shape."""
        text = read_text(file)
        if isinstance(text, Problem):
            self.problems.append(text)
            return None
        for item in DocumentReader().values(text):
            if isinstance(item, Problem):
                self.problems.append(item)
                return None
            value = item[1]
            wrong = misfit(value, shape) if isinstance(value, Mapping) else None
            if wrong is None and isinstance(value, Mapping):
                return value
            reason = str(wrong) if wrong else "a map is expected here"
            self.problems.append(Problem(file, 1, reason))
        return None

    # Results.

    @property
    def judged(self) -> int:
        """Return how many cases there are of rules that were translated."""
        return sum(outcome.cases for outcome in self.outcomes if not outcome.translation.reason)

    def count(self, state: str) -> int:
        """Return how many rules are in a state."""
        return sum(outcome.state == state for outcome in self.outcomes)


def _kind_and_name(document: JsonObject) -> tuple[str, str]:
    return document["kind"], document["metadata"]["name"]


def _kind_of(template: Document) -> str:
    """Return the kind of a template's constraints; its shape is not checked yet."""
    return str(template.value_at(("spec", "crd", "spec", "names", "kind")) or "")


def _azure_template(
    document: Document,
    embedded: bytes | None,
    is_named: Callable[[str, str], bool],
    of_gatekeeper: Iterable[Document],
) -> Document | None:
    """Return the template of a definition of Azure, which stands in it, or whose file and kind it
    names; None if it is not there."""
    if embedded is not None:
        text = Text(document.file, embedded.decode(errors="replace"))
        documents = (item for item in DocumentReader().read(text) if isinstance(item, Document))
        result = next(
            (document.value for document in documents if migrate.is_template(document.value)), None
        )
        return None if result is None else Document(document.chunk, document.path, result)
    templates = (document for document in of_gatekeeper if migrate.is_template(document.value))
    return next(
        (template for template in templates if is_named(template.file, _kind_of(template))), None
    )


def _numbered(name: str) -> Iterator[str]:
    """Yield the name, then the same with numbers."""
    yield name
    yield from (f"{name[:_LONGEST_STEM]}-{number}" for number in itertools.count(2))


_LONGEST_STEM: Final = 240
"""Of names, which may have 253 characters, so that there is room for a number."""


def _with_patches(policy: JsonObject) -> JsonObject:
    """Return a policy whose JSON patches, which are texts, are read."""
    if "patchesJson6902" not in str(policy.get("spec")):
        return policy
    copy = json.loads(json.dumps(policy))
    for rule in copy["spec"].get("rules") or ():
        mutate = rule.get("mutate") or {}
        for item in (mutate, *(mutate.get("foreach") or ())):
            text = item.get("patchesJson6902")
            if isinstance(text, str):
                with contextlib.suppress(yaml.YAMLError):
                    item["patchesJson6902"] = yaml.safe_load(text)
    return dict(copy)


def _nearest(constraint: Document, templates: Sequence[Document]) -> Document | None:
    """Return the template of a constraint's kind that lies nearest to it, where there are several:
    folders may have versions of it."""
    kind = constraint.value["kind"]
    documents = [
        template
        for template in templates
        if template.value["spec"]["crd"]["spec"]["names"]["kind"] == kind
    ]
    constraint_path = os.path.abspath(constraint.file)
    return max(
        documents,
        key=lambda document: len(
            os.path.commonpath([constraint_path, os.path.dirname(os.path.abspath(document.file))])
        ),
        default=None,
    )


def _objects(value: object) -> Iterator[tuple[tuple[str | int, ...], JsonDict]]:
    """Return the objects that a document is, or that it lists, each with its path."""
    if not isinstance(value, dict) or not _is_object(value):
        return
    items = value.get("items")
    if value["kind"].endswith("List") and isinstance(items, list):
        for index, mutation in enumerate(items):
            if _is_object(mutation):
                yield ("items", index), mutation
    else:
        yield (), value


def _is_object(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(name), str) for name in ("apiVersion", "kind")
    )


def _suites(paths: Sequence[str]) -> Iterator[str]:
    """Yield the tests of Kyverno in folders, also in hidden ones."""
    for path in paths:
        if os.path.basename(path) in _SUITE_NAMES and os.path.isfile(path):
            yield path
        for parent, folders, files in os.walk(path):
            folders.sort()
            yield from (
                os.path.join(parent, file) for file in sorted(files) if file in _SUITE_NAMES
            )


# --- Files -------------------------------------------------------------------

# Translations as files that one would be glad to have written: one for each policy, laid out as
# `celadon fmt` has them.

_LINE_WIDTH: Final = 100
_INDENT: Final = 6
"""Columns that the layout leaves to the YAML around an expression."""


def migrated_files(
    outcomes: Iterable[RuleOutcome], *, warns: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield the files to write: a name and a content for each policy that has a rule translated.
    With `warns`, bindings warn and audit, whatever the policies say."""
    for file, documents in _by_policy(outcomes):
        yield (
            file,
            _laid_out(file, [_warning(document) if warns else document for document in documents]),
        )


def judged_documents(outcomes: Iterable[RuleOutcome]) -> Iterator[Document]:
    """Return the documents with each rule as a policy of its own, so that it can be judged alone:
    what is written joins rules under a name of their own."""
    for merged_outcome, _ in merged_outcomes(outcomes):
        for document in _documents(merged_outcome):
            yield Document.of_value(json.loads(json.dumps(document)))


DEFINITIONS: Final = "1-definitions"
POLICIES: Final = "2-policies"
WARN: Final = "3-warn"
ENFORCE: Final = "4-enforce"
"""Folders of a plan, in the order in which they are applied."""


def staged_files(outcomes: Iterable[RuleOutcome]) -> Iterator[tuple[str, str]]:
    """Yield the files of a plan, in folders that are applied one after the other: definitions,
    policies with their parameters, bindings that warn and audit, and bindings that refuse (or
    change) as the policies say. What only reports in its engine has none of the last."""
    for file, documents in _by_policy(outcomes):
        stages: dict[str, list[JsonObject]] = {}
        for document in documents:
            for stage, staged in _stages(document):
                stages.setdefault(stage, []).append(staged)
        for stage, staged_documents in sorted(stages.items()):
            yield f"{stage}/{file}", _laid_out(file, staged_documents)


def _stages(document: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    kind = document["kind"]
    if kind == DEFINITION_KIND.kind:
        yield DEFINITIONS, document
    elif kind == MUTATING_BINDING_KIND:
        yield ENFORCE, document
    elif kind == BINDING_KIND:
        yield WARN, _warning(document)
        if "Deny" in document["spec"]["validationActions"]:
            yield ENFORCE, document
    else:
        yield POLICIES, document


def _by_policy(outcomes: Iterable[RuleOutcome]) -> Iterator[tuple[str, list[JsonObject]]]:
    """Yield the name of a file for each policy, and its documents."""
    files = FileNames()
    for merged_outcome, written in merged_outcomes(outcomes):
        if written.documents:
            name = merged_outcome[0].translation.origin.policy
            yield files.name(name), list(written.documents)


def merged_outcomes(
    outcomes: Iterable[RuleOutcome],
) -> Iterator[tuple[list[RuleOutcome], migrate.Merged]]:
    """Yield the outcomes of each policy, with its documents as they are written."""
    by_policy: dict[int, list[RuleOutcome]] = {}
    for outcome in outcomes:
        by_policy.setdefault(id(outcome.home or outcome.document), []).append(outcome)
    names = {
        policy["metadata"]["name"]
        for outcomes in by_policy.values()
        for outcome in outcomes
        for policy in outcome.translation.policies
    }
    for value in by_policy.values():
        written = migrate.merged(value[0].translation.origin.policy, _documents(value), names)
        names.update(written.names.values())
        yield value, written


def _documents(outcomes: Iterable[RuleOutcome]) -> list[JsonObject]:
    """Return the documents that rules have become, those that several need once."""
    result = {
        _kind_and_name(document): document
        for outcome in outcomes
        for document in outcome.translation.documents
    }
    return [*result.values()]


def _warning(document: JsonObject) -> JsonObject:
    """Return a document, as a binding with actions that refuse nothing."""
    if document["kind"] != BINDING_KIND:
        return document
    return {**document, "spec": {**document["spec"], "validationActions": ["Warn", "Audit"]}}


def _laid_out(file: str, documents: Sequence[JsonObject]) -> str:
    """Return the documents as a file, expressions laid out as `celadon fmt` has them."""
    written = Text(file, "---\n".join(_written(document) for document in documents))
    return text_layout(written, _LINE_WIDTH).content()


def _written(document: JsonObject) -> str:
    group_kind = (ADMISSION_REGISTRATION, document["kind"])
    copy = json.loads(json.dumps(document))  # a copy in which nothing is there twice
    for path, expression in expression_fields(group_kind, document):
        place: Any = copy
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = laid_out(expression, _LINE_WIDTH - _INDENT) or expression
    text: str = yaml.dump(
        copy, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_LINE_WIDTH
    )
    return text


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, and quotes those with quotes so that these stay what
    they are."""

    def choose_scalar_style(self) -> str:
        style: str = super().choose_scalar_style()
        text = self.event.value if isinstance(self.event, yaml.ScalarEvent) else ""
        is_plain_in = "'" in text and not {'"', "\\"} & {*text} and len(text) < _LINE_WIDTH // 2
        return '"' if style == "'" and is_plain_in else style


def _block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    )


_Dumper.add_representer(str, _block)
