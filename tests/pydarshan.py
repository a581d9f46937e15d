"""PyDarshan, for the tests that hand it logs; these are skipped where it does not work.

Its release 3.5.0 has no wheel for Python 3.13: what pip builds there lacks the library that reads logs.
"""

import pytest

try:
    import darshan
except (ImportError, RuntimeError) as error:
    first_sentence = str(error).partition("! ")[0]
    pytest.skip(f"PyDarshan does not work here: {first_sentence}", allow_module_level=True)

__all__ = ["darshan"]
