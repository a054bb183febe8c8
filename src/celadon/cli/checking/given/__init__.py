"""What is given to a check: its options, and the documents that they name."""
