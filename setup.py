"""Builds csrc/; everything else about the package is in pyproject.toml."""

from setuptools import setup

setup(cffi_modules=["csrc/build_core.py:core", "csrc/build_core.py:probe"])
