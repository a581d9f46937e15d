import json

import pytest

import tfdarshan
from tfdarshan.checkpoint.interval_cost import interval_costs, interval_sentence
from tfdarshan.checkpoint.ledger import CheckpointRow, Ledger, ledger_path, read_ledger


@pytest.fixture
def ledger(tmp_path):
    for tier in ("fast", "slow"):
        ledger_path(tmp_path / tier).parent.mkdir(parents=True)
    return Ledger(tmp_path / "fast", tmp_path / "slow", clock=lambda: 7.0)


def test_events_add_up_to_one_row(tmp_path, ledger):
    # GIVEN a save that returned after its checkpoint was durable
    ledger.record("fast_durable", "a", checkpoint="ckpt-1", size_bytes=10, fast_durable_at=2.0)
    ledger.record("slow_durable", "a", target="ckpt-1", slow_durable_at=3.0, tries=2)
    ledger.record("saved", "a", step=20, saved_at=1.0, blocked_s=0.5)
    ledger.record("skipped", "b", step=40, saved_at=4.0)

    # WHEN
    rows = read_ledger(ledger_path(tmp_path / "fast"))

    # THEN
    assert [(row.outcome, row.step) for row in rows] == [("slow_durable", 20), ("skipped", 40)]
    assert rows[0] == CheckpointRow(
        id="a",
        checkpoint="ckpt-1",
        target="ckpt-1",
        step=20,
        outcome="slow_durable",
        saved_at=1.0,
        blocked_s=0.5,
        size_bytes=10,
        fast_durable_at=2.0,
        slow_durable_at=3.0,
        tries=2,
    )
    # and the slow tier's ledger has that one alone, once what came late is written, too
    assert read_ledger(ledger_path(tmp_path / "slow"))[0].blocked_s is None
    ledger.flush()
    assert read_ledger(ledger_path(tmp_path / "slow")) == rows[:1]


def test_a_line_that_a_crash_cut_short_is_left_out(tmp_path, ledger):
    ledger.record("saved", "a", saved_at=1.0)
    with ledger_path(tmp_path / "fast").open("a") as file:
        file.write('{"event": "saved", "id"')

    assert [row.id for row in read_ledger(ledger_path(tmp_path / "fast"))] == ["a"]


def test_a_ledger_that_cannot_be_written_stops_nothing(tmp_path):
    ledger = Ledger(tmp_path / "fast", tmp_path / "missing")
    ledger_path(tmp_path / "fast").parent.mkdir(parents=True)

    for event in ("saved", "slow_durable"):
        ledger.record(event, "a")

    assert [row.id for row in read_ledger(ledger_path(tmp_path / "fast"))] == ["a"]


def test_a_session_that_records_has_the_events_too(tmp_path, ledger):
    # GIVEN
    with tfdarshan.profile(tmp_path / "logs") as session:
        ledger.record("saved", "a", saved_at=1.0)
    # WHEN it becomes durable after the session
    ledger.record("slow_durable", "a", slow_durable_at=3.0)
    ledger.record("saved", "b", saved_at=4.0)

    # THEN
    (path,) = session.path.glob("*.checkpoints.jsonl")
    assert [(row.id, row.slow_durable_at) for row in read_ledger(path)] == [("a", 3.0)]
    assert session.summary()


def saves(steps, blocked_s, step_s, count):
    times = [number * (steps * step_s + blocked_s) for number in range(count)]
    return [
        CheckpointRow(id=str(number), step=number * steps, saved_at=at, blocked_s=blocked_s)
        for number, at in enumerate(times)
    ]


def test_cost_of_other_intervals():
    # GIVEN 20 steps of 0.1 s and 0.5 s of waiting: 0.5 of 2.5 s
    costs = interval_costs(saves(20, 0.5, 0.1, 5), factors=(1, 2.5))

    assert [(cost.interval_steps, cost.measured) for cost in costs] == [(20, True), (50, False)]
    assert [cost.cost_ratio for cost in costs] == pytest.approx([0.2, 0.5 / 5.5])
    assert interval_sentence(costs) == "every 20 steps costs 20.0 % of run time; every 50, 9.1 %"


def test_a_cost_that_is_small_is_not_none():
    costs = interval_costs(saves(2_000, 0.01, 0.1, 5), factors=(1,))

    assert interval_sentence(costs) == "every 2,000 steps costs < 0.1 % of run time"


def test_one_step_is_a_step():
    costs = interval_costs(saves(1, 0.1, 0.1, 5), factors=(1,))

    assert interval_sentence(costs) == "every step costs 50.0 % of run time"


def test_no_cost_from_too_little():
    assert interval_costs(saves(20, 0.5, 0.1, 2)) == []
    assert interval_costs([CheckpointRow(id="a")] * 5) == []
    assert interval_sentence([]) == ""


def test_lines_are_json_with_event_and_time(tmp_path, ledger):
    ledger.record("saved", "a", saved_at=1.0)

    (line,) = ledger_path(tmp_path / "fast").read_text().splitlines()
    assert json.loads(line) == {"event": "saved", "at": 7.0, "id": "a", "saved_at": 1.0}
