"""Counts of an unmodified libdarshan: read, put into the tables, and compared with the builtin fold."""
