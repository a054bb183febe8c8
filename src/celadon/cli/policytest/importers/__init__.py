"""Tests of other tools, as PolicyTests.

Each format is rewritten as the document of kind PolicyTest that its author would write, with the
way back to the places of the original (`rewriting`), and read as such: what runs a foreign test and
what `celadon test import` prints is the same document. `foreign_formats` tells the formats apart.
"""
