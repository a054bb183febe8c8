"""The results of a run of tests, as plain data: tests with their cases, what a case expects and
what came of it, what was reached, and which mutants no test noticed."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from celadon.admission import ADMIN, Note, Operation
from celadon.cel.extend import re2
from celadon.cli.check.check_report import Notice, ObjectResult, Place, UnaskedPlugin, Violation
from celadon.cli.check.plugins import PluginChoice, Unasked, unasked_plugins
from celadon.cli.exit_codes import Exit
from celadon.cli.reading.documents import Document, Problem
from celadon.cli.reading.locations import Chunk
from celadon.kube import JsonObject, Ruling, User

# --- Coverage and mutants ----------------------------------------------------

# Coverage and mutants as plain data: goals, and by how many cases each was reached; policies with
# one thing changed, and which of them no test noticed.
#
# Counts of versions, files and processes are added up, policies that several tests share among
# them. What the goals of a policy are is in `coverage`.

# --- Coverage ----------------------------------------------------------------


class ExpectedOutcome(enum.Enum):
    """Says what is to happen once. `NO_PARAMS`: a binding finds no params. `ERROR`: an
    expression gives no value; whether any request can bring that about is not known, so this is
    never missed."""

    REACHED = "reached"
    NO_PARAMS = "without params"
    EVALUATED = "evaluated"
    TRUE = "true"
    FALSE = "false"
    DECIDES = "decisive"
    ERROR = "an error"


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Measured:
    """A policy as it stands in a file."""

    file: str
    line: int
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Goal:
    """Names what a case of a test is to bring about. `field` is the expression's as people call it
    (`validations[0]`), or the binding's name; then `text` is empty, else it is the part, which
    stands at `[start, end)` of the expression."""

    policy: Measured
    place: Place
    field: str
    text: str
    start: int
    end: int
    expected: ExpectedOutcome

    @property
    def counts(self) -> bool:
        """Return whether it is missed where it is not reached."""
        return self.expected is not ExpectedOutcome.ERROR


@dataclass(frozen=True, slots=True)
class Coverage:
    """Goals in the order of the files, with the number of cases that reached them."""

    hits: tuple[tuple[Goal, int], ...] = ()

    def of_policies(self) -> dict[Measured, Coverage]:
        """Return the counts policy by policy, in the order of files and lines."""
        result: dict[Measured, list[tuple[Goal, int]]] = {}
        for goal, count in self.hits:
            result.setdefault(goal.policy, []).append((goal, count))
        return {policy: Coverage(tuple(result[policy])) for policy in sorted(result)}

    @property
    def goals(self) -> int:
        """Return how many goals count."""
        return sum(goal.counts for goal, _ in self.hits)

    @property
    def reached(self) -> int:
        """Return how many of those a case has reached."""
        return sum(goal.counts and count > 0 for goal, count in self.hits)

    @property
    def percentage(self) -> float:
        """100.0 where there is nothing to reach."""
        return 100.0 * self.reached / self.goals if self.goals else 100.0

    @property
    def errors(self) -> tuple[int, int]:
        """Expressions that gave an error once, and expressions."""
        counts = [count for goal, count in self.hits if goal.expected is ExpectedOutcome.ERROR]
        return sum(count > 0 for count in counts), len(counts)


def added_up(parts: Iterable[Coverage]) -> Coverage:
    """Return the coverage of all tests as one."""
    counter: Counter[Goal] = Counter()
    for part in parts:
        counter.update(dict(part.hits))
    return Coverage(tuple(counter.items()))


# --- Mutants -----------------------------------------------------------------
#
# Policies with one thing changed, and which of them no test noticed: as plain data.
#
# An alteration is what users know as a mutant: `celadon test --mutate`. The word is another one
# here because policies that mutate objects have it already.


class AlterationKind(enum.Enum):
    """Says what is changed: first in expressions, then in the other fields of policies and
    bindings."""

    COMPARISON = "comparison"
    LOGIC = "logic"
    ARITHMETIC = "arithmetic"
    NEGATION = "negation"
    QUANTIFIER = "quantifier"
    PRESENCE = "presence"
    CLAUSE = "clause"
    OBJECT = "object"
    CONSTANT = "constant"
    LIST = "list"
    FIELD = "field"

    VALIDATION = "validation"
    MESSAGE = "message"
    CONDITION = "condition"
    ANNOTATION = "annotation"
    MUTATION = "mutation"
    REINVOCATION = "reinvocation"
    FAILURE_POLICY = "failure-policy"
    RULE = "rule"
    OPERATION = "operation"
    RESOURCE = "resource"
    MATCH_POLICY = "match-policy"
    SELECTOR = "selector"
    BINDING = "binding"
    ACTIONS = "actions"
    PARAMS = "params"


class Fate(enum.Enum):
    """Says what became of an alteration. `KILLED`: a case that passes fails with it. `SAME`:
    that it makes no difference is proved for any request. `ALIKE`: that it makes none is proved
    within a bound, by asking all combinations of so many values. `OPEN`: a search found no
    difference, but could not change all that is read. `UNREACHED`: no case, and no request of the
    search, came to the policy, so nothing is known."""

    KILLED = "killed"
    SURVIVED = "survived"
    SAME = "same"
    ALIKE = "alike"
    OPEN = "open"
    UNREACHED = "unreached"


@dataclass(frozen=True, slots=True)
class AlterationResult:
    """Tells what became of one alteration. `field` is what was changed, as people call it
    (`spec.validations[0].expression`), `text` how. `killer` is the case that noticed. `reason` is
    why it makes no difference, or the bound within which it makes none, or what no request could
    change; `requests` counts those of the search that came to the policy and found no difference.
    Of what survived, `diff` is that of the file, and `case` one that would notice, as a test file
    has it; empty if none was found."""

    policy: Measured
    kind: AlterationKind
    place: Place
    field: str
    text: str
    fate: Fate
    killer: str = ""
    reason: str = ""
    requests: int = 0
    diff: str = ""
    case: str = ""


@dataclass(frozen=True, slots=True)
class Alterations:
    """All results, in the order of files and lines."""

    results: tuple[AlterationResult, ...] = ()

    def count(self, fate: Fate) -> int:
        """Return how many came to that."""
        return sum(result.fate is fate for result in self.results)

    @property
    def counted(self) -> int:
        """Return the number of those that a test could notice, as far as is known."""
        return len(self.results) - self.count(Fate.SAME) - self.count(Fate.ALIKE)

    @property
    def score(self) -> float:
        """Percent of them that were killed; 100.0 where there are none."""
        return 100.0 * self.count(Fate.KILLED) / self.counted if self.counted else 100.0

    def of_policies(self) -> dict[Measured, Alterations]:
        """Return the results policy by policy."""
        result: dict[Measured, list[AlterationResult]] = {}
        for item in self.results:
            result.setdefault(item.policy, []).append(item)
        return {policy: Alterations(tuple(result[policy])) for policy in sorted(result)}


def all_alterations(parts: Iterable[Alterations]) -> Alterations:
    """Return the alterations of several policies."""
    return Alterations(tuple(result for part in parts for result in part.results))


# --- Tests and cases ---------------------------------------------------------

# What came of tests: a result for each case and version, what makes a green one mean little, and
# the exit code that follows.

# --- Vacuities ---------------------------------------------------------------
#
# The ways in which a test can be green and mean nothing; docs/testing-policies.md has them all.


class Vacuity(enum.Enum):
    """First why a policy did not look at a request, then what else may be the matter."""

    RESOURCE = "resource"
    GROUP = "group"
    VERSION = "version"
    OPERATION = "operation"
    SUBRESOURCE = "subresource"
    SCOPE = "scope"
    RESOURCE_NAME = "resource-name"
    EXCLUDED = "excluded"
    NAMESPACE_SELECTOR = "namespace-selector"
    OBJECT_SELECTOR = "object-selector"
    CONDITION_FALSE = "condition-false"
    EXEMPT_USER = "exempt-user"
    DRY_RUN = "dry-run"
    PARAM_NOT_FOUND = "param-not-found"
    NO_BINDING = "no-binding"
    STRAY_BINDING = "stray-binding"
    EXEMPT_RESOURCE = "exempt-resource"

    REFUSED_BEFORE = "refused-before"
    DENIED_BY_ANOTHER = "denied-by-another"
    ERROR_IGNORED = "error-ignored"
    ERROR_NOT_DENIAL = "error-not-denial"
    ONLY_AUDITS = "only-audits"
    ONLY_WARNS = "only-warns"
    NOT_SERVED = "not-served"
    TRUE_BEFORE = "true-before"
    OTHER_REASON = "other-reason"
    ANY_TEXT = "any-text"

    ANY_DENIAL = "any-denial"
    CHANGE_UNSEEN = "change-unseen"
    NOTHING_CHANGES = "nothing-changes"
    NO_VALIDATION = "no-validation"
    NULL_PARAMS = "null-params"
    UNKNOWN_KIND = "unknown-kind"
    NAMESPACE_ASSUMED = "namespace-assumed"
    BINDING_ASSUMED = "binding-assumed"
    SAME_CASE = "same-case"
    NEVER_REACHED = "never-reached"
    NEVER_SPEAKS = "never-speaks"
    NEVER_CONTENT = "never-content"


UNMATCHED: Final = (
    Vacuity.RESOURCE,
    Vacuity.GROUP,
    Vacuity.VERSION,
    Vacuity.OPERATION,
    Vacuity.SUBRESOURCE,
    Vacuity.SCOPE,
    Vacuity.RESOURCE_NAME,
    Vacuity.EXCLUDED,
    Vacuity.NAMESPACE_SELECTOR,
    Vacuity.OBJECT_SELECTOR,
    Vacuity.CONDITION_FALSE,
    Vacuity.EXEMPT_USER,
    Vacuity.DRY_RUN,
    Vacuity.PARAM_NOT_FOUND,
    Vacuity.EXEMPT_RESOURCE,
)
"""Reasons for which a policy may be meant not to look at a request."""

POINTED_OUT: Final = frozenset(
    {
        Vacuity.ANY_DENIAL,
        Vacuity.CHANGE_UNSEEN,
        Vacuity.NOTHING_CHANGES,
        Vacuity.NO_VALIDATION,
        Vacuity.NULL_PARAMS,
        Vacuity.UNKNOWN_KIND,
        Vacuity.NAMESPACE_ASSUMED,
        Vacuity.BINDING_ASSUMED,
        Vacuity.SAME_CASE,
        Vacuity.NEVER_REACHED,
        Vacuity.NEVER_SPEAKS,
        Vacuity.NEVER_CONTENT,
    }
)
"""What fails a case only where somebody is strict; all others fail it, or say why it failed."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Says why a case means nothing, or less than it seems, and what is to be looked at."""

    vacuity: Vacuity
    text: str
    place: Place
    help: str = ""

    @property
    def is_fatal(self) -> bool:
        """Return whether the case fails because of it, even if all is as expected."""
        return self.vacuity not in POINTED_OUT


