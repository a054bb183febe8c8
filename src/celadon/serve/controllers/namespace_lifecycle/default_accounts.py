"""Every namespace has the ServiceAccount `default`: pods that name none need it.

As k8s.io/kubernetes `pkg/controller/serviceaccount/serviceaccounts_controller.go`. It is urgent:
pods may come right after their namespace; upstream, the plugin that needs the account waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from celadon.kube import metadata
from celadon.kube.catalogue import Resource
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.registry import Target, create, stored_object
from celadon.serve.access.initial_objects import default_service_account
from celadon.serve.controllers.controller_loops import Change
from celadon.serve.controllers.status_writes import StatusWrites
from celadon.serve.objects.object_keys import collection_prefix
from celadon.serve.objects.object_store import ObjectStore


class DefaultAccounts:
    """Items are names of namespaces. `new_context` gives a new uid each time."""

    urgent = True

    def __init__(
        self,
        objects: ObjectStore,
        namespaces: StatusWrites,
        accounts: Resource,
        new_context: Callable[[], DefaultingContext],
    ) -> None:
        self._objects = objects
        self._namespaces = namespaces
        self._accounts = accounts
        self._new_context = new_context

    @property
    def prefixes(self) -> Sequence[str]:
        return (self._namespaces.prefix, collection_prefix(self._accounts))

    def concerned(self, change: Change) -> Iterable[str]:
        if change.key.startswith(self._namespaces.prefix):
            return () if change.new is None else (metadata.name(change.new),)
        gone = change.old if change.new is None else None
        return () if gone is None else (metadata.namespace(gone),)

    async def reconcile(self, item: str) -> None:
        namespace = self._namespaces.get(item)
        if namespace is None or metadata.deletion_timestamp(namespace.object):
            return
        account = default_service_account(item)
        name = metadata.name(account)
        if self._objects.get(self._accounts, item, name) is None:
            target, context = Target(self._accounts, item), self._new_context()
            made = create.created(account, target, context)
            kept = stored_object(made, target, context)
            await self._objects.create(self._accounts, item, name, kept)
