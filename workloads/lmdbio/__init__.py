"""LMDBIO's study of how training jobs read LMDB: arms on slow storage, and many processes by a model."""