# --- Expectations ------------------------------------------------------------
#
# What a case expects: a verdict, and as much more as its author wants to be sure of.


class CaseVerdict(enum.Enum):
    """Says what becomes of a request, as far as the policies under test are concerned.

    `ADMIT`: they looked at it and have nothing against it. `WARN` and `AUDIT`: it is admitted, and
    something speaks against it, which a client is told of, or only the audit log. `DENY`: an
    expression of theirs refuses it. `ERROR`: they could not be evaluated, whatever follows from
    that. `NO_MATCH`: none of them looked at it. `INVALID`: the API server refuses the request
    before any policy could.
    """

    ADMIT = "admit"
    DENY = "deny"
    WARN = "warn"
    AUDIT = "audit"
    ERROR = "error"
    NO_MATCH = "noMatch"
    INVALID = "invalid"


class How(enum.Enum):
    """Says how a text is compared. `MATCHES` is a regular expression of RE2, found anywhere."""

    IS = "is"
    CONTAINS = "contains"
    MATCHES = "matches"


@dataclass(frozen=True, slots=True)
class TextMatch:
    """A text that is expected, and where that is written."""

    text: str
    how: How = How.IS
    place: Place = field(default_factory=Place)

    def holds(self, actual: str) -> bool:
        """Return whether a text is as expected."""
        match self.how:
            case How.IS:
                return actual == self.text
            case How.CONTAINS:
                return self.text in actual
            case How.MATCHES:
                return re2.compile(self.text).search(actual)

    def __str__(self) -> str:
        return self.text if self.how is How.IS else f"{self.how.value} {self.text}"


