"""Tests of `celadon.admission.incomplete`."""
