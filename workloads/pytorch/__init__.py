"""Workloads in PyTorch."""
