"""The words for programs that a job started and that were not recorded."""

from typing import Any

from tfdarshan.analysis.files.unrecorded_programs import UnrecordedPrograms, unrecorded_programs


def test_the_most_frequent_are_named():
    starts = {"cp": 1, "tar": 2_000, "dd": 3, "cat": 1, "rg": 1}

    assert UnrecordedPrograms(starts).words == "tar (2,000 times), dd (3 times), cat, cp, 1 more"


def test_a_full_list_is_a_lower_bound():
    meta = {"programs": {"not_recorded": {"cp": 4_000}, "list_full": True}}

    assert unrecorded_programs([meta]).words == "cp (at least 4,000 times)"


def test_ranks_add_up():
    metas: list[dict[str, Any]] = [
        {"programs": {"not_recorded": {"cp": 1}, "not_waited_for": 1}},
        {},
        {"programs": {}},
    ]

    assert unrecorded_programs([*metas, *metas]) == UnrecordedPrograms({"cp": 2}, not_waited_for=2)


def test_what_is_said():
    assert UnrecordedPrograms().sentences == []
    assert UnrecordedPrograms({"cp": 1, "tar": 1}, 2).sentences == [
        "Programs that were not recorded: cp, tar. Record them with `--programs`.",
        "The kernel's count may lack 2 programs that the job had not waited for.",
    ]