@dataclass(frozen=True, slots=True)
class Expectation:
    """Holds what a case expects. What is None or empty is not looked at.

    `message` is the policy's own, or the whole sentence of the API server. `validation` is the one
    that decides: its index, or its expression. `violations` is how many validations decide, of
    those that have the message. `warnings` are all that policies give. `object` has
    what must be in the object after it was mutated (null: what must not), `patch` what the mutation
    must come to.
    `because` is the name of a reason for which nothing matches (`vacuity`).
    `snapshot` says that what happens is still to be written down.
    """

    verdict: CaseVerdict
    place: Place = field(default_factory=Place)
    message: TextMatch | None = None
    reason: str = ""
    code: int = 0
    policy: str = ""
    validation: int | str | None = None
    violations: int | None = None
    warnings: tuple[TextMatch, ...] | None = None
    audit_annotations: Mapping[str, TextMatch] = field(default_factory=dict)
    object: JsonObject | None = None
    patch: tuple[JsonObject, ...] | None = None
    because: str = ""
    snapshot: bool = False


# --- Policy test -------------------------------------------------------------
#
# A test of policies, as it is run: documents in hand, nothing left to be read.
#
# A `PolicyTest` is a set of policies, what there is in the cluster, and cases. Each `Case` is
# one request, and what is expected of it. Where it was read from does not matter:
# `file_tests` makes tests of files of kind PolicyTest; whoever has tests in another form
# makes the same.

