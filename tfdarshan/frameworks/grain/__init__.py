"""Grain: jobs, of JAX most of them, whose batches come from its DataLoader or its datasets."""
