"""The commands that work on how policies are written."""
