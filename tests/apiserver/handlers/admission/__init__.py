"""Tests of `celadon.apiserver.handlers.admission`."""
