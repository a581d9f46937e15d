"""A folder of a table leads to its files, whatever characters its name has."""

import pytest

from tests.made_up_session import job_of, write_session
from tfdarshan.reports.views.files_view import FileQuery, files_table, files_view
from tfdarshan.reports.views.view_source import Source

PATHS = ["/top", "/data/what?/a", "/data/x*y/b", "/data/[z]/c", "/data/plain/d", "<STDIN>"]


@pytest.fixture
def source(tmp_path):
    calls = [(10 * file, 10 * file + 5, 1, "pread", file, 40) for file in range(len(PATHS))]
    return Source(write_session(tmp_path, job_of(calls, PATHS, [40] * len(PATHS))))


def found(source, search):
    table, matching = files_table(source, FileQuery(search=search, sort="path", descending=False))
    assert matching == len(table.rows)
    return [row[0].text for row in table.rows]


def test_each_folder_leads_to_its_files(source):
    (folders,) = [panel for panel in files_view(source) if getattr(panel, "key", "") == "folders"]

    led = {row[0].text: row[0].link and found(source, row[0].link[1]) for row in folders.rows}

    assert led.pop("(no file)") is None
    assert led.pop("/") == [path for path in sorted(PATHS) if path.startswith("/")]
    assert led == {path.rpartition("/")[0]: [path] for path in PATHS[1:-1]}


@pytest.mark.parametrize(
    ("search", "expected"),
    [("/data/????t?/*", []), ("/data/w?at?/*", ["/data/what?/a"]), ("at?/", ["/data/what?/a"]),
     ("*/d", ["/data/plain/d"]), ("x*y", ["/data/x*y/b"])],
)  # fmt: skip
def test_a_search_is_a_part_of_a_path_or_a_pattern(source, search, expected):
    assert found(source, search) == expected
