"""Loops of Python's own, which no framework knows."""
