"""Other programs' share of the processors: of a host, of ranks that share one, and where it is said."""

import json

import pytest

from tests.joint_training import MadeUpRank, joint_training
from tests.unit.findings.made_up_training import LOOP, training
from tfdarshan.analysis.ranks.processor_share import others_sentence, others_share
from tfdarshan.session import open_session

SAID = "Other programs took 30.0 % of the processors: time the job on an idle machine."


def process(host, own_cpus, others_cpus, cpus=4.0):
    machine = {"cpus": cpus, "cpu_s": 2 * own_cpus, "others_cpus": others_cpus}
    return {"host": host, "duration_ns": 2_000_000_000, "machine": machine}


@pytest.mark.parametrize(
    ("meta", "share"),
    [
        ([], None),
        ([{"host": "a", "duration_ns": 1}], None),
        ([process("a", 1.0, 1.2)], 0.3),
        ([process("a", 1.0, 0.0)], 0.0),
        # two ranks of a host: each counts the other one among the others
        ([process("a", 1.0, 2.2), process("a", 1.5, 1.7)], 0.175),
        ([process("a", 1.0, 1.5), process("a", 1.5, 1.0)], 0.0),
        # of two hosts the busiest one
        ([process("a", 1.0, 0.4), process("b", 1.0, 1.2)], 0.3),
    ],
)
def test_ranks_are_no_other_programs_to_each_other(meta, share):
    assert others_share(meta) == (None if share is None else pytest.approx(share))


@pytest.mark.parametrize(("share", "said"), [(None, ""), (0.0, ""), (0.09, ""), (0.3, SAID)])
def test_little_is_not_worth_a_word(share, said):
    assert others_sentence(share) == said


@pytest.mark.parametrize("others_cpus", [0.0, 0.6])
def test_the_verdict_says_what_other_programs_took(tmp_path, others_cpus):
    # GIVEN a job whose steps wait, beside other programs
    calls = [(100 * step, 100 * step + 60, LOOP, "pread", 0, 1000) for step in range(20)]
    steps = [(100 * step, 100 * step + 100, 60) for step in range(20)]
    machine = {"cpus": 2, "cpu_s": 0.5, "others_cpus": others_cpus}
    session = training(tmp_path, calls, steps, meta={"machine": machine})

    # THEN
    assert (SAID in session.verdict.notes) is (others_cpus > 0)
    assert (SAID in " ".join(session.summary().split())) is (others_cpus > 0)


def test_ranks_are_no_other_programs_in_a_verdict_either(tmp_path):
    # GIVEN two ranks of a host that take all of its processors
    session = joint_training(tmp_path, [MadeUpRank([[0], [1]] * 10)] * 2)
    for path in session.path.glob("rank-*/*.meta.json"):
        meta = json.loads(path.read_text())
        cpu_s = meta["duration_ns"] / 1e9
        path.write_text(json.dumps(meta | {"machine": {"cpus": 2, "cpu_s": cpu_s, "others_cpus": 1.0}}))

    # THEN nobody else took any
    assert "Other programs" not in str(open_session(session.path).verdict.notes)
