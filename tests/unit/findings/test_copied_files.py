"""Commands that copy files name the session, or the Darshan log that no session was kept of."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tfdarshan.findings.copied_files import session_and_log
from tfdarshan.sessions.session_directory import COPY_FOLDER, LOG_FOLDER

KEPT, OF_LOG, OF_URL = (f"/tmp/{folder}1/run" for folder in ("logs", LOG_FOLDER, COPY_FOLDER))


@pytest.mark.parametrize(
    ("path", "redacted", "names"),
    [
        (KEPT, False, (KEPT, "")),
        (KEPT, True, ("LOGDIR", "")),
        (OF_URL, False, ("LOGDIR", "")),
        (OF_LOG, False, (OF_LOG, "/data/a.darshan")),
        (OF_LOG, True, ("LOGDIR", "LOG")),
    ],
)
def test_a_log_is_named_if_no_session_was_kept_of_it(path, redacted, names):
    session = cast(Any, SimpleNamespace(path=Path(path), meta=[{"engine": {"source": "/data/a.darshan"}}]))

    assert session_and_log(session, redacted=redacted) == names
