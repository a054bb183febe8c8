"""What a world does not know at once.

The engine asks its questions in the middle of a decision, and cannot wait. A world that has to ask
somebody else (an authorizer behind a network, an object that is in no cache yet) raises
`Unanswered`; the decision is given up, the answer is found, and the decision is made anew by a
world that has it now. So a world lives as long as one review.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from celadon.admission import Verdict

MOST_QUESTIONS: Final = 100
"""Of one review: what asks for more is not decided."""


class Unanswerable(Exception):
    """Why there can be no answer now. Nobody is to blame but the way to whoever knows: the review
    is not decided, and what happens is up to the failure policy of the webhook's configuration."""


class TooManyQuestions(Unanswerable):
    """A review whose policies never stop asking."""

    def __init__(self) -> None:
        super().__init__(f"its policies ask more than {MOST_QUESTIONS} questions of the cluster")


class Unanswered(Exception):
    """`find` makes the world know; it may raise what it likes, which ends the review."""

    def __init__(self, find: Callable[[], Awaitable[None]]) -> None:
        super().__init__("the answer is still to be found")
        self.find = find


async def settled(verdict: Callable[[], Verdict], question: Unanswered) -> Verdict:
    """The verdict when all questions are answered, this one first. Raises what finding an answer
    raises, TooManyQuestions."""
    for _ in range(MOST_QUESTIONS):
        await question.find()
        try:
            return verdict()
        except Unanswered as another:
            question = another
    raise TooManyQuestions
