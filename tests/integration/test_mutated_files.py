"""Whatever a file has in it, one TfdarshanError comes out of the functions that read it, or none."""

import random

import pytest

from tests.integration.read_targets import IMPORTED, MORE, TARGETS, session_of
from tests.integration.tried_verbs import VERBS, run_verb
from tests.mutations import mutate_bytes, mutate_json


@pytest.mark.parametrize("name", TARGETS)
def test_only_our_errors_come_out(name, tmp_path):
    make, count = TARGETS[name]
    make(tmp_path).try_many(name, count)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", TARGETS)
def test_only_our_errors_come_out_of_many(name, tmp_path):
    make, count = TARGETS[name]
    make(tmp_path).try_many(f"long {name}", 40 * count)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("more", [MORE, IMPORTED], ids=["recorded", "imported"])
@pytest.mark.parametrize("kind", ["meta.json", "files.parquet", "events.parquet", "overview.parquet"])
def test_verbs_say_one_sentence(kind, more, tmp_path, capfd):
    # GIVEN
    directory, _ = session_of(tmp_path, more)
    (path,) = directory.glob(f"*.100.{kind}")
    right, mutate = path.read_bytes(), mutate_json if kind == "meta.json" else mutate_bytes
    for number in range(60):
        # WHEN a file is wrong
        path.write_bytes(mutate(right, random.Random(f"{kind} {number}")))
        out = tmp_path / str(number)
        out.mkdir()
        for line in VERBS:
            code, said = run_verb(capfd, line, LOGS=tmp_path / "logs", OUT=out)

            # THEN a verb either does what it is to do or says in one line why not
            assert (code == 0) or (code in (1, 2) and len(said) == 1), (number, line, said)
