"""Judging requests of which something is not known, as logs tell of them: `incomplete_requests`."""

from celadon.admission.incomplete.incomplete_requests import Missing, PartialVerdict, judged_partly

__all__ = ["Missing", "PartialVerdict", "judged_partly"]