DEFAULT_NOW: Final = "2026-01-01T00:00:00Z"
"""When objects of tests are created, unless they say so: a test means the same every day."""


@dataclass(frozen=True, slots=True)
class AuthorizerAnswer:
    """Holds what `authorizer` says to some questions. `attributes` has what a question must be,
    by the names of the fields of `celadon.kube.Attributes`, and `user` for the name of the user;
    what is not named may be anything."""

    ruling: Ruling
    attributes: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One request and what is expected of it.

    `object` is what the request is about; for a DELETE, what is deleted. `old` is what it replaces
    (UPDATE). `cluster` is what there is besides the test's own: params, bindings, namespaces; a
    later object replaces an earlier one of the same kind and name. `policies` names those under
    test (empty: all that are loaded). `versions` are releases of Kubernetes (empty: those of the
    test, else that of the command). `skip` is a reason not to run it. `generated` is the kind of
    what controllers would create of the object: the request is about that, and theirs.
    """

    name: str
    place: Place
    expect: Expectation
    object: Document
    old: Document | None = None
    operation: Operation = Operation.CREATE
    subresource: str = ""
    namespace: str = "default"
    user: User = ADMIN
    dry_run: bool = False
    cluster: tuple[Document, ...] = ()
    answers: tuple[AuthorizerAnswer, ...] = ()
    policies: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    skip: str = ""
    generated: str = ""


@dataclass(frozen=True, slots=True)
class PolicyTest:
    """Cases that share policies and a cluster. `cluster` has the policies and bindings too;
    `files` are those that it was read from, the test's own first. `problems` are what could not be
    read: without it, the cases are not worth to be run. `assumed` is what a test of another tool
    takes for granted and a cluster does not."""

    name: str
    file: str
    cluster: tuple[Document, ...]
    cases: tuple[Case, ...]
    versions: tuple[str, ...] = ()
    now: str = DEFAULT_NOW
    files: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    assumed: tuple[Doubt, ...] = ()
    plugins: PluginChoice | None = None
    """The server's own plugins that are asked beside policies; tests of other tools ask none."""


def plain_document(value: JsonObject, name: str) -> Document:
    """Return an object that is in no file, as a document; `name` stands where a file's would, and
    files that it names are relative to it."""
    return Document(Chunk(name, json.dumps(value), 1, 0, is_json=True), (), dict(value))


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """Holds what happened to a request. `result` is what `celadon check` says of it.

    `deciding` are the violations that the verdict is due to, all of policies under test;
    `other_violations` those of policies that are not, which refuse the request. `reached` are the
    policies under test that have looked at it, `notes` why each policy and binding did or did not,
    `ignored` errors that a failure policy let pass.
    """

    verdict: CaseVerdict
    result: ObjectResult
    under_test: frozenset[str]
    reached: frozenset[str]
    deciding: tuple[Violation, ...] = ()
    other_violations: tuple[Violation, ...] = ()
    notes: tuple[Note, ...] = ()
    ignored: tuple[Notice, ...] = ()
    before: JsonObject | None = None
    after: JsonObject | None = None
    """The object before and after policies changed it, where a mutating one is under test."""


