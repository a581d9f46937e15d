"""A session on disk: its folder, its tables and its metadata, read as data and nothing else."""
