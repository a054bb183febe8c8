"""Tests of the store room: one suite for what every store promises, and each store's own."""
