"""`celadon prove --property`, `--implies` and `--implied-by`: claims about a set of policies, read
from files, put to the prover, and their answers in the words of the report."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from celadon.admission import ObjectWorld, Operation, Request, default_options
from celadon.cli.celadon_documents import API_VERSION, PROPERTIES_KIND, faults, is_own, problem_at
from celadon.cli.check.check_report import Place, PolicyError
from celadon.cli.diff import DiffSide, Progress, kinds_among, undecided_reasons
from celadon.cli.exit_codes import Exit
from celadon.cli.proof_report import ExampleRequest, Reason, SideVerdict
from celadon.cli.reading.documents import (
    Document,
    DocumentReader,
    Problem,
    Text,
    exit_of,
    read_texts,
    shape_problem,
)
from celadon.kube import GroupVersionKind, GroupVersionResource, Json, JsonObject
from celadon.kube.json_types import JsonDict
from celadon.kube.registry import create
from celadon.kube.well_known_values import EPHEMERAL_CONTAINERS, PODS
from celadon.prove import (
    Comparison,
    Finding,
    Judgement,
    Properties,
    Property,
    Standard,
    Subject,
    judged,
)
from celadon.records import dataclass

# --- What came of claims -----------------------------------------------------

# What came of claims about policies, as one value; every output format is made from it.

PROVED: Final = "proved"
BOUNDED: Final = "no counterexample"
COUNTEREXAMPLE: Final = "counterexample"
UNDECIDED: Final = "not decided"


@dataclass(frozen=True, slots=True)
class ClaimExample:
    """A request against a claim, and what the policies say of it."""

    verdict: SideVerdict
    request: ExampleRequest


@dataclass(frozen=True, slots=True)
class ClaimAnswer:
    """The answer for one claim and endpoint. `claim` says what was asked, in words; `place` is
    where it is written, or the policy that speaks against it."""

    name: str
    operation: str
    api_version: str
    kind: str
    answer: str
    claim: str
    example: ClaimExample | None = None
    place: Place = Place()
    reasons: tuple[Reason, ...] = ()
    items: int = 0
    bounded: tuple[str, ...] = ()

    @property
    def endpoint(self) -> str:
        """Return the endpoint in words: `CREATE of Pod`."""
        return f"{self.operation} of {self.kind}"


@dataclass(frozen=True, slots=True)
class ClaimReport:
    """Everything, claim by claim."""

    answers: tuple[ClaimAnswer, ...] = ()
    notices: tuple[str, ...] = ()
    errors: tuple[PolicyError, ...] = ()
    problems: tuple[Problem, ...] = ()

    def of(self, answer: str) -> tuple[ClaimAnswer, ...]:
        """Return the answers of one sort."""
        return tuple(item for item in self.answers if item.answer == answer)

    @property
    def summary(self) -> str:
        """Return how many answers there are of each sort, in words."""
        words = (PROVED, BOUNDED, COUNTEREXAMPLE, UNDECIDED)
        counts = ((len(self.of(word)), word) for word in words)
        phrases = [f"{count} {text}" for count, text in counts if count]
        return ", ".join(phrases) or "nothing was asked"

    @property
    def exit(self) -> Exit:
        """Return the exit code: that of what was not read goes before that of a counterexample, and
        that before that of what nobody knows."""
        if self.problems:
            return exit_of(self.problems)
        if self.of(COUNTEREXAMPLE):
            return Exit.DENIED
        return Exit.POLICY if self.of(UNDECIDED) or self.errors else Exit.OK


# --- Files of properties -----------------------------------------------------

# Files of kind PolicyProperties: what is claimed of policies, in CEL.

_TEXT: Final = {"description": "A name, or CEL.", "type": "string", "minLength": 1}
_TEXTS: Final = {"type": "array", "items": _TEXT, "minItems": 1}
_MATCH: Final = {
    "description": "The requests that it is about.",
    "type": "object",
    "properties": {
        "resources": {**_TEXTS, "description": "As `pods` or `deployments.apps`."},
        "operations": {
            "type": "array",
            "items": {"enum": ["CREATE", "UPDATE", "DELETE"]},
            "minItems": 1,
        },
    },
    "required": ["resources"],
    "additionalProperties": False,
}
_VARIABLE: Final = {
    "type": "object",
    "properties": {"name": _TEXT, "expression": _TEXT},
    "required": ["name", "expression"],
    "additionalProperties": False,
}
_PROPERTY: Final = {
    "type": "object",
    "properties": {
        "name": _TEXT,
        "match": _MATCH,
        "of": {
            "description": "Whether it is about what is admitted (the default) or refused.",
            "enum": [subject.value for subject in Subject],
        },
        "assume": {"description": "Requests that it is not about are left out.",
                   "anyOf": [_TEXT, _TEXTS]},
        "that": {**_TEXT, "description": "What is true of all of them."},
        "params": {
            "description": "Params: those in files (the default), or any of their kind.",
            "enum": ["given", "any"],
        },
    },
    "required": ["name", "that"],
    "additionalProperties": False,
}  # fmt: skip

SCHEMA: Final[JsonDict] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": PROPERTIES_KIND,
    "description": "Properties of admission policies, proved by `celadon prove --property`.",
    "type": "object",
    "properties": {
        "apiVersion": {"const": API_VERSION},
        "kind": {"const": PROPERTIES_KIND},
        "metadata": {
            "type": "object",
            "properties": {"name": _TEXT},
            "additionalProperties": False,
        },
        "match": _MATCH,
        "variables": {
            "description": "What expressions may name as `variables.NAME`.",
            "type": "array",
            "items": _VARIABLE,
        },
        "properties": {"type": "array", "items": _PROPERTY, "minItems": 1},
    },
    "required": ["apiVersion", "kind", "properties"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class GivenProperty:
    """A property, and where it stands."""

    property: Property
    place: Place


def read_properties(paths: list[str], version: str) -> tuple[list[GivenProperty], list[Problem]]:
    """Return the properties in files, and what is wrong with the files."""
    return properties_among(read_texts(paths), version)


def properties_among(
    texts: Iterable[Text | Problem], version: str
) -> tuple[list[GivenProperty], list[Problem]]:
    """Return the properties in texts, and what is wrong with the texts."""
    properties: list[GivenProperty] = []
    problems: list[Problem] = []
    reader = DocumentReader()
    for text in texts:
        if isinstance(text, Problem):
            problems.append(text)
            continue
        items = list(reader.read(text))
        if not items:
            problems.append(Problem(text.file, 0, f"no {PROPERTIES_KIND} in this file"))
        for item in items:
            problem = item if isinstance(item, Problem) else shape_problem(item)
            if problem is not None:
                problems.append(problem)
            elif isinstance(item, Document):
                wrong = list(_wrong(item))
                problems += wrong
                if not wrong:
                    item_properties = list(_properties(item))
                    problems += _complaints(item, item_properties, version)
                    properties += item_properties
    return properties, problems


def _wrong(document: Document) -> Iterator[Problem]:
    if not is_own(document, PROPERTIES_KIND):
        yield Problem(
            document.file, document.line(), f"no {PROPERTIES_KIND}: {document.value['kind']}"
        )
        return
    wrong = [problem_at(document, *fault) for fault in faults(document.value, SCHEMA)]
    yield from wrong
    if wrong:
        return
    for number, item in enumerate(document.value["properties"]):
        if "match" not in item and "match" not in document.value:
            yield problem_at(
                document, ("properties", number), "neither it nor the file has a `match`"
            )


def _properties(document: Document) -> Iterator[GivenProperty]:
    value = document.value
    variables = tuple(
        (variable["name"], variable["expression"]) for variable in value.get("variables", ())
    )
    for number, item in enumerate(value["properties"]):
        assume = item.get("assume", ())
        claim = Property(
            item["name"],
            item["that"],
            _rules(item.get("match") or value["match"]),
            Subject(item.get("of", Subject.ADMITTED.value)),
            (assume,) if isinstance(assume, str) else tuple(assume),
            variables,
            any_params=item.get("params") == "any",
        )
        line, _ = document.chunk.spot((*document.path, "properties", number, "that"))
        yield GivenProperty(claim, Place(document.file, line))


def _rules(match: JsonObject) -> tuple[JsonObject, ...]:
    operations = match.get("operations", ["CREATE", "UPDATE"])
    named = (str(resource).partition(".") for resource in match["resources"])
    return tuple(
        {
            "apiGroups": [group],
            "apiVersions": ["*"],
            "operations": operations,
            "resources": [resource],
        }
        for resource, _, group in named
    )


def _complaints(
    document: Document, properties: list[GivenProperty], version: str
) -> Iterator[Problem]:
    for number, item in enumerate(properties):
        for path, text in item.property.complaints(version):
            place = path if path[0] == "variables" else ("properties", number, *path)
            if path[0] == "assume" and isinstance(document.value_at(place[:-1]), str):
                place = place[:-1]
            if number == 0 or path[0] != "variables":
                yield problem_at(document, place, text)


# --- Claims to answers -------------------------------------------------------

# Claims to answers: what is asked of a set of policies, and the words of the report.

_ANSWERS = {
    Finding.SAME: PROVED,
    Finding.BOUNDED: BOUNDED,
    Finding.DIFFERS: COUNTEREXAMPLE,
    Finding.UNDECIDED: UNDECIDED,
}

_POD_KIND = GroupVersionKind("", "v1", "Pod")
_CONTAINER: dict[str, Json] = {"name": "a", "image": "a"}
_ALL: JsonObject = {"privileged": True}
_POD: JsonDict = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "a", "namespace": "default"},
    "spec": {"containers": [_CONTAINER]},
}


@dataclass(frozen=True, slots=True)
class Claims:
    """A set of policies is claimed to have properties, to imply standards, or to be implied by
    them."""

    properties: tuple[GivenProperty, ...] = ()
    implied: tuple[Standard, ...] = ()
    implying: tuple[Standard, ...] = ()


def answered(
    side: DiffSide, claims: Claims, items: int, seconds: float, progress: Progress
) -> ClaimReport:
    """Return the report about a set of policies."""
    unbound = side.unbound
    notices = [
        f"`{name}` has no binding: taken as if one denies everywhere" for name in sorted(unbound)
    ]
    asker = _ClaimCheck(
        side, Properties(side.side(unbound), items, seconds, kinds_among(side.objects))
    )
    answers: list[ClaimAnswer] = []
    for answer in asker.answers(claims):
        progress(f"{answer.name}: {answer.endpoint}: {answer.answer}")
        answers.append(answer)
    if claims.implied:
        notices.append(
            f"pods/{EPHEMERAL_CONTAINERS}: one privileged container is tried, nothing is proved"
        )
    if side.mutations:
        notices.append("mutating policies are not looked at: they may change what is admitted")
    return ClaimReport(tuple(answers), tuple(notices), side.errors, tuple(side.problems))


@dataclass(frozen=True, slots=True)
class _ClaimCheck:
    side: DiffSide
    properties: Properties

    def answers(self, claims: Claims) -> Iterator[ClaimAnswer]:
        for given_property in claims.properties:
            about = given_property.property
            seen: set[GroupVersionResource] = set()
            for answer in self.properties.answers(about):
                is_admitted = about.subject is Subject.ADMITTED
                claim = f"all that is {about.subject.value}: {about.that}"
                if about.assume:
                    claim += f" (assuming {' and '.join(about.assume)})"
                seen.add(answer.endpoint.resource.gvr)
                yield self._answer(
                    answer, about.name, claim, given_property.place, is_set_old=not is_admitted
                )
            yield from _unseen(given_property, {(gvr.group, gvr.resource) for gvr in seen})
        for standard in claims.implied:
            yield from self._implied(standard)
        for standard in claims.implying:
            claim = f"all that is refused violates {standard}"
            for answer in self.properties.refuses_only(standard.asked()):
                yield self._answer(answer, f"{standard}", claim, Place(), is_set_old=True)

    def _implied(self, standard: Standard) -> Iterator[ClaimAnswer]:
        """Each check; of updates those that hold of what is created. At first it is asked whether
        all updates of what violates them are refused, which is more than the standard asks for, and
        is proved more easily."""
        remaining: list[str] = []
        for name, comparison in self._refused(standard, list(standard.checks), Operation.CREATE):
            yield self._check(standard, name, comparison)
            if comparison.finding is not Finding.DIFFERS:
                remaining.append(name)
        for of_all_updates in (True, False):
            still_open: list[str] = []
            for name, comparison in self._refused(
                standard, remaining, Operation.UPDATE, of_all_updates=of_all_updates
            ):
                if of_all_updates and comparison.finding is not Finding.SAME:
                    still_open.append(name)
                else:
                    yield self._check(standard, name, comparison)
            remaining = still_open
        yield from self._of_ephemeral_containers(standard)

    def _refused(
        self,
        standard: Standard,
        names: Sequence[str],
        operation: Operation,
        *,
        of_all_updates: bool = False,
    ) -> Iterator[tuple[str, Comparison]]:
        policies = [
            standard.asked(name, operations=(operation.value,), of_all_updates=of_all_updates)
            for name in names
        ]
        for number, comparison in self.properties.refuses_all(policies) if policies else ():
            yield names[number], comparison

    def _of_ephemeral_containers(self, standard: Standard) -> Iterator[ClaimAnswer]:
        """Answer whether an ephemeral container that may do everything is admitted; more is not
        known of subresources."""
        spec = {"ephemeralContainers": [{**_CONTAINER, "name": "b", "securityContext": _ALL}]}
        manifest = {**_POD, "spec": {**_POD["spec"], **spec}}
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
        request = Request(
            Operation.UPDATE,
            _POD_KIND,
            PODS,
            subresource=EPHEMERAL_CONTAINERS,
            name="a",
            namespace="default",
            object=create.admit_form(manifest, _POD_KIND),
            old_object=create.admit_form(_POD, _POD_KIND),
            options=default_options(Operation.UPDATE),
        )
        side = self.properties.side
        judgement = judged(side.engine, request, ObjectWorld([*side.objects, namespace]))
        if not judgement.denied:
            example = ClaimExample(_verdict(self.side, judgement), ExampleRequest(manifest))
            yield ClaimAnswer(
                f"{standard} pods/{EPHEMERAL_CONTAINERS}",
                *(request.operation.value, _POD_KIND.api_version, _POD_KIND.kind, COUNTEREXAMPLE),
                f"what {standard} refuses is refused at pods/{EPHEMERAL_CONTAINERS}",
                example,
            )

    def _check(self, standard: Standard, name: str, comparison: Comparison) -> ClaimAnswer:
        claim = f"what {standard} refuses for {name} is refused"
        return self._answer(comparison, f"{standard} {name}", claim, Place(), is_set_old=False)

    def _answer(
        self, comparison: Comparison, name: str, claim: str, place: Place, *, is_set_old: bool
    ) -> ClaimAnswer:
        example = None
        endpoint = comparison.endpoint
        if comparison.example is not None:
            example_verdict = comparison.example.old if is_set_old else comparison.example.new
            verdict = _verdict(self.side, example_verdict)
            by = next((against.place for against in verdict.against if against.place.file), Place())
            place = place if place.file else by
            example = ClaimExample(verdict, ExampleRequest.of(comparison.example))
        return ClaimAnswer(
            name,
            endpoint.operation.value,
            endpoint.kind.api_version,
            endpoint.kind.kind,
            _ANSWERS[comparison.finding],
            claim,
            example,
            place,
            undecided_reasons(comparison, self.side),
            comparison.items if comparison.bounded else 0,
            comparison.bounded,
        )


def _unseen(about: GivenProperty, seen: Collection[tuple[str, str]]) -> Iterator[ClaimAnswer]:
    """Yield the resources of a property about which nothing is known."""
    for rule in about.property.rules:
        (group,), (resource,) = rule["apiGroups"], rule["resources"]
        if (group, resource) not in seen:
            yield ClaimAnswer(
                about.property.name,
                ", ".join(rule["operations"]),
                group,
                resource,
                UNDECIDED,
                f"all that is {about.property.subject.value}: {about.property.that}",
                place=about.place,
                reasons=(Reason("no such kind is known, or it is not written so", about.place),),
            )


def _verdict(side: DiffSide, judgement: Judgement) -> SideVerdict:
    return SideVerdict("denied" if judgement.denied else "admitted", side.against(judgement))
