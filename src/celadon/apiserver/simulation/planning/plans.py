"""`Plan`, the decision of a simulated controller: writes in their order, and when to look again.

A controller is a function of what it sees and of the time; whoever drives it carries the plan out
step by step. After a step that was refused only statuses are written; the plan is made anew later.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from celadon.kube import JsonObject, metadata
from celadon.records import dataclass

EventType: TypeAlias = Literal["Normal", "Warning"]

NORMAL: Final = "Normal"
WARNING: Final = "Warning"

CREATED_NAME: Final = "{name}"
"""Stands in an Event for the name that the server has given."""


class Verb(enum.Enum):
    """Names what is done with the object of a step; `SCALE` changes nothing but how many replicas
    it is to have, `TELL` writes an Event about it only."""

    CREATE = "create"
    UPDATE = "update"
    STATUS = "status"
    DELETE = "delete"
    SCALE = "scale"
    TELL = "tell"


@dataclass(frozen=True, slots=True)
class ObjectEvent:
    """An Event about the controller's own object. That of a failure ends with the error."""

    type: EventType
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Step:
    """Says what a controller does next. `object` is whole: what is to be stored, or what is to go.
    `done` is told when the step has succeeded, `failed` when it has not; a created object's name,
    which may come from the server, stands in `done` as `CREATED_NAME`. An object that is there
    already is no failure if `may_exist`; one that is gone never is where it is to be deleted. What
    depends on it goes before it if `is_foreground`. `otherwise` makes what is written in its place
    when something was refused before, of the error. What only needs the status to be written, if
    there is one to write, `follows_status`: it is done though something else was refused. `follow`
    gives the step that comes after a creation, of what the server has made."""

    verb: Verb
    object: JsonObject
    done: ObjectEvent | None = None
    failed: ObjectEvent | None = None
    may_exist: bool = False
    is_foreground: bool = False
    otherwise: Callable[[str], JsonObject] | None = None
    follows_status: bool = False
    follow: Callable[[JsonObject], Step] | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Holds what a controller does about one object. `requeue_after` is in how many seconds to look
    again though nothing has changed."""

    steps: tuple[Step, ...] = ()
    requeue_after: float | None = None


NOTHING_TO_DO: Final = Plan()


def told(message: str, about: JsonObject, reason: str, kind: EventType = NORMAL) -> Step:
    """Return the step that writes an Event and does nothing else."""
    return Step(Verb.TELL, about, ObjectEvent(kind, reason, message))


def sooner(*seconds: float | None) -> float | None:
    """Return the first time at which there is anything to look at."""
    return min((second for second in seconds if second is not None), default=None)


def pod_created(pod: JsonObject) -> Step:
    """Return a pod of a controller that tells what it does in the words that most of them share."""
    done = ObjectEvent(NORMAL, "SuccessfulCreate", f"Created pod: {CREATED_NAME}")
    return Step(Verb.CREATE, pod, done, ObjectEvent(WARNING, "FailedCreate", "Error creating: "))


def pod_deleted(pod: JsonObject) -> Step:
    """Return the step that deletes a pod, with the Events of its success and of its failure."""
    done = ObjectEvent(NORMAL, "SuccessfulDelete", f"Deleted pod: {metadata.name(pod)}")
    return Step(Verb.DELETE, pod, done, ObjectEvent(WARNING, "FailedDelete", "Error deleting: "))
