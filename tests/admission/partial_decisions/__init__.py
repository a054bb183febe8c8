"""Tests of `celadon.admission.partial_decisions`."""
