"""What leaves the event loop."""
