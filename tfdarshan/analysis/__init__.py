"""Pure functions on a session's tables, one question per file, giving frozen dataclasses or DataFrames."""
