"""Every verb, with typical and with wrong arguments, in the terminals and locales that there are.

Whatever is typed, the exit code is a documented one, nobody sees a traceback, a failure is one sentence, and
a path stands whole in its line.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import tfdarshan
from tests.terminal import OLD_STYLE, in_terminal, sentences
from tfdarshan.commands import COMMANDS
from tfdarshan.commands.exit_codes import BROKEN_PIPE

lmdb = pytest.importorskip("lmdb")

pytestmark = pytest.mark.long

ODD = os.fsdecode(b"odd \xff\xc3\xbc")
FILES = 12
COLUMNS_OF = re.compile(r"(\d+) columns$")
# How a terminal, a pipe or a locale may be; stdout is a terminal where its columns are named.
PLACES = {
    "50 columns": {},
    "200 columns": {},
    "LC_ALL=C": {"LC_ALL": "C", **OLD_STYLE},
    "ascii": {"PYTHONIOENCODING": "ascii", **OLD_STYLE},
    "latin-1": {"LANG": "de_DE.ISO-8859-1", "LC_ALL": "", "PYTHONIOENCODING": "iso-8859-1", **OLD_STYLE},
    "NO_COLOR": {"NO_COLOR": "1"},
    "dumb": {"TERM": "dumb"},
}
# What works, by a name; words in braces are folders and files of the job. It ends with 0 if no code is named.
TYPICAL = {
    "nothing": "",
    "help": "--help",
    "version": "--version",
    "completion": "--print-completion bash",
    "list": "list {logs}",
    "list of an empty folder": "list {empty}",
    "list of damaged sessions": "list {damaged}",
    "list --json": "list --all --json {logs}",
    "summary": "summary {logs}",
    "summary of a name that is not UTF-8": "summary {odd}",
    "summary -v": "summary -v {logs}",
    "summary --json": "summary --json {logs}",
    "findings": "findings {logs}",
    "findings --json": "findings --json {logs}",
    "whatif": "whatif {logs} --fast {fast}",
    "files": "files {logs}",
    "steps": "steps {logs}",
    "files --json": "files --json --limit 0 {logs}",
    "compare": "compare {logs} {odd}",
    "fleet": "fleet {logs} {damaged} {odd} --catalogue {out}/catalogue",
    "lmdb info": "lmdb info {database}",
    "lmdb verify": "lmdb verify {database}",
    "report": "report {logs} -o {out}/report.html --force",
    "export --darshan": "export --darshan {out}/log.darshan --force {logs}",
    "export --trace": "export --trace {out}/trace.json --force {logs}",
    "export --parquet": "export --parquet {out}/tables --force {logs}",
    "import": "import {log} --logdir {out}/imported",
    "rebuild of an empty folder": "rebuild {empty}",
    "recover of an empty folder": "recover {empty}",
    "advise": "advise --logdir {logs} --fast {fast}",
    "stage --dry-run": "stage apply {plan} --dry-run",
    "stage verify": "stage verify {plan}",
    "burst status of no tier: 1": "burst status {empty}",
    "workload list": "workload list",
    "run": "run --logdir {out}/run {script}",
    "doctor": "doctor",
}
READERS = ("summary", "findings", "whatif", "files")
# What does not work: the exit code, what was typed, and a part of the sentence that says why.
WRONG = (
    (2, "lost", "did you mean list?"),
    (2, "compare", "required: LOGDIR"),
    # Where there is no folder of that name.
    *((1, verb, "logs") for verb in ("list", "rebuild", "recover", "summary", "files")),
    (2, "list {logs} --colour", "unrecognized arguments: --colour"),
    *((1, f"{verb} {{missing}}", "there is no logdir") for verb in ("list", "rebuild", "recover")),
    *((1, f"{verb} {{missing}}", "{missing}") for verb in READERS),
    *((1, f"{verb} {{empty}}", "there is no session in") for verb in READERS),
    *((1, f"{verb} {{damaged}}", "is damaged") for verb in READERS),
    *((1, f"{verb} {{foreign}}", "{foreign}") for verb in ("list", "rebuild", *READERS)),
    *((1, f"{verb} {{closed}}", "Permission denied") for verb in ("list", "recover", "rebuild", *READERS)),
    (2, "summary {logs} --top many", "invalid int value: 'many'"),
    (2, "files {logs} --sort colour", "there is no column colour"),
    (2, "files {logs} --limit -1", "--limit must be at least 0"),
    (2, "whatif {logs} --threads none", "none"),
    (1, "mcp {missing}", "there is no logdir"),
    (1, "view {missing}", "there is no logdir"),
    (2, "view {logs} --port 65536", "--port must be from 0 to 65535, not 65536"),
    (1, "steps {missing}", "{missing}"),
    (2, "compare {logs}", "compare needs two"),
    (2, "compare {logs} {missing}", "{missing}"),
    (2, "compare {logs} {closed}/logs", "cannot be used: Permission denied"),
    (2, "compare {logs} {odd} --fail-if colour", "colour"),
    (1, "fleet {missing} --catalogue {out}/catalogue", "{missing} cannot be read"),
    (1, "fleet {closed} --catalogue {out}/catalogue", "Permission denied"),
    (1, "lmdb info {missing}", "the LMDB file {missing} cannot be opened"),
    (1, "lmdb verify {foreign}", "{foreign} is not an LMDB data file"),
    (1, "report {missing} -o {out}/r.html", "{missing}"),
    (1, "report {logs} -o {missing}/r.html", "{missing}"),
    (1, "report {logs} -o {pipe} --force", "{pipe} cannot be written: it is a device, a pipe or a socket"),
    (1, "export --darshan {missing}/x.darshan {logs}", "{missing}"),
    (1, "export --trace {pipe} --force {logs}", "{pipe} cannot be written"),
    (2, "export {logs}", "one of the arguments"),
    (1, "import {foreign} --logdir {out}/x", "{foreign}"),
    (1, "import {missing} --logdir {out}/x", "{missing}"),
    (2, "advise --logdir {logs}", "advise needs --fast DIR"),
    (1, "advise --logdir {missing} --fast {fast}", "{missing}"),
    (2, "advise --logdir {logs} --fast {fast} --capacity lots", "lots"),
    (2, "advise --logdir {logs} --fast {fast} --epochs 0", "--epochs is how many"),
    (2, "stage apply {missing}", "{missing}"),
    (2, "stage apply {foreign}", "{foreign}"),
    (2, "stage apply {plan} --threads 0", "--threads must be at least 1"),
    (2, "burst drain {missing} {out}/slow", "{missing}"),
    (1, "burst status {missing}", "{missing}"),
    (1, "probe {missing}", "{missing}"),
    (2, "run", "run needs a script"),
    (2, "run {missing}", "cannot be read"),
    (2, "run -m no_such_module_", "there is no module no_such_module_"),
    (2, "run --include", "expected one argument"),
    (2, "run --memory-cap-mb 1 {script}", "memory_cap_mb must be a whole number of MiB"),
    (2, "run --as-if tape {script}", "tape"),
    (0, "run --logdir {foreign} {script}", "{foreign}"),
    (2, "workload run nonsense", "nonsense"),
    (2, "doctor --engine nonsense", "nonsense"),
)  # fmt: skip


@dataclass(frozen=True)
class Job:
    """A job's session and what stands around it, by the words that the commands above have in braces."""

    places: dict[str, Path]
    # Paths that are printed: where a line ends, they do.
    paths: tuple[str, ...]

    def words(self, typed: str) -> list[str]:
        return [word.format(**self.places) for word in typed.split()]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Job]:
    top = tmp_path_factory.mktemp("a_folder_of_a_job")
    names = ("logs", "empty", "damaged", "out", "fast", "closed", "missing")
    places = {name: top / f"the_{name}_of_the_job" for name in names}
    places |= {"odd": top / ODD, "foreign": top / "foreign.txt", "script": top / "script.py"}
    places |= {
        "pipe": top / "pipe",
        "plan": top / "plan.json",
        "log": top / "job.darshan",
        "data": top / "data_of_the_job",
        "database": top / "database",
    }
    for name in ("empty", "out", "fast", "closed", "data"):
        places[name].mkdir()
    os.mkfifo(places["pipe"])
    places["foreign"].write_text("nothing of ours\n")
    places["script"].write_text("with open(__file__) as file:\n    file.read()\n")
    files = [places["data"] / f"file_number_{number:02}.bin" for number in range(FILES)]
    files.append(places["data"] / ODD)
    for path in files:
        path.write_bytes(bytes(20_000))
    with (
        lmdb.open(str(places["database"]), map_size=1 << 20) as database,
        database.begin(write=True) as write,
    ):
        write.put(b"key", b"value")
    for name in ("logs", "odd"):
        with tfdarshan.profile(places[name], engine="builtin", tf_profiler=False):
            for path in files:
                path.read_bytes()
    session = tfdarshan.open_session(places["logs"]).path
    shutil.copytree(places["logs"], places["damaged"])
    for path in places["damaged"].rglob("*.meta.json"):
        path.write_text(path.read_text()[:100])
    found = Job(places, (*map(str, files[:FILES]), str(session), *map(str, places.values())))
    for typed in ("export --darshan {log} {logs}", "advise --logdir {logs} --fast {fast} -o {plan} --all"):
        done = tfdarshan_says(found.words(typed))
        assert done.returncode == 0, done.stderr
    if os.geteuid() == 0:
        os.chown(places["closed"], 65534, 65534)
    places["closed"].chmod(0o700 if os.geteuid() == 0 else 0)
    yield found
    places["closed"].chmod(0o700)


