"""The plugins of a server at work on objects from files.

    told = desk.mutated(draft, request)      before policies see the object; changes the draft
    told = desk.validated(request)           after validation, before validating policies

A refusal that is due to an object that nobody has given is none: the cluster may well have it. It
is put down instead that the plugin could not be asked. Where the files are the whole cluster, what
is not in them is not there, and the refusal stands.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final

from celadon.admission import ObjectWorld, Operation, Request
from celadon.admission.plugins import (
    POD_SECURITY,
    RESOURCE_QUOTA,
    SECURITY_LABELS,
    Fit,
    LimitedResource,
    PluginChain,
    PluginSettings,
    Stands,
    fit,
    is_counted,
    is_terminating,
    recounted,
)
from celadon.cli.check.check_report import ObjectResult, State, UnaskedPlugin
from celadon.kube import (
    Answer,
    Attributes,
    GroupResource,
    GroupVersionKind,
    GroupVersionResource,
    Json,
    JsonObject,
    StatusError,
    metadata,
    resources,
)
from celadon.kube.defaulting import PRIORITY_CLASSES, RUNTIME_CLASSES, STORAGE_CLASSES, fresh
from celadon.kube.registry import Draft
from celadon.kube.well_known_values import NAMESPACES, NODES, POD_TEMPLATES, SERVICE_ACCOUNTS
from celadon.records import dataclass

# --- A world over another ----------------------------------------------------
#
# A world behind which another one stands: whoever answers some questions in another way.


class OverlaidWorld:
    """Answers as the world behind it does; those who know better override a question."""

    __slots__ = ("_behind",)

    def __init__(self, behind: ObjectWorld | OverlaidWorld) -> None:
        self._behind = behind

    @property
    def catalog(self) -> resources.Catalog:
        """Return the resources that are served."""
        return self._behind.catalog

    @property
    def objects(self) -> Sequence[JsonObject]:
        """Return all objects that were given."""
        return self._behind.objects

    def namespace(self, name: str) -> JsonObject | None:
        """Return the Namespace with a name."""
        return self._behind.namespace(name)

    def get(self, resource: GroupVersionResource, namespace: str, name: str) -> JsonObject | None:
        """Return one object."""
        return self._behind.get(resource, namespace, name)

    def list(self, resource: GroupVersionResource, namespace: str) -> Sequence[JsonObject]:
        """Return all objects of a resource in a namespace."""
        return self._behind.list(resource, namespace)

    def convert(self, obj: JsonObject, kind: GroupVersionKind) -> JsonObject:
        """Return an object in another version."""
        return self._behind.convert(obj, kind)

    def authorize(self, attributes: Attributes) -> Answer:
        """Return what the roles say."""
        return self._behind.authorize(attributes)


GivenWorld = ObjectWorld | OverlaidWorld
"""A world whose objects can be counted."""


# --- Plugin choice -----------------------------------------------------------
#
# Which plugins are asked, and what they are told: what the options of a command say.

EXTENSIONS: Final = frozenset(
    {
        "MutatingAdmissionPolicy",
        "MutatingAdmissionWebhook",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionWebhook",
    }
)
"""Plugins that ask policies and webhooks, of which reports tell by their own names."""

BEYOND_FILES: Final = {
    "EventRateLimit": "it counts requests over time",
    "ImagePolicyWebhook": "its backend is not called",
    "NamespaceAutoProvision": "it would create namespaces; all are taken to be there",
}
"""Plugins that files cannot answer for, and why."""


@dataclass(frozen=True, slots=True)
class PluginChoice:
    """Says which plugins are asked. `names` are the enabled plugins; with `whole_cluster`, what is
    not in the files is not there at all. `left_out` are those that are enabled but of no use to the
    question, and why."""

    names: frozenset[str] = resources.DEFAULT_PLUGINS
    settings: PluginSettings | None = None
    whole_cluster: bool = False
    left_out: tuple[tuple[str, str], ...] = ()

    def without(self, name: str, reason: str) -> PluginChoice:
        """Return a copy for a question that a plugin cannot be asked, and why."""
        if name not in self.names:
            return self
        return replace(self, names=self.names - {name}, left_out=(*self.left_out, (name, reason)))

    def over(self, choice: PluginChoice) -> PluginChoice:
        """Return another choice, with what this one changes of the defaults changed there too."""
        usual = resources.default_plugins()
        more, fewer = self.names - usual, usual - self.names
        return replace(choice, names=(choice.names | more) - fewer)

    @property
    def asked(self) -> tuple[str, ...]:
        """Return the plugins that are asked, in their order, without policies and webhooks."""
        return tuple(
            plugin.name
            for plugin in resources.PLUGINS
            if plugin.name in self.names
            and plugin.is_known
            and not plugin.gate
            and plugin.name not in EXTENSIONS
            and plugin.name not in BEYOND_FILES
        )

    @property
    def unasked(self) -> tuple[tuple[str, str], ...]:
        """Return the plugins that are enabled and cannot be asked, and why."""
        beyond = ((name, reason) for name, reason in BEYOND_FILES.items() if name in self.names)
        return (*self.left_out, *beyond)


def plugin_choice(
    enable: Sequence[str],
    disable: Sequence[str],
    settings: PluginSettings | None,
    *,
    whole_cluster: bool,
) -> PluginChoice:
    """Read options whose values have commas. Raises UnusablePlugins, which is a ValueError."""
    enabled, disabled = (
        [name for text in option for name in text.split(",") if name]
        for option in (enable, disable)
    )
    configured = frozenset[str]() if settings is None else settings.configured
    names = resources.enabled_plugins(enabled, disabled, configured)
    missing = (EXTENSIONS & resources.default_plugins()) - names
    if missing:
        name = min(missing)
        raise resources.UnusablePlugins(
            f"`{name}` cannot be disabled: leave out its policies or webhooks"
        )
    return PluginChoice(names, settings, whole_cluster)


LIFECYCLE: Final = "NamespaceLifecycle"
DEFAULT_ACCOUNT: Final = "default"
"""A ServiceAccount that a controller makes in every namespace."""

_NEEDS: Final[Mapping[str, tuple[GroupVersionResource, str]]] = {
    "PersistentVolumeClaimResize": (STORAGE_CLASSES, "StorageClass"),
    "PodResizeValidator": (NODES, "Node"),
    "Priority": (PRIORITY_CLASSES, "PriorityClass"),
    "RuntimeClass": (RUNTIME_CLASSES, "RuntimeClass"),
    "ServiceAccount": (SERVICE_ACCOUNTS, "ServiceAccount"),
}
"""What plugins look for by name, and refuse what names something else."""

_LIMITED: Final = frozenset(
    {GroupResource("", "pods"), GroupResource("", "persistentvolumeclaims")}
)
"""What LimitRanges are about."""
_SECURED: Final = frozenset(
    {
        GroupResource("", "pods"),
        *(GroupResource(kind.group, f"{kind.kind.lower()}s") for kind in POD_TEMPLATES),
    }
)
"""What PodSecurity looks at."""

Unasked = tuple[str, str]
"""The name of a plugin, and why it could not be asked."""


@dataclass(frozen=True, slots=True)
class PluginAnswer:
    """Holds what the plugins say of one request. `plugin` is the one that refuses."""

    plugin: str = ""
    refusal: StatusError | None = None
    warnings: tuple[str, ...] = ()
    audit_annotations: Mapping[str, str] = field(default_factory=dict)
    unasked: tuple[Unasked, ...] = ()

    def then(self, following: PluginAnswer) -> PluginAnswer:
        """Return the answer of whoever is asked next, if this is no refusal."""
        return replace(following, unasked=(*self.unasked, *following.unasked))


FINE: Final = PluginAnswer()


class PluginDesk:
    """Asks the plugins of a choice, in one world. `classes` are the names of the PriorityClasses
    that are to be admitted, in their order: each sees those before it."""

    def __init__(
        self, choice: PluginChoice, version: str, world: GivenWorld, classes: Sequence[str] = ()
    ) -> None:
        self.choice = choice
        self._classes = classes
        self._chain = PluginChain(choice.names, version, choice.settings)
        self._world = _Watched(world)
        namespaces = world.list(NAMESPACES, "")
        self._namespaces = frozenset(map(metadata.name, namespaces))
        self._ending = frozenset(
            metadata.name(namespace) for namespace in namespaces if is_terminating(namespace)
        )
        self._labelled = frozenset(
            metadata.name(namespace)
            for namespace in namespaces
            if any(label.startswith(SECURITY_LABELS) for label in metadata.labels(namespace))
        )
        self._limited = frozenset(map(metadata.namespace, objects_of(world, "LimitRange")))
        self._counted = frozenset(map(metadata.namespace, objects_of(world, "ResourceQuota")))

    def mutated(self, draft: Draft | None, request: Request) -> PluginAnswer:
        """Run the first half of the plugins. All plugins change the draft, also behind one that
        refuses."""
        return self._first_half(
            lambda stands: self._chain.mutate(draft, request, self._world, stands)
        )

    def of_stored(self, request: Request) -> PluginAnswer:
        """Run both halves on an object that a server has stored already, as if it came anew."""
        if not self.concerned(request):
            return FINE
        obj = {} if request.object is None else fresh(request.object)
        obj.setdefault("spec", {})  # upstream it is a struct, which is never absent
        before = self._first_half(
            lambda stands: self._chain.admit_again(obj, request, self._world, stands)
        )
        if before.refusal is not None or request.object is None:
            return before
        return before.then(self.validated(replace(request, object=obj)))

    def concerned(self, request: Request) -> tuple[str, ...]:
        """Return the plugins that may have something against a request. That a namespace ends
        concerns what is in it, and PodSecurity what is in a namespace with its labels."""
        return tuple(text for text in self._chain.concerned(request) if self._looks(text, request))

    def may_concern(self, request: Request) -> bool:
        """Return whether one of them may have something against a request for such a resource, in
        whatever namespace."""
        concerned = set(self._chain.concerned(request))
        # Both plugins look at a namespace that few inputs have; without one they need not be asked
        # about any object.
        if not self._ending:
            concerned.discard(LIFECYCLE)
        if not self._labelled:
            concerned.discard(POD_SECURITY)
        return bool(concerned)

    def _looks(self, plugin: str, request: Request) -> bool:
        if plugin == LIFECYCLE:
            return request.namespace in self._ending
        return plugin != POD_SECURITY or request.namespace in self._labelled

    def _first_half(self, question: Callable[[Stands], object]) -> PluginAnswer:
        """Return what comes of asking all plugins; the first refusal counts."""
        refused: list[tuple[str, StatusError]] = []
        unasked: list[Unasked] = []

        def goes_on(plugin: str, refusal: StatusError) -> bool:
            missing = self._missing(plugin)
            if missing:
                unasked.append((plugin, missing))
            else:
                refused.append((plugin, refusal))
            return False

        self._world.missed.clear()
        self._world.hidden = frozenset()
        question(goes_on)
        if not refused and not unasked:
            return FINE
        plugin, refusal = refused[0] if refused else ("", None)
        return PluginAnswer(plugin, refusal, unasked=tuple(unasked))

    def validated(self, request: Request) -> PluginAnswer:
        """Run the second half of the plugins."""
        unasked: list[Unasked] = [*self._unknown(request)]
        last = ""

        def stands(plugin: str, _: StatusError) -> bool:
            nonlocal last
            last = plugin
            missing = self._missing(plugin)
            if missing:
                unasked.append((plugin, missing))
            return not missing

        self._world.missed.clear()
        self._world.hidden = self._not_yet(request)
        opinion = self._chain.validate(request, self._world, stands)
        return PluginAnswer(
            "" if opinion.refusal is None else last,
            opinion.refusal,
            opinion.warnings,
            opinion.audit_annotations,
            tuple(unasked),
        )

    def _not_yet(self, request: Request) -> frozenset[str]:
        """Return the PriorityClasses that are not there when one of them is created: itself, and
        those that are admitted after it."""
        if request.resource != PRIORITY_CLASSES or request.operation is not Operation.CREATE:
            return frozenset()
        names = list(self._classes)
        first = names.index(request.name) if request.name in names else len(names)
        return frozenset((request.name, *names[first:]))

    def _missing(self, plugin: str) -> str:
        """Return why a plugin refuses what a cluster might take; empty if it has a reason of its
        own."""
        # A plugin that refuses for an object that nobody has given says more about the input than
        # about the request, unless the input is a whole cluster.
        if self.choice.whole_cluster or plugin not in _NEEDS:
            return ""
        resource, kind = _NEEDS[plugin]
        name = self._world.missed.get(resource)
        return "" if name is None else f"{kind} `{name}` is not given"

    def _unknown(self, request: Request) -> Sequence[Unasked]:
        """Return what plugins would look at in a namespace that nobody has given."""
        namespace, result = request.namespace, []
        if self.choice.whole_cluster or not namespace or namespace in self._namespaces:
            return ()
        if request.operation not in {Operation.CREATE, Operation.UPDATE}:
            return ()
        reason = f"namespace `{namespace}` is not given"
        resource = request.resource.group_resource
        names = self.choice.names
        if resource in _SECURED and "PodSecurity" in names:
            result.append(("PodSecurity", reason))
        if resource in _LIMITED and "LimitRanger" in names and namespace not in self._limited:
            result.append(("LimitRanger", reason))
        if RESOURCE_QUOTA in names and namespace not in self._counted:
            result.append((RESOURCE_QUOTA, reason))
        return result


def objects_of(world: GivenWorld, kind: str) -> list[JsonObject]:
    """Return the objects of a kind of the group without a name, in all namespaces."""
    group_version_kind = GroupVersionKind("", "v1", kind)
    return [value for value in world.objects if metadata.gvk(value) == group_version_kind]


class _Watched(OverlaidWorld):
    """Remembers what was not found. The account that every namespace has is there; PriorityClasses
    with names that are `hidden` are not."""

    __slots__ = ("hidden", "missed")

    def __init__(self, behind: GivenWorld) -> None:
        super().__init__(behind)
        self.missed: dict[GroupVersionResource, str] = {}
        self.hidden: frozenset[str] = frozenset()

    def get(self, resource: GroupVersionResource, namespace: str, name: str) -> JsonObject | None:
        """Return one object, and note what is missing."""
        result = super().get(resource, namespace, name)
        if result is None:
            # A controller makes it in every namespace (kube-controller-manager, `serviceaccount`
            # controller).
            if resource == SERVICE_ACCOUNTS and name == DEFAULT_ACCOUNT:
                return _account(namespace)
            self.missed.setdefault(resource, name)
        return result

    def list(self, resource: GroupVersionResource, namespace: str) -> Sequence[JsonObject]:
        """Return the objects without those that are hidden."""
        items = super().list(resource, namespace)
        if self.hidden and resource == PRIORITY_CLASSES:
            return [item for item in items if metadata.name(item) not in self.hidden]
        return items


def _account(namespace: str) -> dict[str, Json]:
    account_metadata = {"name": DEFAULT_ACCOUNT, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account_metadata}


# --- Quota ledger ------------------------------------------------------------
#
# ResourceQuotas, and what the objects of a check take from them, one after the other.
#
# A quota counts what there is in the cluster: what its own status says, or, if it has none, the
# objects that were given with `-f` and `--old`. The objects that are to be admitted are charged
# in their order, as if they were applied in that order; what a server would refuse for its
# quota is not charged. What controllers would create is charged at the end, as many of each as
# are wanted at once, so that it never takes the place of an object that is in a file.


@dataclass(frozen=True, slots=True)
class Charge:
    """A request that was admitted so far, and the place of its result among all. `times` is how
    many objects like it are wanted; None for one that is in a file."""

    number: int
    request: Request
    times: int | None = None

    def behind(self, results: int) -> Charge:
        """Return the charge for a list in which so many results stand before its own."""
        return replace(self, number=self.number + results)


class QuotaLedger:
    """The quotas by namespace, as they are now. Nobody may use what is `limited` without one."""

    def __init__(
        self,
        quotas: Iterable[JsonObject],
        existing: Iterable[JsonObject],
        now: str,
        limited: Sequence[LimitedResource] = (),
    ) -> None:
        self._now = now
        self._limited = limited
        self._quotas: dict[str, list[JsonObject]] = {}
        for quota in quotas:
            self._quotas.setdefault(metadata.namespace(quota), []).append(quota)
        by_place = _by_place(existing) if self._quotas else {}
        for namespace, value in self._quotas.items():
            value[:] = [self._counting(quota, by_place.get(namespace, {})) for quota in value]

    def uncharged(self) -> QuotaLedger:
        """Return a ledger that knows the same now, and of whose charges this one learns nothing."""
        ledger = copy.copy(self)
        ledger._quotas = {namespace: [*quotas] for namespace, quotas in self._quotas.items()}
        return ledger

    def concerns(self, request: Request) -> bool:
        """Return whether a request may take something."""
        has_quota = bool(self._limited) or request.namespace in self._quotas
        return has_quota and is_counted(request)

    def settle(self, results: list[ObjectResult], charges: Iterable[Charge]) -> None:
        """Put the refusals in the place of results that do not fit."""
        pending = list(charges)
        for charge in (charge for charge in pending if charge.times is None):
            self._charge(results, charge, 1)
        for charge in pending:
            if charge.times is not None and not self._fails_with_owner(results, charge):
                self._charge(results, charge, charge.times)

    def _fails_with_owner(self, results: list[ObjectResult], charge: Charge) -> bool:
        """Return what is refused creates nothing: neither does what was to be created by it.
        Objects of one kind do not wait for each other."""
        number = charge.number
        kind = results[number].kind
        while results[number].created_by is not None:
            number -= 1
            if results[number].is_refused and results[number].kind != kind:
                return True
        return False

    def _counting(
        self, quota: JsonObject, objects: Mapping[GroupResource, Sequence[JsonObject]]
    ) -> JsonObject:
        """Return a quota whose status says what it counts."""
        if (quota.get("status") or {}).get("hard"):
            return quota
        counted_status = recounted(quota, lambda resource: objects.get(resource, ()), self._now)
        return {**quota, "status": counted_status}

    def _charge(self, results: list[ObjectResult], charge: Charge, times: int) -> None:
        request = charge.request
        fits = self._most(request, times)
        if fits:
            self._take(request, self._fit(request, fits))
        if fits == times:
            return
        refusal = self._fit(request, 1).refusal
        assert refusal is not None, "it is one too many"
        status = refusal.status
        number = charge.number
        results[number] = replace(
            results[number],
            state=State.DENIED,
            code=status.code,
            sentence=status.message,
            status=status.to_json(),
            plugin=RESOURCE_QUOTA,
            ordinal=(fits + 1, times) if times > 1 else None,
        )

    def _most(self, request: Request, times: int) -> int:
        """Return how many of so many equal objects there is place for."""
        if not times or self._fit(request, times).refusal is None:
            return times
        least, most = 0, times
        while most - least > 1:
            middle = (least + most) // 2
            if self._fit(request, middle).refusal is None:
                least = middle
            else:
                most = middle
        return least

    def _fit(self, request: Request, times: int) -> Fit:
        quotas = self._quotas.get(request.namespace, ())
        return fit(quotas, request, self._now, self._limited, times)

    def _take(self, request: Request, fit: Fit) -> None:
        if request.dry_run:
            return
        quotas = self._quotas.get(request.namespace, [])
        for i, quota in enumerate(quotas):
            charge = fit.charges.get(metadata.name(quota))
            if charge is not None:
                status = {**quota["status"], "used": dict(charge.used)}
                quotas[i] = {**quota, "status": status}


def _by_place(
    objects: Iterable[JsonObject],
) -> Mapping[str, Mapping[GroupResource, Sequence[JsonObject]]]:
    """Objects by namespace and resource."""
    result: dict[str, dict[GroupResource, list[JsonObject]]] = {}
    for item in objects:
        resource = resources.known_resources(all_versions=True).by_gvk(metadata.gvk(item))
        if resource is not None:
            space: Any = result.setdefault(metadata.namespace(item), {})
            space.setdefault(resource.gvr.group_resource, []).append(item)
    return result


# --- What nobody could ask ---------------------------------------------------
#
# The plugins of a choice that nobody could ask, as a report tells of them.


def unasked_plugins(
    choice: PluginChoice | None, counted: Mapping[Unasked, int]
) -> tuple[UnaskedPlugin, ...]:
    """Return the plugins that nobody could ask."""
    if choice is None:
        return ()
    never = [UnaskedPlugin(name, reason) for name, reason in choice.unasked]
    partly = [UnaskedPlugin(name, reason, count) for (name, reason), count in counted.items()]
    return (*never, *sorted(partly, key=lambda plugin: (plugin.plugin, plugin.reason)))
