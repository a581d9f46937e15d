"""Summary, findings, tab, report, advice and what-if give the same figure for the same question."""

import pytest

from tests.one_measurement import asked, different
from tests.scenario_sessions import SKETCHES, sketched
from tfdarshan.workloads.scenarios.names import NAMES


def test_every_scenario_has_a_sketch():
    assert set(NAMES) <= set(SKETCHES)


@pytest.mark.long
@pytest.mark.parametrize("name", SKETCHES)
def test_one_question_has_one_answer(name, tmp_path, monkeypatch, capsys):
    # GIVEN a session such as the scenario's
    session = sketched(tmp_path / "logs", SKETCHES[name])

    # WHEN every interface is asked
    answers = asked(session, tmp_path, monkeypatch, capsys)

    # THEN
    assert different(answers) == {}
    assert sum(len(given) > 1 for given in answers.values()) >= 8
