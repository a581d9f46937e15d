"""Measures the storage under data by reading a little of it: `tfdarshan probe` and `profile(probe=True)`.

Nothing is written where the data is. `folder_probe` gives a `StorageProbe`, `session_probes` keeps it.
"""
