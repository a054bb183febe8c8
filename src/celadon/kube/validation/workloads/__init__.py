"""The kinds that make pods: controllers, jobs, and autoscalers."""