def bound(words: list[str], *, allowed: bool) -> list[str]:
    """Return the whole command; if not `allowed`, one that permissions bind even as root."""
    setpriv = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
    return [*([] if allowed or os.geteuid() else setpriv), sys.executable, "-m", "tfdarshan", *words]


def tfdarshan_says(words, environment=None, *, allowed=True, **streams):
    """Run the command; if not `allowed`, as somebody whom permissions bind, even as root."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL} | streams
    return subprocess.run(
        bound(words, allowed=allowed),
        env={**os.environ, **(environment or {})}, check=False, timeout=120, **streams,
    )  # fmt: skip


def said_at(place: str, words: list[str], *, allowed: bool = True) -> subprocess.CompletedProcess[bytes]:
    """Run the command in such a place."""
    columns = COLUMNS_OF.match(place)
    if columns is None:
        return tfdarshan_says(words, PLACES[place], allowed=allowed)
    return in_terminal(bound(words, allowed=allowed), int(columns[1]), PLACES[place]).completed


def check_whole_paths(job: Job, said: str) -> None:
    """No line ends within a path, and so none begins within one."""
    ends = {
        path[:length]
        for path in job.paths
        for length in range(len(str(job.places["logs"].parent)) + 2, len(path))
    }
    folders = {str(folder) for path in job.paths for folder in Path(path).parents} | set(job.paths)
    cut = [line for line in said.splitlines() if line.split(" ")[-1] in ends - folders]
    assert cut == []


def check_failure(job: Job, done, code: int, why: str) -> None:
    said = sentences(done.stderr)
    assert done.returncode == code, said
    assert len(said) == 1, said
    assert said[0].startswith("tfdarshan")
    assert why.format(**job.places) in said[0]


def test_every_verb_is_tried():
    typed = [*TYPICAL.values(), *(words for _, words, _ in WRONG)]
    # mcp and view wait for questions.
    typical = {words.split()[0] for words in TYPICAL.values() if words}
    assert set(COMMANDS) - {"probe", "mcp", "view"} <= typical
    assert set(COMMANDS) - {"probe"} <= {words.split()[0] for words in typed if words}


@pytest.mark.parametrize("name", TYPICAL)
@pytest.mark.parametrize("place", PLACES)
def test_what_works_works_everywhere(job, name, place):
    done = said_at(place, job.words(TYPICAL[name]))

    code = int(name.partition(": ")[2] or 0)
    assert done.returncode == code, done.stderr
    said = sentences(done.stderr)
    assert code or all(line.startswith("tfdarshan: ") for line in said)
    # What cannot be written is escaped.
    text = done.stdout.decode("utf-8", "backslashreplace")
    check_whole_paths(job, text + "\n".join(said))
    if "--json" in name:
        json.loads(text)


# More that a test in development mode types: what writes, measures, or takes a while.
WRITING = {
    "stage apply": "stage apply {plan}",
    "stage undo": "stage undo {plan}",
    "rebuild": "rebuild {logs}",
    "report of two": "report {logs} {odd} -o {out}/reports --force",
    "workload run": "workload run malware --quick --files 4 --tier shm --work-dir {out}/workloads",
    "lmdb bench": "lmdb bench {database}",
    "probe": "probe {data} --seconds 1",
}


@pytest.mark.parametrize("name", [*TYPICAL, *WRITING])
def test_development_mode_warns_of_nothing(job, name):
    # WHEN Python and all that it starts warn of files left open and of what is not portable
    done = tfdarshan_says(job.words({**TYPICAL, **WRITING}[name]), {"PYTHONDEVMODE": "1"})

    # THEN
    assert [line for line in sentences(done.stderr) if "Warning" in line] == []


@pytest.mark.parametrize("place", PLACES)
def test_a_probe_works_everywhere_or_says_why_not(job, place):
    # Whether memory has the files is not ours to say.
    done = said_at(place, job.words("probe {data} --seconds 1"))

    said = sentences(done.stderr)
    assert (done.returncode, len(said)) in ((0, 0), (1, 1)), said
    assert bool(done.stdout) == (done.returncode == 0)


@pytest.mark.parametrize(("code", "typed", "why"), WRONG, ids=[typed for _, typed, _ in WRONG])
@pytest.mark.parametrize("place", ["50 columns", "ascii"])
def test_what_is_wrong_is_one_sentence(job, code, typed, why, place):
    allowed = "{closed}" not in typed
    if not allowed and shutil.which("setpriv") is None:
        pytest.skip("needs setpriv of util-linux")
    done = said_at(place, job.words(typed), allowed=allowed)

    assert done.stdout == b""
    check_failure(job, done, code, why)


@pytest.mark.parametrize("name", TYPICAL)
def test_a_full_disk_is_one_sentence(job, name):
    # GIVEN a verb whose output goes to a file on a device that is full
    with open("/dev/full", "wb") as full:
        done = tfdarshan_says(job.words(TYPICAL[name]), stdout=full)

    said = sentences(done.stderr)
    code = int(name.partition(": ")[2] or 0)
    if name.startswith(("run", "burst")):  # which write nothing on stdout
        assert done.returncode == code, said
        return
    # 1 would be that a condition of a comparison holds.
    assert done.returncode == (2 if name.startswith("compare") else 1), said
    assert said[-1] == "tfdarshan: the output cannot be written: No space left on device."


@pytest.mark.parametrize("name", TYPICAL)
def test_a_pipe_that_nobody_reads_is_quiet(job, name):
    # GIVEN a reader that has gone, as `| head -1` has
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = tfdarshan_says(job.words(TYPICAL[name]), stdout=writing)
    finally:
        os.close(writing)

    assert done.returncode in (BROKEN_PIPE, int(name.partition(": ")[2] or 0))
    sentences(done.stderr)


@pytest.mark.parametrize("name", TYPICAL)
def test_streams_that_are_closed_change_nothing(job, name):
    # GIVEN neither stdin nor stdout
    words = [sys.executable, "-m", "tfdarshan", *job.words(TYPICAL[name])]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&- >&-', "sh", *words],
        stderr=subprocess.PIPE, check=False, timeout=120,
    )  # fmt: skip

    assert done.returncode == int(name.partition(": ")[2] or 0), done.stderr
    sentences(done.stderr)
