"""Fixes of a job whose batches come from a DataLoader are typed with that."""

from tests.unit.findings.made_up_loaders import loader_job
from tfdarshan.replay.session_facts import facts_of

NOW = "DataLoader(dataset, batch_size=4, shuffle=True, num_workers=2)"


def test_fixes_are_typed_with_the_loader_and_never_with_tf_data(tmp_path):
    # GIVEN two workers that the loop waits for
    session = loader_job(tmp_path, fetch_ms=(40, 40))

    # WHEN
    cures = [finding.cure for finding in session.findings if finding.cure is not None]

    # THEN
    assert f"loader = {NOW}" in [cure.instead_of for cure in cures]
    assert [cure for cure in cures if "tf.data" in f"{cure.what}{cure.line}{cure.instead_of}"] == []
    assert "tf.data" not in session.summary(verbose=True)


def test_the_replay_model_has_the_workers_that_the_loader_declares(tmp_path):
    # THEN
    pipeline = facts_of(loader_job(tmp_path)).pipeline
    assert (pipeline.readers, pipeline.declared_readers, pipeline.prefetch) == (2.0, 2, 4)
    assert pipeline.framework
    assert not pipeline.python


def test_a_loop_without_workers_reads_by_itself(tmp_path):
    # THEN
    pipeline = facts_of(loader_job(tmp_path, workers=0, prefetch_factor=0)).pipeline
    assert (pipeline.declared_readers, pipeline.prefetch, pipeline.python) == (None, 0, True)
