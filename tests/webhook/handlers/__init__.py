"""Tests of `celadon.webhook.handlers`."""
