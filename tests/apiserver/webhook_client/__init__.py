"""Tests of `celadon.apiserver.webhook_client`."""
