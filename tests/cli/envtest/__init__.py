"""Tests of `celadon envtest`: versions, folders, flags and the programs themselves."""
