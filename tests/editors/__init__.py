"""What is handed to editors."""
