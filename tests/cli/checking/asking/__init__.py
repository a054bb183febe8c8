"""Tests of `celadon.cli.checking.asking`."""
