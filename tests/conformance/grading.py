"""Grades of agreement: what of a case agrees with the recording, and what does not."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Grades:
    """`agreed` maps the name of a grade to whether it is reached; `notes` say what differs."""

    agreed: dict[str, bool] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return all(self.agreed.values())

    def give(self, grade: str, *, got: object, want: object, agrees: bool | None = None) -> None:
        """`agrees` decides where equality of what is shown does not."""
        if agrees is None:
            agrees = got == want
        self.agreed[grade] = self.agreed.get(grade, True) and agrees
        if not agrees:
            self.notes.append(f"{grade}:\n      want {want}\n      got  {got}")


@dataclass(slots=True)
class Tally:
    """How many cases of a file reached each grade, out of how many that could."""

    cases: int = 0
    passed: int = 0
    skipped: int = 0
    reached: dict[str, int] = field(default_factory=dict)
    possible: dict[str, int] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        return self.cases - self.passed - self.skipped

    def count(self, grades: Grades) -> None:
        self.cases += 1
        self.passed += grades.passed
        for grade, agrees in grades.agreed.items():
            self.possible[grade] = self.possible.get(grade, 0) + 1
            self.reached[grade] = self.reached.get(grade, 0) + agrees

    def skip(self) -> None:
        self.cases += 1
        self.skipped += 1

    def add(self, other: Tally) -> None:
        self.cases += other.cases
        self.passed += other.passed
        self.skipped += other.skipped
        for grade, possible in other.possible.items():
            self.possible[grade] = self.possible.get(grade, 0) + possible
            self.reached[grade] = self.reached.get(grade, 0) + other.reached.get(grade, 0)
