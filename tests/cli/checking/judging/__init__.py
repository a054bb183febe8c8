"""Tests of `celadon.cli.checking.judging`."""
