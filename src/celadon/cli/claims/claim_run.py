"""Claims to answers: what is asked of a set of policies, and the words of the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from celadon.admission import ObjectWorld, Operation, Request, default_options
from celadon.cli.check.check_report import Place
from celadon.cli.claims.claim_report import (
    BOUNDED,
    COUNTEREXAMPLE,
    PROVED,
    UNDECIDED,
    ClaimAnswer,
    ClaimExample,
    ClaimReport,
)
from celadon.cli.claims.property_files import GivenProperty
from celadon.cli.diff.diff_run import Against, Given, Reason, SideVerdict, served_kinds
from celadon.kube import GroupVersionKind, Json, JsonObject
from celadon.kube.json_types import JsonDict
from celadon.kube.registry import create
from celadon.kube.well_known_values import EPHEMERAL_CONTAINERS, PODS
from celadon.prove import (
    Comparison,
    Finding,
    Judgement,
    Properties,
    Standard,
    Subject,
    judged,
)
from celadon.records import dataclass

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

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Claims:
    """What is claimed of a set: properties, standards that it implies, or that imply it."""

    properties: tuple[GivenProperty, ...] = ()
    implied: tuple[Standard, ...] = ()
    implying: tuple[Standard, ...] = ()


def answered(
    given: Given, claims: Claims, items: int, seconds: float, progress: Progress
) -> ClaimReport:
    """The report about a set of policies."""
    unbound = given.unbound
    notices = [
        f"`{name}` has no binding: taken as if one denies everywhere" for name in sorted(unbound)
    ]
    asker = _Asker(
        given, Properties(given.side(unbound), items, seconds, served_kinds(given.objects))
    )
    found: list[ClaimAnswer] = []
    for one in asker.answers(claims):
        progress(f"{one.name}: {one.endpoint}: {one.answer}")
        found.append(one)
    if claims.implied:
        notices.append(
            f"pods/{EPHEMERAL_CONTAINERS}: one privileged container is tried, nothing is proved"
        )
    if given.mutations:
        notices.append("mutating policies are not looked at: they may change what is admitted")
    return ClaimReport(tuple(found), tuple(notices), given.errors, tuple(given.problems))


@dataclass(frozen=True, slots=True)
class _Asker:
    given: Given
    properties: Properties

    def answers(self, claims: Claims) -> Iterator[ClaimAnswer]:
        for one in claims.properties:
            about = one.property
            for found in self.properties.answers(about):
                is_admitted = about.subject is Subject.ADMITTED
                claim = f"all that is {about.subject.value}: {about.that}"
                if about.assume:
                    claim += f" (assuming {' and '.join(about.assume)})"
                yield self._answer(found, about.name, claim, one.place, is_set_old=not is_admitted)
        for standard in claims.implied:
            yield from self._implied(standard)
        for standard in claims.implying:
            claim = f"all that is refused violates {standard}"
            for found in self.properties.refuses_only(standard.asked()):
                yield self._answer(found, f"{standard}", claim, Place(), is_set_old=True)

    def _implied(self, standard: Standard) -> Iterator[ClaimAnswer]:
        """Each check; of updates those that hold of what is created. At first it is asked whether
        all updates of what violates them are refused, which is more than the standard asks for, and
        is proved more easily."""
        left: list[str] = []
        for name, found in self._refused(standard, list(standard.checks), Operation.CREATE):
            yield self._check(standard, name, found)
            if found.finding is not Finding.DIFFERS:
                left.append(name)
        for of_all_updates in (True, False):
            again: list[str] = []
            for name, found in self._refused(
                standard, left, Operation.UPDATE, of_all_updates=of_all_updates
            ):
                if of_all_updates and found.finding is not Finding.SAME:
                    again.append(name)
                else:
                    yield self._check(standard, name, found)
            left = again
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
            standard.asked(one, operations=(operation.value,), of_all_updates=of_all_updates)
            for one in names
        ]
        for number, found in self.properties.refuses_all(policies) if policies else ():
            yield names[number], found

    def _of_ephemeral_containers(self, standard: Standard) -> Iterator[ClaimAnswer]:
        """Whether one that may do everything is admitted; more is not known of subresources."""
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
        found = judged(side.engine, request, ObjectWorld([*side.objects, namespace]))
        if not found.denied:
            example = ClaimExample(_verdict(self.given, found), manifest)
            yield ClaimAnswer(
                f"{standard} pods/{EPHEMERAL_CONTAINERS}",
                *(request.operation.value, _POD_KIND.api_version, _POD_KIND.kind, COUNTEREXAMPLE),
                f"what {standard} refuses is refused at pods/{EPHEMERAL_CONTAINERS}",
                example,
            )

    def _check(self, standard: Standard, name: str, found: Comparison) -> ClaimAnswer:
        claim = f"what {standard} refuses for {name} is refused"
        return self._answer(found, f"{standard} {name}", claim, Place(), is_set_old=False)

    def _answer(
        self, found: Comparison, name: str, claim: str, place: Place, *, is_set_old: bool
    ) -> ClaimAnswer:
        example = None
        endpoint = found.endpoint
        if found.example is not None:
            shown = found.example
            judged = _verdict(self.given, shown.old if is_set_old else shown.new)
            by = next((one.place for one in judged.against if one.place.file), Place())
            place = place if place.file else by
            remark = (
                f"refused for another reason, too: {shown.complaint}" if shown.complaint else ""
            )
            user = shown.request.user if shown.is_about_user else None
            example = ClaimExample(
                judged,
                shown.manifest,
                shown.old_manifest,
                shown.around,
                user.name if user else "",
                user.groups if user else (),
                remark,
            )
        reasons: tuple[Reason, ...] = ()
        if found.finding is Finding.UNDECIDED:
            gaps = dict.fromkeys(
                Reason(one.reason, self.given.place(one.source, one.policy, "") or Place())
                for one in found.gaps
            )
            reasons = tuple(gaps) or (Reason(found.reason),)
        return ClaimAnswer(
            name,
            endpoint.operation.value,
            endpoint.kind.api_version,
            endpoint.kind.kind,
            _ANSWERS[found.finding],
            claim,
            example,
            place,
            reasons,
            found.items if found.bounded else 0,
            found.bounded,
        )


def _verdict(given: Given, judgement: Judgement) -> SideVerdict:
    verdict = "denied" if judgement.denied else "admitted"
    against = [
        Against(
            one.policy,
            one.binding,
            str(one.source.path),
            given.place(one.source, one.policy, one.binding) or Place(),
            one.message,
            one.param,
        )
        for one in judgement.decisions
    ]
    return SideVerdict(verdict, tuple(dict.fromkeys(against)))
