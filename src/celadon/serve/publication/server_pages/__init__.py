"""What a server says of itself: whether it is well, which Kubernetes it speaks for, how it was
started, and by which key its tokens can be checked."""
