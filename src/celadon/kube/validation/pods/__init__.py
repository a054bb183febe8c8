"""Pods and everything in them. Read `pod_specs` first."""
