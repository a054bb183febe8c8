"""Tests of `celadon.webhook.installation`."""
