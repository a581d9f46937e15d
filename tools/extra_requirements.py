"""Prints what an extra of the installed tfdarshan requires, one requirement a line."""

import sys
from importlib.metadata import requires


def extra_requirements(extra: str) -> list[str]:
    """Return the requirements that pyproject.toml lists under `extra`, without their markers."""
    split = [requirement.partition(";") for requirement in requires("tfdarshan") or []]
    return [name.strip() for name, _, marker in split if marker.strip() == f'extra == "{extra}"']


if __name__ == "__main__":
    requirements = extra_requirements(sys.argv[1])
    if not requirements:
        sys.exit(f"tfdarshan has no extra named {sys.argv[1]}")
    print("\n".join(requirements))
