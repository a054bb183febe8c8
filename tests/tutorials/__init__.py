"""The tutorials of docs/tutorials, performed as a reader would."""
