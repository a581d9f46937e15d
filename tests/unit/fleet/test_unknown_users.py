"""Jobs whose user has no name: those of nobody known are nobody's, and a number is a user, also redacted."""

from tests.unit.fleet.made_jobs import made_jobs
from tfdarshan.fleet.catalogue_folder import as_table
from tfdarshan.fleet.job_columns import READ
from tfdarshan.fleet.job_table import job_table
from tfdarshan.fleet.outliers import find_outliers
from tfdarshan.fleet.redacted import redacted
from tfdarshan.reports.views.redaction import Redaction

OTHERS = [{"user": name, "stats": 1} for name in ("ann", "ben", "cle", "dan")]


def test_calls_of_nobody_known_are_nobodys():
    stormy = {"stats": 10**7}

    assert find_outliers(made_jobs([*OTHERS, {"user": None} | stormy])) == []
    (outlier,) = find_outliers(made_jobs([*OTHERS, {"user": None, "uid": 7} | stormy]))
    assert outlier.user == "uid 7"


def test_a_user_without_a_name_stays_apart_from_others_without_one():
    # GIVEN users of whom the number alone is known, and one of whom nothing is
    rows = [{"uid": uid, "stats": 10**7 if uid == 7 else 1} for uid in (5, 6, 7, 8)] + [{}]
    made = [
        {"input": f"/in/{place}", "catalogued_ns": 0, "state": READ, "mounts": [], "duration_s": 1000.0} | row
        for place, row in enumerate(rows)
    ]

    # WHEN
    table = redacted(as_table(made), Redaction("key"))

    # THEN
    users = table["user"].to_pylist()
    assert (len(set(users[:4])), users[4]) == (4, None)
    assert table["uid"].to_pylist() == [None] * 5
    assert not any("uid" in user for user in users[:4])
    (outlier,) = find_outliers(job_table(table))
    assert outlier.user == users[2]
