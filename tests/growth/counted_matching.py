"""How many steps it takes to match a pattern by trying and going back, as Python's `re` does it.

Python's matcher is in C and keeps the interpreter's lock until it is done, so what it takes cannot
be counted, and no thread can end it. This one goes through the same parsed pattern and tries the
same things in the same order.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final

Then = Callable[[int], bool]
"""What comes behind: whether it matches from there on."""
Part = Callable[[int, Then], bool]
"""A part of a pattern: whether it, and then what comes behind, match from there on."""

MOST_STEPS: Final = 200_000
_REPEATS: Final = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_CLASSES: Final = {
    codes.CATEGORY_DIGIT: r"\d",
    codes.CATEGORY_NOT_DIGIT: r"\D",
    codes.CATEGORY_SPACE: r"\s",
    codes.CATEGORY_NOT_SPACE: r"\S",
    codes.CATEGORY_WORD: r"\w",
    codes.CATEGORY_NOT_WORD: r"\W",
}
_PLACES: Final = {
    codes.AT_BEGINNING: r"^",
    codes.AT_BEGINNING_STRING: r"\A",
    codes.AT_END: r"$",
    codes.AT_END_STRING: r"\Z",
    codes.AT_BOUNDARY: r"\b",
    codes.AT_NON_BOUNDARY: r"\B",
}
_ALPHABET: Final = "a0 -\n\t\\\"'A_\u00e9.,:x"


class TooManySteps(Exception):
    """More than somebody wants to wait for."""


def noted(ends: list[int], end: int) -> bool:
    """Note where a part ends, and go on."""
    ends.append(end)
    return True


class CountedPattern:
    """Counts the steps of all that is matched with it."""

    def __init__(self, text: str, flags: int = 0) -> None:
        self.tree = parser.parse(text, flags)
        self.flags = flags | self.tree.state.flags
        self.steps, self._most = 0, MOST_STEPS
        self._subject = ""
        self._groups: dict[int, tuple[int, int]] = {}
        self._known: dict[int, Callable[[str], bool]] = {}
        self._whole = self._sequence(self.tree)

    def count(self, method: str, subject: str, most: int = MOST_STEPS) -> int:
        """How many steps `re.Pattern.METHOD` takes for a subject; TooManySteps if more than
        `most`."""
        self.steps, self._subject, self._most = 0, subject, most
        if method == "fullmatch":
            self._whole(0, lambda end: end == len(subject))
        elif method == "match":
            self._whole(0, lambda end: True)
        else:
            self._search(method)
        return self.steps

    def _search(self, method: str) -> None:
        at, ends = 0, [0]
        while at <= len(self._subject):
            self._step()
            if not self._whole(at, lambda end: noted(ends, end)):
                at += 1
            elif method == "search":
                return
            else:
                at = max(at + 1, ends[-1])

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self._most:
            raise TooManySteps

    # --- Parts -------------------------------------------------------------------

    def _sequence(self, items: Any) -> Part:
        parts = [self._part(code, argument) for code, argument in items]

        def matches(at: int, then: Then, position: int = 0) -> bool:
            if position == len(parts):
                return then(at)
            return parts[position](at, lambda end: matches(end, then, position + 1))

        return matches

    def _part(self, code: Any, argument: Any) -> Part:
        if code in (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN):
            return self._character(self._test(code, argument))
        if code in _REPEATS:
            return self._repeat(code, *argument)
        if code is codes.SUBPATTERN:
            return self._group(argument[0], self._sequence(argument[3]))
        if code is codes.BRANCH:
            branches = [self._sequence(one) for one in argument[1]]
            return lambda at, then: any(one(at, then) for one in branches)
        if code is codes.ATOMIC_GROUP:
            return self._atomic(self._sequence(argument))
        if code in (codes.ASSERT, codes.ASSERT_NOT):
            return self._assertion(code is codes.ASSERT, *argument)
        if code is codes.AT:
            place = re.compile(_PLACES[argument], self.flags & ~re.VERBOSE)
            return lambda at, then: bool(place.match(self._subject, at)) and then(at)
        assert code is codes.GROUPREF, code
        return self._reference(argument)

    def _character(self, test: Callable[[str], bool]) -> Part:
        def matches(at: int, then: Then) -> bool:
            self._step()
            return at < len(self._subject) and test(self._subject[at]) and then(at + 1)

        return matches

    def _test(self, code: Any, argument: Any) -> Callable[[str], bool]:
        if code is codes.ANY:
            return lambda char: char != "\n" or bool(self.flags & re.DOTALL)
        if code is codes.LITERAL:
            return lambda char: ord(char) == argument or self._same(char, argument)
        if code is codes.NOT_LITERAL:
            return lambda char: ord(char) != argument and not self._same(char, argument)
        found: dict[str, bool] = {}

        def test(char: str) -> bool:
            if char not in found:
                found[char] = self._is_in(char, argument)
            return found[char]

        return test

    def _same(self, char: str, number: int) -> bool:
        return bool(self.flags & re.IGNORECASE) and char.lower() == chr(number).lower()

    def _is_in(self, char: str, items: Any) -> bool:
        wanted = True
        for code, argument in items:
            if code is codes.NEGATE:
                wanted = False
            elif (
                (code is codes.LITERAL and (ord(char) == argument or self._same(char, argument)))
                or (code is codes.RANGE and argument[0] <= ord(char) <= argument[1])
                or (
                    code is codes.CATEGORY
                    and re.match(_CLASSES[argument], char, self.flags & re.ASCII)
                )
            ):
                return wanted
        return not wanted

    def _repeat(self, code: Any, least: int, most: int, items: Any) -> Part:
        if len(items) == 1 and items[0][0] in (
            codes.LITERAL,
            codes.NOT_LITERAL,
            codes.ANY,
            codes.IN,
        ):
            return self._repeated_character(code, least, most, self._test(*items[0]))
        part = self._sequence(items)

        def matches(at: int, then: Then, count: int = 0, before: int = -1) -> bool:
            self._step()

            def again() -> bool:
                return (
                    count < most
                    and (at != before or count < least)
                    and part(at, lambda end: matches(end, then, count + 1, at))
                )

            if count < least:
                return again()
            if code is codes.MIN_REPEAT:
                return then(at) or again()
            return again() or then(at)

        return self._atomic(matches) if code is codes.POSSESSIVE_REPEAT else matches

    def _repeated_character(
        self, code: Any, least: int, most: int, test: Callable[[str], bool]
    ) -> Part:
        def matches(at: int, then: Then) -> bool:
            end, limit = at, min(len(self._subject), at + int(most))
            lazy = code is codes.MIN_REPEAT
            while end < limit:
                if lazy and end - at >= least and then(end):
                    return True
                self._step()
                if not test(self._subject[end]):
                    break
                end += 1
            if end - at < least:
                return False
            if lazy or code is codes.POSSESSIVE_REPEAT:
                return then(end)
            for last in range(end, at + least - 1, -1):
                self._step()
                if then(last):
                    return True
            return False

        return matches

    def _group(self, number: int | None, part: Part) -> Part:
        if number is None:
            return part

        def matches(at: int, then: Then) -> bool:
            def behind(end: int) -> bool:
                before = self._groups.get(number, (0, 0))
                self._groups[number] = at, end
                if then(end):
                    return True
                self._groups[number] = before
                return False

            return part(at, behind)

        return matches

    def _atomic(self, part: Part) -> Part:
        def matches(at: int, then: Then) -> bool:
            ends: list[int] = []
            return part(at, lambda end: noted(ends, end)) and then(ends[-1])

        return matches

    def _assertion(self, wanted: bool, direction: int, items: Any) -> Part:
        part = self._sequence(items)
        width = items.getwidth()[0] if direction < 0 else 0

        def matches(at: int, then: Then) -> bool:
            is_met = at >= width and part(at - width, lambda end: True)
            return is_met is wanted and then(at)

        return matches

    def _reference(self, number: int) -> Part:
        def matches(at: int, then: Then) -> bool:
            self._step()
            text = self._subject[slice(*self._groups.get(number, (0, 0)))]
            return self._subject.startswith(text, at) and then(at + len(text))

        return matches


# --- Subjects ----------------------------------------------------------------


class Subjects:
    """Texts that match, or nearly, with one piece that can be repeated: from a seed."""

    def __init__(self, pattern: CountedPattern, seed: int = 1) -> None:
        self._pattern = pattern
        self._random = random.Random(seed)

    def some(self, count: int) -> Iterator[tuple[str, str, str]]:
        """What comes before, what is repeated, and what comes behind."""
        for _ in range(count):
            text, other = self._made(self._pattern.tree), self._made(self._pattern.tree)
            if not text:
                continue
            begin = self._random.randrange(len(text))
            end = min(len(text), begin + self._random.randint(1, 3))
            piece = text[begin:end] if self._random.random() < 0.8 else text
            before = self._random.choice(("", text[:begin], text[:begin], other[:2]))
            behind = self._random.choice(("\x01", f"{text[end:]}\x01", "", text[end:], "\n"))
            yield before, piece, behind

    def _made(self, items: Any) -> str:
        return "".join(self._of_part(code, argument) for code, argument in items)

    def _of_part(self, code: Any, argument: Any) -> str:
        if code is codes.LITERAL:
            return chr(argument)
        if code in (codes.NOT_LITERAL, codes.ANY, codes.IN):
            test = self._pattern._test(code, argument)
            known = (chr(found) for found in _named(argument) if test(chr(found)))
            return self._random.choice([*filter(test, _ALPHABET), *known] or ["\x01"])
        if code in _REPEATS:
            least, most, sub = argument
            times = self._random.randint(least, min(int(most), least + 3))
            return "".join(self._made(sub) for _ in range(min(times, 5)))
        if code is codes.SUBPATTERN:
            return self._made(argument[3])
        if code is codes.BRANCH:
            return self._made(self._random.choice(argument[1]))
        return self._made(argument) if code is codes.ATOMIC_GROUP else ""


def _named(argument: Any) -> Iterator[int]:
    """The characters that a class names."""
    for code, value in argument if isinstance(argument, list) else ():
        if code is codes.LITERAL:
            yield value
        elif code is codes.RANGE:
            yield from value
