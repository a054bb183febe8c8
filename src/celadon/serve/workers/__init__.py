"""What takes long leaves the event loop: threads that take turns, what they may ask of the loop,
and how their work ends."""
