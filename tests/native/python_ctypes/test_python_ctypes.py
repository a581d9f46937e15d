"""A library loaded by ctypes in the midst of a session is recorded from its first call on."""

from tests.native.built_programs import BUILD, build
from tests.native.python_script import counted, run_profiled

SCRIPT = """
    import ctypes, sys
    import tfdarshan

    library, data = sys.argv[1:]
    with tfdarshan.profile("logs"):
        print(ctypes.CDLL(library).answer(data.encode()))
"""


def test_library_loaded_by_ctypes_is_recorded_at_once(tmp_path):
    # GIVEN a library that reads 777 bytes when called
    build("plain")
    data = tmp_path / "data"
    data.write_bytes(bytes(777))

    # WHEN it is loaded and called with nothing in between
    session = run_profiled(tmp_path, SCRIPT, str(BUILD / "plain/python_ctypes/libanswer.so"), str(data))

    # THEN its very first call is in the session
    assert counted(session, data, "POSIX_OPENS") == 1
    assert counted(session, data, "POSIX_BYTES_READ") == 777
