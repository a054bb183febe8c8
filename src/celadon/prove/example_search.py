"""Searches for an example: a solver proposes, the engine has the last word, and time is limited.

What the solver finds is told to whoever asked (`confirm`), who has the engine decide it. A model
that the engine does not confirm is ruled out, and the search goes on.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

import z3

from celadon.cel import syntax
from celadon.kube import StatusError
from celadon.kube.schemas import DecodeError
from celadon.prove.solver_terms import Formula, either, negated, unknowns
from celadon.prove.symbolic_objects import Inputs, Pattern
from celadon.prove.symbolic_values import NotModelled
from celadon.prove.uninterpreted_functions import Unmodelled

# --- Witnesses ---------------------------------------------------------------
#
# Which loops of an expression ask for no item of their own, given what is known of its value.
#
# A counterexample with a long list may leave out every item that nothing depends on. Where `all` is
# known to be true it is true of fewer items as well; where it is known to be false, one item is to
# be kept: the witness. So the loops below are told apart by what is claimed of the whole
# expression, and a proof needs as many items as there are witnesses (`Cut`).


@dataclass(frozen=True, slots=True)
class Claim:
    """Claims that an expression is true (or false: `value`), or that it is not (`holds`): an error
    is neither true nor false."""

    value: bool
    holds: bool

    @property
    def of_negation(self) -> Claim:
        """Return the same claim, said of what is negated."""
        return replace(self, value=not self.value)


def free_loops(node: syntax.Expr, claim: Claim) -> frozenset[int]:
    """Return the loops (ids of their nodes) that need no witness."""
    return frozenset(_free(node, claim))


def _free(node: syntax.Expr, claim: Claim) -> Iterator[int]:
    match node:
        case syntax.Call(function=syntax.LOGICAL_AND | syntax.LOGICAL_OR):
            for argument in node.args:
                yield from _free(argument, claim)
        case syntax.Call(function=syntax.LOGICAL_NOT):
            yield from _free(node.args[0], claim.of_negation)
        case syntax.Call(function=syntax.CONDITIONAL):
            for argument in node.args[1:]:
                yield from _free(argument, claim)
        case syntax.Comprehension():
            yield from _of_loop(node, claim)


def _of_loop(node: syntax.Comprehension, claim: Claim) -> Iterator[int]:
    """`all` is true where each item is, false where one is; `exists` the other way round."""
    step = node.step
    if not isinstance(step, syntax.Call) or not isinstance(node.accu_init, syntax.Literal):
        return
    quantifier = {(syntax.LOGICAL_AND, True): True, (syntax.LOGICAL_OR, False): False}.get(
        (step.function, node.accu_init.value is True)
    )
    if quantifier is None:
        return
    is_free = (claim.value == quantifier) == claim.holds
    if is_free:
        yield node.id
    if claim.holds or not is_free:  # else an error of the range would be a witness, too
        yield from _of_range(node.iter_range)
    yield from _free(step.args[1], claim)


def _of_range(node: syntax.Expr) -> Iterator[int]:
    """Loops that make the list of another one: what they keep is up to that one."""
    match node:
        case syntax.Call(function=syntax.ADD):
            for argument in node.args:
                yield from _of_range(argument)
        case syntax.Comprehension(accu_init=syntax.ListLiteral()):
            yield node.id
            yield from _of_range(node.iter_range)


T = TypeVar("T")
Confirm: TypeAlias = Callable[[z3.ModelRef], T | None]
"""Makes an example of a model, if the engine has nothing against it."""

TRIES: Final = 20
"""Models that are looked at for one question."""

MOST_LESSONS: Final = 50
"""How often the engine may have it otherwise, for one model."""

MOST_ITEMS: Final = 6
"""Items of lists that are looked at, however many an expression asks for."""


def items_needed(inputs: Inputs, unmodelled: Unmodelled) -> int:
    """Return how many items of lists and maps a proof is to look at: those that the questions can
    ask for, and one more than a size or place that an expression names, within reason."""
    needed = min(max((cut.witnesses for cut in inputs.cuts), default=0), MOST_ITEMS)
    if any(cut.is_counted for cut in inputs.cuts):
        needed = max(needed, *unmodelled.counted, 0)
    return needed


@dataclass(frozen=True, slots=True)
class SearchOutcome(Generic[T]):
    """The outcome of a search: an example, a proof that there is none, or a reason why nobody
    knows."""

    example: T | None = None
    is_proved: bool = False
    reason: str = ""


STEPS_OF_A_SECOND: Final = 1_500_000
"""What the solver counts of its work while a second goes by, where it has a processor to itself.
The count, and not the clock, limits it: so answers do not depend on how busy a machine is."""

_SHARE: Final = 4
"""The part of what is left of it that may be done for wishes."""

_WISH: Final = "wish "
"""How the names of what is wished for begin."""

_CANCELED: Final = "canceled"

_HAS_THREADS: Final = sys.platform != "emscripten"
"""Whether a thread can watch the solver. In a browser it watches itself: its `timeout` needs no
thread there, and what asks for too much memory is an error."""

_PATIENCE: Final = 4 if _HAS_THREADS else 20
"""How much more of the processor it may take: not all of its work is counted. In a browser the
clock of the processor is that on the wall, so there it is more."""

_BEAT: Final = 0.2
"""Seconds between two looks at how much that is."""

_MEGABYTES: Final = 2048 if _HAS_THREADS else 1024
"""What the solver may have of memory; beyond it nothing is decided."""


@dataclass(slots=True)
class Search:
    """One question about unknowns. `seconds` is for the whole of it."""

    inputs: Inputs
    unmodelled: Unmodelled
    seconds: float
    context: z3.Context = field(default_factory=z3.Context)
    """Where the solver works: a new one for each question, since the solver goes by the age of
    terms and would answer otherwise after other questions."""
    steps: int = field(init=False)
    """What is left of them."""
    deadline: float = field(init=False)
    latest: z3.ModelRef | None = None
    """What was found last: the next question is asked about the like of it first."""
    decided: set[str] = field(default_factory=set)
    """The unknowns that it is for what was wanted."""
    is_full: bool = False
    """Whether the solver has taken all the memory that it may take."""

    def __post_init__(self) -> None:
        self.steps = int(self.seconds * STEPS_OF_A_SECOND)
        self.deadline = time.process_time() + self.seconds * _PATIENCE

    def there(self, formula: Formula) -> Formula:
        """Return a formula as the solver of this question has it."""
        return formula.translate(self.context)

    def check(self, solver: z3.Solver, *assumptions: Formula) -> z3.CheckSatResult:
        """Ask the solver, while it is not too late."""
        self.is_full = _is_full()
        if time.process_time() >= self.deadline or self.steps <= 0 or self.is_full:
            return z3.unknown
        # `rlimit` counts work, so that answers are the same on a slow machine; the time is a last
        # resort.
        most = max(1, self.steps // _SHARE) if assumptions else self.steps
        solver.set("rlimit", most)
        before = _steps(solver)
        try:
            with _stopped_at(self.deadline, solver) as is_too_much:
                check = solver.check(*assumptions)
        except z3.Z3Exception as error:
            self.is_full = "out of memory" in str(error)
            if not self.is_full:
                raise
            return z3.unknown
        steps = _steps(solver) - before
        # The solver takes an interrupt of the keyboard for itself, and says no more of it than that
        # it was not one of the limits.
        is_canceled = check == z3.unknown and solver.reason_unknown() == _CANCELED
        if is_canceled and not is_too_much.is_set() and steps < most:
            raise KeyboardInterrupt
        self.steps -= steps
        return check

    def find(
        self,
        formula: Formula,
        confirm: Confirm[T],
        preferred: Sequence[Formula] = (),
        tries: int = TRIES,
    ) -> SearchOutcome[T]:
        """Return an example of what is wanted, with as few fields as it can do without. Of several,
        those are preferred where these hold."""
        if z3.is_false(formula):
            return SearchOutcome(is_proved=True)
        concerned, others = self._parts(formula)
        absent = [negated(presence) for presence in self.inputs.presences]
        # Guessing texts that a function reads (`1Gi`, a URL) seldom succeeds, so those come first
        # of which the engine has said what they are.
        likely = self.unmodelled.likely()
        wishes = [*self._values(), *absent, *preferred, *likely, *self.inputs.usual]
        query = _Query([*concerned.assumed, formula], wishes, self, concerned.patterns)
        # Fields that nobody asked for have wishes, too: a quantity is to be one.
        apart = [element for element in absent if not _names(element) & query.names]
        possible = (z3.Or(element, negated(element)) for element in apart)
        least = [*apart, *likely, *self.inputs.usual]
        beside = _Query([*others.assumed, *possible], least, self, others.patterns)
        # First what is wanted, with all it depends on. Only then the rest of the object, which can
        # be made to fit whatever was found: so the hard question is not asked together with a
        # hundred easy ones.
        for number in range(tries):
            model = self._model(query)
            if isinstance(model, SearchOutcome):
                # With examples ruled out that did not hold, nothing is proved any more.
                return model if not number else SearchOutcome(reason="no example held")
            whole = self._model(beside)
            if isinstance(whole, SearchOutcome):
                return SearchOutcome(reason=whole.reason or "no such request exists")
            for item in query.decided(model):
                whole.update_value(item(), model[item])
            self.latest = whole
            self.decided = {element.name() for element in query.decided(model)}
            example = _confirmed(confirm, whole)
            if example is not None:
                return SearchOutcome(example)
            # The engine decides otherwise than the model says: look for another one.
            query.tell(either(element() != model[element] for element in query.decided(model)))
        return SearchOutcome(reason="no example held")

    def adapted(self, conditions: Sequence[Formula], confirm: Confirm[T]) -> T | None:
        """Return the latest model, so that it meets other conditions as well, one after the other;
        where they are about the same unknowns they must hold as it is."""
        model = self.latest
        for condition in conditions:
            if model is None:
                return None
            if not z3.is_true(model.eval(condition, model_completion=True)):
                about = self._parts(condition)[0]
                model = self._adapted(model, [condition, *about.formulas])
        if model is not None:  # what the conditions name may not have been there before
            every = _Assumptions(self.inputs.assumed, self.inputs.patterns)
            model = self._adapted(model, every.formulas)
        return None if model is None else _confirmed(confirm, model)

    def _adapted(self, model: z3.ModelRef, formulas: Sequence[Formula]) -> z3.ModelRef | None:
        absent = [negated(presence) for presence in self.inputs.presences]
        query = _Query(formulas, [*absent, *self.unmodelled.likely(), *self.inputs.usual], self)
        query.tell(
            *(
                constant() == model[constant]
                for constant in _constants(model)
                if constant.name() in self.decided
            )
        )
        adapted = self._model(query)
        if isinstance(adapted, SearchOutcome):
            return None
        for item in query.decided(adapted):
            model.update_value(item(), adapted[item])
            self.decided.add(item.name())
        return model

    def _values(self) -> list[Formula]:
        """Return the formulas that texts and numbers are what they were in the latest model."""
        if self.latest is None:
            return []
        return [
            constant() == self.latest[constant]
            for constant in _constants(self.latest)
            if constant.range() != z3.BoolSort()
        ]

    def _parts(self, formula: Formula) -> tuple[_Assumptions, _Assumptions]:
        """Return the assumptions about unknowns that what is wanted depends on, and all others."""
        names = _names(formula)
        assumed = [(item, _names(item)) for item in self.inputs.assumed]
        patterns = [(pattern, _names_of_pattern(pattern)) for pattern in self.inputs.patterns]
        every = [about for _, about in (*assumed, *patterns)]
        # Assumptions hang together by the unknowns they share; collect them until nothing new is
        # reached.
        while joined := [about for about in every if about & names and not about <= names]:
            names |= set().union(*joined)
        concerned, others = (
            _Assumptions(
                [item for item, about in assumed if bool(about & names) is is_concerned],
                [pattern for pattern, about in patterns if bool(about & names) is is_concerned],
            )
            for is_concerned in (True, False)
        )
        return concerned, others

    def _model(self, query: _Query) -> z3.ModelRef | SearchOutcome[Any]:
        """Return a model that the engine has nothing against, as far as it was asked for
        functions."""
        for _ in range(MOST_LESSONS):
            check = query.check()
            if check == z3.unsat:
                return SearchOutcome(is_proved=True)
            if check == z3.unknown:
                needed = "memory" if self.is_full or _is_full() else "time"
                return SearchOutcome(reason=f"the solver needs more {needed}")
            model = query.model()
            lessons = [pattern.formula for pattern in query.patterns if not pattern.holds(model)]
            try:
                taught = self.unmodelled.lessons(model)
            except NotModelled as error:
                return SearchOutcome(reason=str(error))
            lessons += [lesson for lesson in taught if _names(lesson) & query.names]
            if not lessons:
                return model
            query.tell(*lessons)
        return SearchOutcome(reason="the engine has it otherwise each time")


@contextmanager
def _stopped_at(deadline: float, solver: z3.Solver) -> Iterator[threading.Event]:
    """Stop the solver when so much processor time is gone, or it has taken too much memory. Where
    none is running, nothing happens. The event says whether it was stopped."""
    done, is_too_much = threading.Event(), threading.Event()
    if not _HAS_THREADS:
        solver.set("timeout", max(1, int(1000 * (deadline - time.process_time()))))
        # Only while it looks: what frees memory, too, asks for some, and must not fail.
        z3.set_param("memory_max_size", _MEGABYTES)
        is_too_much.set()  # no keyboard interrupts it here
        try:
            yield is_too_much
        finally:
            z3.set_param("memory_max_size", 0)
        return

    def watch() -> None:
        while not done.wait(_BEAT):
            if time.process_time() >= deadline or _is_full():
                is_too_much.set()
                solver.ctx.interrupt()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield is_too_much
    finally:
        done.set()
        watcher.join()


def _is_full() -> bool:
    """Return whether the solver has taken all the memory that it may take: its own limit
    (`max_memory`) is one of its tactics only."""
    size: int = z3.Z3_get_estimated_alloc_size()
    return size > _MEGABYTES << 20


class _Assumptions(NamedTuple):
    """The assumptions about some unknowns."""

    assumed: list[Formula]
    patterns: list[Pattern]

    @property
    def formulas(self) -> list[Formula]:
        """Return all of it for the solver."""
        return [*self.assumed, *(pattern.formula for pattern in self.patterns)]


def _confirmed(confirm: Confirm[T], model: z3.ModelRef) -> T | None:
    try:
        return confirm(model)
    except (DecodeError, StatusError):  # a time that is none, addresses that are not taken
        return None


class _Query:
    """A solver with what must hold, and with wishes, of which those that come first are given up
    first: of a list the first items are there first. The patterns it is told of one by one."""

    def __init__(
        self,
        formulas: Sequence[Formula],
        wishes: Sequence[Formula],
        search: Search,
        patterns: Sequence[Pattern] = (),
    ) -> None:
        self._solver = z3.SimpleSolver(ctx=search.context)
        self._search = search
        self.patterns = patterns
        self.names: set[str] = set()
        self.tell(*formulas)
        self._about = self.names.union(*map(_names_of_pattern, patterns))
        self._count = 0
        self._wishes = self._proxies(wishes)

    def _proxies(self, wishes: Sequence[Formula]) -> list[Formula]:
        result = []
        for wish in wishes:
            if _names(wish) & self.names:
                self._count += 1
                proxy = z3.Bool(f"{_WISH}{self._count}", self._search.context)
                self._solver.add(z3.Implies(proxy, self._search.there(wish)))
                result.append(proxy)
        return result

    def tell(self, *formulas: Formula) -> None:
        """Add formulas that must hold, too."""
        self._solver.add(*map(self._search.there, formulas))
        self.names.update(*map(unknowns, formulas))

    def model(self) -> z3.ModelRef:
        """Return what was found, in terms of the question."""
        return self._solver.model().translate(z3.main_ctx())

    def decided(self, model: z3.ModelRef) -> list[z3.FuncDeclRef]:
        """Return the unknowns whose values in a model are right: those that were asked for. It has
        others, too, of which the solver was told less than is assumed, or nothing: those in wishes
        and lessons, and any that somebody has looked at."""
        return [constant for constant in _constants(model) if constant.name() in self._about]

    def check(self) -> z3.CheckSatResult:
        """Ask whether there is a model. Wishes that stand in the way of one are given up."""
        while True:
            check = self._search.check(self._solver, *self._wishes)
            if check == z3.unknown and self._wishes and self._search.steps > 0:
                # Wishes that are in each other's way may be harder than what is asked.
                del self._wishes[: (len(self._wishes) + 1) // 2]
                continue
            if check != z3.unsat:
                return check
            core = {item.decl().name() for item in self._solver.unsat_core()}
            against = [wish for wish in self._wishes if wish.decl().name() in core]
            if not against:
                return check
            self._wishes.remove(against[0])


def _steps(solver: z3.Solver) -> int:
    """Return how much work was ever done."""
    statistics = solver.statistics()
    if "rlimit count" not in statistics.keys():  # noqa: SIM118 - it is no mapping
        return 0
    count: int = statistics.get_key_value("rlimit count")
    return count


def _names(formula: Formula) -> set[str]:
    """Return the unknowns of a formula."""
    return set(unknowns(formula))


def _names_of_pattern(pattern: Pattern) -> set[str]:
    return _names(pattern.presence) | _names(pattern.text)


def _constants(model: z3.ModelRef) -> list[z3.FuncDeclRef]:
    """Return the unknowns that a model is about; in the order of their names, since that of the
    model is not always the same."""
    declarations = (declaration for declaration in model.decls() if declaration.arity() == 0)
    return sorted(declarations, key=z3.FuncDeclRef.name)
