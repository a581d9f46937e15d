"""What `print()` shows of a diagnosis: the sentences, not the fields."""

from tests.unit.findings.made_up_training import LOOP, training


def test_the_verdict_and_each_finding_print_as_their_sentences(tmp_path):
    # GIVEN a session of 20 steps of 100 ms, of which its own reads take 60
    calls = [(100 * step, 100 * step + 60, LOOP, "pread", 0, 1000) for step in range(20)]
    session = training(tmp_path, calls, [(100 * step, 100 * step + 100, 60) for step in range(20)])

    # WHEN what was found is printed
    found = session.findings

    # THEN it is what a person reads
    assert str(session.verdict) == session.verdict.sentence
    assert found.findings
    assert [str(one) for one in found.findings] == [f"{one.name}: {one.what}" for one in found.findings]
    assert [str(one) for one in found.unknown] == [f"{one.name}: {one.why}" for one in found.unknown]
