"""The report of `celadon check` as one value; every output format is made from it.

Read `Report` last: it holds what was asked of each object (`ObjectResult`), what is wrong with it
(`Fault`), what the policies had against it (`Violation`), what came of the webhooks that it would
be sent to (`WebhookCall`), what is wrong with the policies
(`PolicyError`), what went by silently and should not (`Notice`) and which inputs were unreadable
(`Problem`). The exit code follows from it.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Final

from celadon.cli.exit_codes import Exit
from celadon.cli.reading.documents import Problem, exit_of
from celadon.kube import JsonObject
from celadon.records import dataclass, field


@dataclass(frozen=True, slots=True)
class Place:
    """Says where something stands: a file as the user named it, a line from 1 (0: no line)."""

    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class State(enum.Enum):
    """Says what becomes of an object. `UNTOUCHED` is admitted because no policy looked at it;
    `INVALID` is refused before any policy could; of one that is `UNASKED` it is not known, since it
    would be sent to webhooks that were not asked. About one that is `UNCHANGED` nothing is sent."""

    ADMITTED = "admitted"
    UNTOUCHED = "untouched"
    UNCHANGED = "unchanged"
    WARNED = "warned"
    UNASKED = "unasked"
    DENIED = "denied"
    INVALID = "invalid"


REFUSED: Final = frozenset({State.DENIED, State.INVALID})


@dataclass(frozen=True, slots=True)
class Fault:
    """Holds what is wrong with a field of an object, as validation says it; `meant` is the field
    that was probably meant."""

    place: Place
    field: str
    message: str
    suggestion: str = ""


@dataclass(frozen=True, slots=True)
class Violation:
    """One expression that speaks against an object, and where it is written.

    `actions` are the binding's (`Deny`, `Warn`, `Audit`); `is_error` says that the expression did
    not give an answer, `denies` that it alone would refuse the object. `field` is the path of what
    speaks in its policy or, for a misconfiguration, in the binding; `expression` what is written
    there, if it is an expression.
    """

    policy: str
    binding: str
    param: str
    field: str
    rule: Place
    message: str
    actions: tuple[str, ...]
    is_error: bool
    denies: bool
    expression: str


class Outcome(enum.Enum):
    """Says what came of a webhook that a request goes to. `IGNORED` is a call that failed, which
    the webhook's failure policy makes nothing of; `UNASKED` says that nobody asked it."""

    ALLOWED = "allowed"
    CHANGED = "changed"
    DENIED = "denied"
    FAILED = "failed"
    IGNORED = "ignored"
    UNASKED = "not asked"


_AGAINST: Final = frozenset({Outcome.DENIED, Outcome.FAILED})


@dataclass(frozen=True, slots=True)
class WebhookCall:
    """A webhook that an object is sent to. `place` is where the webhook is written; `patch` are the
    operations by which a mutating one has changed the object, `message` why it was refused or what
    went wrong. `again` is the second call of a webhook that is reinvoked."""

    place: Place
    configuration: str
    webhook: str
    mutating: bool
    outcome: Outcome
    message: str = ""
    patch: tuple[JsonObject, ...] = ()
    warnings: tuple[str, ...] = ()
    is_reinvocation: bool = False

    @property
    def phase(self) -> str:
        """`mutating` or `validating`."""
        return "mutating" if self.mutating else "validating"


@dataclass(frozen=True, slots=True)
class MutationStep:
    """One mutation that has made a difference: whose, where it is written, and the JSON patch that
    it comes to. `round` is 1 for what was done when policies were asked again."""

    policy: str
    binding: str
    param: str
    field: str
    rule: Place
    round: int
    before: JsonObject
    after: JsonObject
    patch: tuple[JsonObject, ...]


@dataclass(frozen=True, slots=True)
class Mutated:
    """Holds what mutating policies have made of an object."""

    before: JsonObject
    after: JsonObject
    patch: tuple[JsonObject, ...]
    steps: tuple[MutationStep, ...]

    @property
    def policies(self) -> tuple[str, ...]:
        """Return the policies that have changed it, in the order of their first change."""
        return tuple(dict.fromkeys(step.policy for step in self.steps))


@dataclass(frozen=True, slots=True)
class ClientWarning:
    """A warning as a client gets it, and the violations it is due to."""

    text: str
    violations: tuple[Violation, ...]


@dataclass(frozen=True, slots=True)
class Creator:
    """The workload of a file whose controller would create an object, or would create what that is
    created of; `user` is the name of the one who asks. `depth` is 1 for what is created of the
    workload itself, 2 for what is created of that."""

    title: str
    place: Place
    user: str
    depth: int = 1


