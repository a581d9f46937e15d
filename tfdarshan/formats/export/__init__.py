"""Writes sessions in other programs' formats, one format per module."""
