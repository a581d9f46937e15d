"""Calls of a session: read in order, by kind, and how many were running at a time."""
