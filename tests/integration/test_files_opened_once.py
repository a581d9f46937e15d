"""The kernel sees each rank's table of files opened once, whatever is asked; strace counts."""

import re
import subprocess
import sys
from collections import Counter

import pytest

from tests.joint_training import MadeUpRank, joint_training

RANKS = 3
OPENED = re.compile(r'open(?:at)?\(.*"([^"]+\.files\.parquet)", [^)]*\) += \d+$', re.MULTILINE)


@pytest.mark.parametrize(
    "words",
    [["findings"], ["summary", "--json"], ["whatif"], ["report", "-o", "OUT.html"]],
    ids=lambda w: w[0],
)
def test_each_rank_s_table_is_opened_once(tmp_path, words):
    # GIVEN
    dealt = [[[2 * step + rank, step] for step in range(8)] for rank in range(RANKS)]
    session = joint_training(tmp_path / "logs", [MadeUpRank(files) for files in dealt])
    log = tmp_path / "strace.log"
    verb = [word.replace("OUT", str(tmp_path / "out")) for word in words]

    # WHEN
    trace = ["strace", "-f", "--seccomp-bpf", "-s", "4096", "-e", "trace=open,openat", "-o", str(log)]
    command = [sys.executable, "-m", "tfdarshan", *verb, str(session.path)]
    subprocess.run([*trace, *command], check=True, stdout=subprocess.DEVNULL)

    # THEN
    opened = Counter(OPENED.findall(log.read_text()))
    tables = {str(path) for path in session.path.rglob("*.files.parquet")}
    assert (set(opened), len(tables)) == (tables, RANKS)
    # The advice of a report asks the newest session's model.
    assert set(opened.values()) <= ({1, 2} if words[0] == "report" else {1})
