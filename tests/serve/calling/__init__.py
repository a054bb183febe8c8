"""Tests of `celadon.serve.calling`."""
