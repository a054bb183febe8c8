"""Tests of `celadon.apiserver.webhook_routes`."""
