"""Tests of `celadon.serve.webhooks`."""
