"""Tests of `celadon.serve.rest.admitting`."""
