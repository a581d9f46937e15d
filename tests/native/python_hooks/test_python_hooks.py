"""Every hook is proved by one known call, and a hook that is wrong is found out."""

import pytest

from tfdarshan.doctor import hook_proof
from tfdarshan.doctor.hook_proof import FAILED, MISSING, OK
from tfdarshan.native import _bridge


def test_every_hook_has_a_probe():
    probes = hook_proof._probes()
    assert sorted(probes) == sorted(hook.name for hook in _bridge.hooks())


def test_every_hook_is_proved():
    proofs = hook_proof.prove_hooks()
    assert [proof for proof in proofs if proof.state not in (OK, MISSING)] == []
    assert [proof.hook for proof in proofs] == [hook.name for hook in _bridge.hooks()]
    available = {hook.name for hook in _bridge.hooks() if hook.available}
    assert {proof.hook for proof in proofs if proof.state == OK} == available
    assert all(proof.slots > 0 for proof in proofs if proof.state == OK)


def proof_of(name, folder):
    index, hook = next((i, hook) for i, hook in enumerate(_bridge.hooks()) if hook.name == name)
    return hook_proof._proof(index, hook, hook_proof._probes()[name], folder)


def test_missing_event_is_found_out(tmp_path, monkeypatch):
    # GIVEN a recorder that loses what was recorded
    monkeypatch.setattr(hook_proof, "_events", lambda spool: ())

    # WHEN
    proof = proof_of("pread", tmp_path)

    # THEN
    assert proof.state == FAILED
    assert proof.finding == f"recorded nothing instead of pread of 100 bytes at 7 in {tmp_path}/pread"


@pytest.mark.parametrize(
    ("changed", "finding"),
    [
        ({"slots": 0}, "no slot was patched"),
        ({"slots_restored": 1}, "still patched"),
        ({"slots_left": 2}, "2 slots still patched"),
        ({"call": hook_proof.Call(False, 5, ())}, "the call failed while attached (Input/output error)"),
        ({"call": hook_proof.Call(True, 5, ())}, "errno is 5 after the call instead of 18"),
    ],
)
def test_each_defect_has_its_sentence(changed, finding):
    good = {"call": hook_proof.Call(True, 18, ()), "slots": 1, "slots_patched": 9, "slots_restored": 9}
    trial = hook_proof.Trial(**{**good, "slots_left": 0, "events": (), **changed})
    assert finding in hook_proof._problem(trial, hook_proof.Call(True, 18, ()), [])


def test_wrong_event_is_found_out():
    wanted = hook_proof.Event("read", 0, 0, 10, "/a")
    assert wanted.matches(wanted)
    for wrong in (
        hook_proof.Event("pread", 0, 0, 10, "/a"),
        hook_proof.Event("read", 5, 0, 10, "/a"),
        hook_proof.Event("read", 0, 1, 10, "/a"),
        hook_proof.Event("read", 0, 0, 11, "/a"),
        hook_proof.Event("read", 0, 0, 10, "/b"),
    ):
        assert not wrong.matches(wanted)