@dataclass(frozen=True, slots=True)
class ObjectResult:
    """One request and its verdict. `sentence` is what the API server would answer, if it refuses;
    `denial` is the violation it speaks of, if it speaks of one, `plugin` the built-in admission
    plugin that refuses, if it is one.

    `title` is `Deployment shop/web`; `policies` counts the pairs of policy and binding that match.
    `ordinal` says which of how many equal objects is the first for which there is no quota.
    """

    place: Place
    title: str
    api_version: str
    kind: str
    namespace: str
    name: str
    operation: str
    state: State
    code: int = 200
    sentence: str = ""
    status: JsonObject | None = None
    warnings: tuple[ClientWarning, ...] = ()
    audit_annotations: Mapping[str, str] = field(default_factory=dict)
    violations: tuple[Violation, ...] = ()
    denial: Violation | None = None
    faults: tuple[Fault, ...] = ()
    policies: int = 0
    mutated: Mutated | None = None
    webhooks: tuple[WebhookCall, ...] = ()
    plugin: str = ""
    created_by: Creator | None = None
    ordinal: tuple[int, int] | None = None

    @property
    def is_refused(self) -> bool:
        """Return whether a server would not take the object, for whatever reason."""
        return self.state in REFUSED

    @property
    def is_admitted(self) -> bool | None:
        """Return whether the object is admitted; None where that is not known."""
        return None if self.state is State.UNASKED else not self.is_refused

    @property
    def unasked(self) -> tuple[WebhookCall, ...]:
        """Return the webhooks whose answer is not known."""
        return tuple(webhook for webhook in self.webhooks if webhook.outcome is Outcome.UNASKED)

    @property
    def denying(self) -> tuple[WebhookCall, ...]:
        """Return the webhooks that refuse it, or would have to be asked and cannot."""
        return tuple(webhook for webhook in self.webhooks if webhook.outcome in _AGAINST)

    @property
    def has_error(self) -> bool:
        """Return whether a policy could not be evaluated on it, or a webhook not be called."""
        failed = any(webhook.outcome is Outcome.FAILED for webhook in self.webhooks)
        return failed or any(violation.is_error for violation in self.violations)


@dataclass(frozen=True, slots=True)
class PolicyError:
    """A policy or binding the API server would not accept, so that nothing can be checked by it.

    `policy` is the policy's name, also if it is the binding that is wrong; `help` says what to do.
    """

    place: Place
    kind: str
    name: str
    policy: str
    message: str
    help: str = ""


class NoticeReason(enum.Enum):
    """The ways in which a check can be green without having checked anything."""

    NOTHING_TO_CHECK = "nothing-to-check"
    NO_POLICY = "no-policy"
    NO_MANIFEST = "no-manifest"
    REPLACED = "replaced"
    POLICY_UNMATCHED = "policy-unmatched"
    POLICY_UNBOUND = "policy-without-binding"
    BINDING_WITHOUT_POLICY = "binding-without-policy"
    PARAM_MISSING = "param-missing"
    ERROR_IGNORED = "error-ignored"
    UNKNOWN_KIND = "unknown-kind"
    NAMESPACE_ASSUMED = "namespace-assumed"
    NOT_EVALUATED = "not-evaluated"
    WEBHOOK_UNASKED = "webhook-not-asked"
    ANSWER_UNUSED = "answer-unused"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that would otherwise go by in silence; a failure under `--strict`."""

    reason: NoticeReason
    place: Place
    message: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class UnaskedPlugin:
    """A built-in plugin that could not say its word on some requests, and why; `objects` counts
    them, 0 for all."""

    plugin: str
    reason: str
    objects: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """Everything, in the order of the inputs; behind an object stands what its controller would
    create. `plugins` are the built-in admission plugins that were asked."""

    objects: tuple[ObjectResult, ...] = ()
    policies: int = 0
    bindings: int = 0
    webhooks: int = 0
    policy_errors: tuple[PolicyError, ...] = ()
    notices: tuple[Notice, ...] = ()
    problems: tuple[Problem, ...] = ()
    strict: bool = False
    fail_on_warning: bool = False
    needs_answers: bool = False
    """Whether webhooks were to be asked, so that one that was not is an error."""
    plugins: tuple[str, ...] = ()
    unasked_plugins: tuple[UnaskedPlugin, ...] = ()

    @property
    def objects_of_files(self) -> tuple[ObjectResult, ...]:
        """Return the objects of the files."""
        return tuple(result for result in self.objects if result.created_by is None)

    @property
    def created(self) -> tuple[ObjectResult, ...]:
        """Return what controllers would create of them."""
        return tuple(result for result in self.objects if result.created_by is not None)

    def count(self, state: State) -> int:
        """Return how many objects of the files ended so."""
        return sum(result.state is state for result in self.objects_of_files)

    @property
    def admitted(self) -> int:
        """Return how many objects of the files the API server would accept, as far as that is
        known."""
        return len(self.objects_of_files) - self.refused - self.count(State.UNASKED)

    @property
    def refused(self) -> int:
        """Return how many objects of the files the API server would not accept."""
        return sum(result.is_refused for result in self.objects_of_files)

    @property
    def exit(self) -> Exit:
        """Return the worst of what happened: a defect of ours, then unreadable input, then broken
        policies, then denials."""
        if self.problems:
            return exit_of(self.problems)
        if self.policy_errors or (self.strict and self.notices):
            return Exit.POLICY
        if any(result.has_error for result in self.objects):
            return Exit.POLICY
        if self.needs_answers and any(result.state is State.UNASKED for result in self.objects):
            return Exit.POLICY
        warned = any(result.warnings and not result.is_refused for result in self.objects)
        refused = any(result.is_refused for result in self.objects)
        if refused or (self.fail_on_warning and warned):
            return Exit.DENIED
        return Exit.OK