@dataclass(frozen=True, slots=True)
class PartValue:
    """A part of an expression, and what it came to, both as text on one line."""

    text: str
    value: str


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Something that is not as expected. `part` names it as a test file does: `verdict`, `message`,
    `auditAnnotations.team`."""

    part: str
    expected: str
    actual: str
    place: Place


class Status(enum.Enum):
    """Says how a case ended. `VACUOUS`: all is as expected, but that means nothing. `BROKEN`: it
    could not be run."""

    PASSED = "passed"
    FAILED = "failed"
    VACUOUS = "vacuous"
    BROKEN = "broken"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class CaseResult:
    """Holds what came of a case with one version. `outcome` is None for what could not be run;
    then `problems` say why. `values` are those of the parts of the expression that decided, if the
    case failed."""

    case: Case
    version: str
    status: Status
    outcome: CaseOutcome | None = None
    mismatches: tuple[Mismatch, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    problems: tuple[Problem, ...] = ()
    values: tuple[PartValue, ...] = ()
    unasked: tuple[Unasked, ...] = ()
    """Plugins that could not be asked about its request, and why."""

    @property
    def is_bad(self) -> bool:
        """Return whether the run fails because of it."""
        return self.status not in {Status.PASSED, Status.SKIPPED}


@dataclass(frozen=True, slots=True)
class FileResult:
    """Holds what came of one test: its cases in their order, for each version one after the
    other. `doubts` are about all of them together."""

    name: str
    file: str
    cases: tuple[CaseResult, ...] = ()
    problems: tuple[Problem, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    coverage: Coverage | None = None
    """Of all cases that could be run, if it was measured."""
    plugins: PluginChoice | None = None
    """Those that its cases ask."""

    @property
    def asked_plugins(self) -> tuple[str, ...]:
        """Return the names of the plugins that were asked."""
        return () if self.plugins is None else self.plugins.asked

    @property
    def unasked_plugins(self) -> tuple[UnaskedPlugin, ...]:
        """Return the plugins that nobody could ask, with the number of cases."""
        return unasked_plugins(
            self.plugins, Counter(x for result in self.cases for x in result.unasked)
        )


@dataclass(frozen=True, slots=True)
class RunReport:
    """All tests, in the order of the inputs. `deselected` counts cases that were not to be run.
    With less than `coverage_wanted` percent of coverage, or `killed_wanted` percent of killed
    mutants, the run fails."""

    tests: tuple[FileResult, ...] = ()
    problems: tuple[Problem, ...] = ()
    deselected: int = 0
    strict: bool = False
    stopped: bool = False
    """Whether cases were left out behind the first that failed."""
    coverage_wanted: float = 0.0
    alterations: Alterations | None = None
    """Of the policies under test, and whether any case noticed, if that was asked for."""
    killed_wanted: float = 0.0

    @property
    def is_unnoticed(self) -> bool:
        """Return whether fewer alterations were killed than are wanted."""
        alterations = self.alterations
        return alterations is not None and alterations.score < self.killed_wanted

    @property
    def coverage(self) -> Coverage | None:
        """Return the coverage of all tests, if it was measured."""
        parts = [test.coverage for test in self.tests if test.coverage is not None]
        return added_up(parts) if parts else None

    @property
    def is_uncovered(self) -> bool:
        """Return whether less is covered than is wanted."""
        coverage = self.coverage
        return coverage is not None and coverage.percentage < self.coverage_wanted

    @property
    def asked_plugins(self) -> tuple[str, ...]:
        """Return the plugins that some test asks, in their order."""
        return tuple(dict.fromkeys(name for test in self.tests for name in test.asked_plugins))

    @property
    def unasked_plugins(self) -> tuple[UnaskedPlugin, ...]:
        """Return the unasked plugins of all tests, with the number of cases."""
        counts: Counter[Unasked] = Counter()
        for unasked_plugin in (
            unasked_plugin for test in self.tests for unasked_plugin in test.unasked_plugins
        ):
            counts[unasked_plugin.plugin, unasked_plugin.reason] += unasked_plugin.objects
        return tuple(UnaskedPlugin(*key, count) for key, count in sorted(counts.items()))

    @property
    def cases(self) -> Iterable[CaseResult]:
        """Return the cases of all tests."""
        return (case for test in self.tests for case in test.cases)

    @property
    def all_problems(self) -> tuple[Problem, ...]:
        """Return what could not be read, each once."""
        problems = (*self.problems, *(problem for test in self.tests for problem in test.problems))
        return tuple(dict.fromkeys(problems))

    @property
    def doubted(self) -> bool:
        """Return whether a case that passes means less than it seems."""
        return any(
            test.doubts or any(result.doubts for result in test.cases) for test in self.tests
        )

    def count(self, status: Status) -> int:
        """Return how many cases ended so."""
        return sum(case.status is status for case in self.cases)

    @property
    def exit(self) -> Exit:
        """Return the worst of what happened: a defect of ours, then files that cannot be read, then
        cases that could not be run, then cases that failed."""
        problems = [
            *self.all_problems,
            *(problem for case in self.cases for problem in case.problems),
        ]
        if any(problem.is_internal for problem in problems):
            return Exit.INTERNAL
        if self.all_problems:
            return Exit.USAGE
        if self.count(Status.BROKEN):
            return Exit.POLICY
        is_bad = any(case.is_bad for case in self.cases)
        if is_bad or (self.strict and self.doubted) or self.is_uncovered or self.is_unnoticed:
            return Exit.DENIED
        return Exit.OK
