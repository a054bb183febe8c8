"""Tests of `celadon.cli.formats.audits`."""
