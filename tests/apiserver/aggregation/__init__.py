"""Tests of `celadon.apiserver.aggregation`, beside an extension server on loopback."""
