"""Tests of `celadon.admission.webhooks`."""
