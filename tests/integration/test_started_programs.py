"""Programs without Python that a job starts: counted as strace counts them, and as they are without us."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import tfdarshan
from tests.integration.oracle import strace_log
from tests.integration.oracle.rules import differences
from tests.integration.oracle.tally import marker, tally, window

ROOT = Path(__file__).parents[2]
needs_strace = pytest.mark.skipif(
    not strace_log.is_available(), reason="strace is missing, or may not trace here"
)
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
# Sizes no block size divides.
SIZES = {"one": 100_003, "two": 300_007}
# What a job runs, in a folder of its own that holds the two files: by name, and what it needs.
PROGRAMS = {
    "cat": (["cat", "{d}/one", "{d}/two"], ""),
    "cat of its standard input": (["sh", "-c", "cat < {d}/two"], ""),
    "cp": (["cp", "{d}/one", "{d}/copy"], ""),
    "dd": (["dd", "if={d}/one", "of={d}/copy", "bs=1000", "status=none"], ""),
    "dd, synced": (["dd", "if={d}/one", "of={d}/copy", "bs=50000", "conv=fsync", "status=none"], ""),
    "tar": (["tar", "-cf", "{d}/made.tar", "-C", "{d}", "one", "two"], "tar"),
    "a pipeline of dash": (
        ["dash", "-c", "cat {d}/one | tar -cf - -C {d} two | dd of={d}/made status=none"], "dash"),
    "a pipeline of bash": (
        ["bash", "-c", "cat {d}/one | head -c 1000 | cat - {d}/two | tail -c 7 > {d}/made"], "bash"),
    "exec in a shell": (["sh", "-c", "exec cat {d}/one"], ""),
    "env -i": (["env", "-i", "/bin/cat", "{d}/one"], ""),
    "cmp": (["cmp", "{d}/one", "{d}/same"], "cmp"),
    "sort": (["sort", "-o", "{d}/sorted", "{d}/one"], ""),
    "gzip": (["gzip", "-k", "{d}/one"], "gzip"),
    "git": (["git", "hash-object", "{d}/two"], "git"),
    "xargs": (["sh", "-c", "ls {d}/* | xargs -n 1 cat"], "xargs"),
    "find -exec": (["find", "{d}", "-type", "f", "-exec", "cat", "{}", ";"], "find"),
    "python -S": ([sys.executable, "-S", "-c", "open('{d}/one', 'rb', 0).read()"], ""),
    "perl": (["perl", "-e", 'open(F, "<", "{d}/one"); 1 while read(F, $_, 999)'], "perl"),
    "system": (["{tools}/runs", "system", "cat {d}/one; tail -c 7 {d}/two"], "gcc"),
    "popen": (["{tools}/runs", "popen", "cat {d}/one | tail -c 7"], "gcc"),
    "C++ streams": (["{tools}/streams", "{d}/one", "{d}/copy"], "g++"),
    "all descriptors closed": (["{tools}/closes", "{d}/one"], "gcc"),
    **{f"a program that ends by {way}": (["{tools}/ends", way, "{d}/one"], "gcc")
       for way in ("exit", "_exit", "abort", "kill", "exec", "return", "thread")},
}  # fmt: skip
# Files on a descriptor that a program was given: the recorder looks at it once.
INHERITED = {"cat of its standard input": ["two"]}
SOURCES = {
    "streams.cc": """
        #include <fstream>
        #include <string>
        int main(int, char **names)
        {
            std::ifstream in(names[1], std::ios::binary);
            std::ofstream out(names[2], std::ios::binary);
            std::string line;
            while (std::getline(in, line))
                out << line;
        }""",
    "closes.c": """
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <unistd.h>
        int main(int count, char **names)
        {
            char buffer[999];
            closefrom(0);
            int fd = open(names[count - 1], O_RDONLY);
            while (read(fd, buffer, sizeof buffer) > 0)
                ;
            return fd; /* the lowest number there is: nothing of ours is open */
        }""",
    "ends.c": """
        #include <fcntl.h>
        #include <pthread.h>
        #include <signal.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        static void *read_all(void *name)
        {
            char buffer[999];
            int fd = open(name, O_RDONLY);
            while (read(fd, buffer, sizeof buffer) > 0)
                ;
            return 0;
        }
        int main(int count, char **names)
        {
            const char *way = names[1];
            pthread_t thread;
            (void)count;
            if (!strcmp(way, "thread")) {
                pthread_create(&thread, 0, read_all, names[2]);
                pthread_join(thread, 0);
                pthread_exit(0);
            }
            read_all(names[2]);
            if (!strcmp(way, "exit"))
                exit(3);
            if (!strcmp(way, "_exit"))
                _exit(4);
            if (!strcmp(way, "abort"))
                abort();
            if (!strcmp(way, "kill"))
                kill(getpid(), SIGKILL);
            if (!strcmp(way, "exec"))
                execlp("cat", "cat", names[2], (char *)0);
            return 5;
        }""",
    "runs.c": """
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/wait.h>
        int main(int count, char **names)
        {
            char buffer[999];
            size_t bytes;
            if (count == 3 && !strcmp(names[1], "system"))
                return WEXITSTATUS(system(names[2]));
            FILE *stream = popen(names[2], "r");
            while ((bytes = fread(buffer, 1, sizeof buffer, stream)) > 0)
                fwrite(buffer, 1, bytes, stdout);
            return WEXITSTATUS(pclose(stream));
        }""",
    "spawns.c": """
        #include <spawn.h>
        #include <sys/wait.h>
        extern char **environ;
        int main(int count, char **names)
        {
            posix_spawn_file_actions_t actions;
            pid_t child;
            int status = count;
            posix_spawn_file_actions_init(&actions);
            posix_spawn_file_actions_addclose(&actions, 0);
            if (posix_spawn(&child, names[1], &actions, 0, names + 1, environ))
                return 9;
            waitpid(child, &status, 0);
            return WEXITSTATUS(status);
        }""",
    "bare.c": """
        #include <spawn.h>
        #include <sys/wait.h>
        #include <unistd.h>
        int main(int count, char **names)
        {
            pid_t child;
            int status = count;
            names[0] = "cat";
            if (posix_spawn(&child, "/bin/cat", 0, 0, names, 0))
                return 9;
            waitpid(child, &status, 0);
            execve("/bin/cat", names, 0);
            return 9;
        }""",
    "shows.c": """
        #include <stdio.h>
        #include <stdlib.h>
        extern char **environ;
        int main(int count, char **names, char **given)
        {
            (void)count;
            (void)names;
            for (char **variable = given; *variable; variable++)
                puts(*variable);
            for (char **variable = environ; *variable; variable++)
                puts(*variable);
            printf("%s %ld", getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "none", ftell(stdout) * 0);
        }""",
}
JOB = """\
import json, os, signal, subprocess, sys
import tfdarshan

commands, out = json.loads(sys.argv[1]), []
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
def run():
    for command in commands:
        ran = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL)
        out.append((ran.returncode, ran.stdout.decode("latin-1"), ran.stderr.decode("latin-1")))
if sys.argv[2] == "without":
    run()
else:
    with tfdarshan.profile(sys.argv[3], programs=sys.argv[2] == "programs"):
        os.access(sys.argv[4], os.F_OK)
        run()
        os.access(sys.argv[5], os.F_OK)
print(json.dumps(out))
"""


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """A folder of programs made for this, of those that a compiler is here for."""
    folder = tmp_path_factory.mktemp("tools")
    for name, text in SOURCES.items():
        compiler = "g++" if name.endswith(".cc") else "gcc"
        if shutil.which(compiler):
            (folder / name).write_text(textwrap.dedent(text))
            made = folder / Path(name).stem
            subprocess.run([compiler, "-O1", "-pthread", "-o", made, folder / name], check=True)
    return folder


def job_of(commands, mode, logdir):
    edges = [marker("programs", edge) for edge in ("begin", "end")]
    return [sys.executable, "-c", JOB, json.dumps(commands), mode, str(logdir), *edges]


def run_job(commands, mode, logdir, **more):
    """Run a job that starts each command: return the exit code, output and errors of each."""
    ran = subprocess.run(job_of(commands, mode, logdir), capture_output=True, text=True, timeout=200, **more)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not ran.stderr
    return [tuple(one) for one in json.loads(ran.stdout)]


def filled(command, data, tools):
    return [word.replace("{d}", str(data)).replace("{tools}", str(tools)) for word in command]


def make_data(folder):
    folder.mkdir(parents=True)
    for name, size in SIZES.items():
        (folder / name).write_bytes(os.urandom(size))
    shutil.copy(folder / "one", folder / "same")
    return folder


@pytest.fixture(scope="module")
def traced(tmp_path_factory, tools):
    """One job that starts all programs, in a session and under strace; those that are here."""
    home = tmp_path_factory.mktemp("traced")
    here = [name for name, (_, need) in PROGRAMS.items() if not need or shutil.which(need)]
    folders = {name: make_data(home / "data" / str(number)) for number, name in enumerate(here)}
    commands = [filled(PROGRAMS[name][0], folders[name], tools) for name in here]
    command = job_of(commands, "programs", home / "logs")
    done = strace_log.run(command, home / "strace", timeout_s=250)
    assert done.returncode == 0, done.stdout + done.stderr
    calls = window(strace_log.read_calls(home / "strace"), "programs")
    return folders, calls, tfdarshan.open_session(home / "logs")


@needs_strace
@pytest.mark.parametrize("name", PROGRAMS)
def test_counts_are_those_of_strace(traced, name):
    folders, calls, session = traced
    if name not in folders:
        pytest.skip(f"{PROGRAMS[name][1]} is not installed")

    # WHEN what a program did is compared, file by file
    seen = tally(calls, folders[name])
    for file in INHERITED.get(name, ()):
        seen[f"{folders[name]}/{file}"].recorder_stats += 1
        seen[f"{folders[name]}/{file}"].recorder_seeks += 1
    found = differences(name, session.files, seen, folders[name])

    # THEN all of it is in the session
    assert not found, "\n".join(found)
    moved = (file.bytes_read + file.copy_bytes_read + file.bytes_mapped for file in seen.values())
    assert sum(moved) >= min(SIZES.values())


@needs_strace
def test_what_was_recorded_is_named(traced):
    _folders, _calls, session = traced
    owner = session.meta[0]

    recorded = owner["programs"]["recorded"]
    assert owner["programs"]["unseen"] == []
    assert recorded["cat"] > 5
    assert recorded["dd"] >= 2
    assert not [note for note in owner["bounds"] if "could not be recorded" in note]


COMMANDS = {
    "quotes": 'echo "it\'s" \'a \\ b\' $0 $# "$LD_PRELOAD" $((1 + 1)); exit 9',
    "lines": "env\n# it's a comment\ncat <<END\n'\nEND\n",
    "no such program": "no-such-program-here --option",
    "wrong": "echo (",
    "nothing": "",
    "a signal": "kill -9 $$",
}
# What a program can see of how it was started.
VIEWS = {
    "its environment": ["env"],
    "main's third argument": ["{tools}/shows"],
    "bash's view": ["bash", "-c", "env; echo $LD_PRELOAD"],
    "dash's view": ["sh", "-c", "env; echo $LD_PRELOAD"],
    "what its own programs see": ["sh", "-c", "env -i /usr/bin/env; env | sort"],
    "its descriptors": ["sh", "-c", "ls /proc/self/fd; ls /proc/$$/fd"],
    "its signals": ["sh", "-c", "grep -i sig /proc/self/status | grep -v SigQ"],
    "its exit status": ["sh", "-c", "exit 3"],
    "a signal": ["sh", "-c", "kill -9 $$"],
    "errors": ["cat", "/nowhere"],
    "a broken pipe": ["sh", "-c", "cat /dev/zero | head -c 5"],
    "no such program": ["sh", "-c", "no-such-program-here"],
    "a script": ["{tools}/script"],
    "a script without an interpreter": ["sh", "-c", "{tools}/plain"],
    **{f"{how}: {name}": ["{tools}/runs", how, text]
       for how in ("system", "popen") for name, text in COMMANDS.items()},
    **{f"{way}": ["{tools}/ends", way, "{d}/one"] for way in ("exit", "_exit", "abort", "kill", "exec")},
}  # fmt: skip


@needs_gcc
def test_a_program_is_as_without_us(tools, tmp_path):
    # GIVEN programs that print what they see
    for name, head in (("script", "#!/bin/sh\n"), ("plain", "")):
        (tools / name).write_text(f"{head}env; echo $0 $#\n")
        (tools / name).chmod(0o755)
    data = make_data(tmp_path / "data")
    commands = [filled(command, data, tools) for command in VIEWS.values()]

    # WHEN a job starts them in a session that records them, and without one
    environment = {**os.environ, "ENV": ""}
    inside = run_job(commands, "programs", tmp_path / "logs", env=environment)
    outside = run_job(commands, "without", tmp_path / "logs", env=environment)

    # THEN each sees our variable and nothing else; it ends as it did
    variable = "TFDARSHAN_SESSION="
    for name, one, other in zip(VIEWS, inside, outside, strict=True):
        seen = "".join(line for line in one[1].splitlines(True) if not line.startswith(variable))
        without = "".join(line for line in other[1].splitlines(True) if not line.startswith(variable))
        assert (one[0], sorted(seen.splitlines()), one[2]) == (
            other[0], sorted(without.splitlines()), other[2]), name  # fmt: skip
    assert variable in inside[0][1]
    session = tfdarshan.open_session(tmp_path / "logs")
    assert session.meta[0]["programs"]["recorded"]["env"] >= 3
    assert session.meta[0]["programs"]["recorded"]["ends"] == 5


@needs_gcc
def test_libraries_that_are_preloaded_already_stay(tools, tmp_path):
    # GIVEN a library that the job's environment has preloaded
    (tmp_path / "mine.c").write_text("int mine = 1;")
    mine = tmp_path / "libmine.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", mine, tmp_path / "mine.c"], check=True)
    commands = [[str(tools / "shows")], ["sh", "-c", "echo $LD_PRELOAD; grep -c libmine /proc/self/maps"]]

    # WHEN
    environment = {**os.environ, "LD_PRELOAD": str(mine)}
    inside = run_job(commands, "programs", tmp_path / "logs", env=environment)
    outside = run_job(commands, "without", tmp_path / "logs", env=environment)

    # THEN a program has it, and knows of no other
    assert str(mine) in inside[0][1]
    assert "libtfdarshan_programs" not in inside[0][1] + inside[1][1]
    assert inside[1] == outside[1]
    assert inside[1][1].splitlines()[1] != "0"
    session = tfdarshan.open_session(tmp_path / "logs")
    assert session.meta[0]["programs"]["recorded"]["shows"] == 1


def test_programs_are_not_recorded_unless_asked_for(tmp_path):
    data = make_data(tmp_path / "data")

    run_job([["cat", str(data / "one")]], "python alone", tmp_path / "logs")

    session = tfdarshan.open_session(tmp_path / "logs")
    assert not session.files["path"].str.startswith(str(data)).any()
    assert session.meta[0]["programs"]["not_recorded"] == {"cat": 1}


def test_programs_need_children_to_be_followed(tmp_path):
    with pytest.raises(tfdarshan.ConfigurationError, match="follow_children"):
        tfdarshan.profile(tmp_path, programs=True, follow_children=False)


UNSEEN = {
    "static": (["-static"], "statically linked"),
    "sanitized": (["-fsanitize=address"], "built with a sanitizer"),
    "elsewhere": (["-Wl,--dynamic-linker={folder}/loader"], "of another C library or machine"),
}


@needs_gcc
@pytest.mark.parametrize("kind", UNSEEN)
def test_what_cannot_be_recorded_runs_and_is_named(tools, tmp_path, kind):
    # GIVEN a program that takes no library of ours
    flags, why = UNSEEN[kind]
    loader = next(Path("/").glob("lib*/ld-linux-*.so.*"), None)
    if loader is None:
        pytest.skip("the loader is not where it is looked for")
    shutil.copy(loader, tmp_path / "loader")
    program = tmp_path / kind
    command = ["gcc", *(flag.format(folder=tmp_path) for flag in flags), "-o", program, tools / "shows.c"]
    if (
        subprocess.run(command, capture_output=True).returncode
        or subprocess.run([program], capture_output=True).returncode
    ):
        pytest.skip(f"gcc makes no such program here: {' '.join(flags)}")

    # WHEN a job starts it, and so does a shell of the job's
    out = run_job([[str(program)], ["sh", "-c", str(program)]], "programs", tmp_path / "logs")

    # THEN it runs, has not been told of the library, and the session says so
    assert [(code, errors) for code, _, errors in out] == [(0, "")] * 2
    assert not any("LD_PRELOAD" in text or not text.endswith("none 0") for _, text, _ in out)
    session = tfdarshan.open_session(tmp_path / "logs")
    assert session.meta[0]["programs"]["unseen"] == [{"program": str(program), "why": why, "starts": 2}]
    said = f"2 processes that the job started could not be recorded: {program} ({why}, 2 times)"
    assert said in session.meta[0]["bounds"]
    assert said in session.summary(verbose=True)


def test_a_file_in_memory_that_cannot_be_recorded_is_named(tools, tmp_path):
    # GIVEN Python code that becomes a program of no file: one that no loader of this process starts
    program = tmp_path / "static"
    made = ["gcc", "-static", "-o", program, tools / "shows.c"]
    if not shutil.which("gcc") or subprocess.run(made, capture_output=True).returncode:
        pytest.skip("gcc makes no static program here")
    code = (
        "import os; fd = os.memfd_create('of no file', os.MFD_CLOEXEC); "
        f"os.write(fd, open({str(program)!r}, 'rb').read()); os.execve(fd, ['one'], dict(os.environ))"
    )

    # WHEN
    out = run_job([[sys.executable, "-c", code]], "programs", tmp_path / "logs")

    # THEN
    assert (out[0][0], out[0][2]) == (0, "")
    (unseen,) = tfdarshan.open_session(tmp_path / "logs").meta[0]["programs"]["unseen"]
    assert "memfd:of no file" in unseen["program"]
    assert unseen["why"] == "statically linked"


# By what a program is started in a way that leaves it without the library; what is said of it.
UNUSUAL = {
    "a relative path": (["{tools}/spawns", "./cat", "one"],
                        ("./cat", "started by a relative path, with actions that may change the folder")),
    "a large environment": (["env", *(f"V{number}=1" for number in range(4200)), "./cat", "one"],
                            ("./cat", "started with too long an environment or command")),
    "a long command": (["{tools}/runs", "system", "cat one" + " " * 123_000],
                       ("/bin/sh", "started with too long an environment or command")),
    "limited memory": (["sh", "-c", "ulimit -v 200000; exec ./cat one"],
                       ("{d}/cat", "run with limited memory")),
}  # fmt: skip


@needs_gcc
@pytest.mark.parametrize("way", UNUSUAL)
def test_a_program_that_is_left_alone_is_named(tools, tmp_path, way):
    # GIVEN a folder with a program in it, which is the job's own
    data = make_data(tmp_path / "data")
    shutil.copy(shutil.which("cat"), data / "cat")
    command, (program, why) = UNUSUAL[way]

    # WHEN a job starts it
    out = run_job([filled(command, data, tools)], "programs", tmp_path / "logs", cwd=data)

    # THEN it does its work, and the session says that it has not seen it
    assert (out[0][0], len(out[0][1]), out[0][2]) == (0, SIZES["one"], "")
    session = tfdarshan.open_session(tmp_path / "logs")
    expected = {"program": program.replace("{d}", str(data)), "why": why, "starts": 1}
    assert session.meta[0]["programs"]["unseen"] == [expected]
    assert not (session.files["path"] == str(data / "one")).any()


@needs_gcc
def test_no_environment_is_an_empty_one(tools, tmp_path):
    data = make_data(tmp_path / "data")

    # WHEN a program starts others with NULL for their environment
    out = run_job([[str(tools / "bare"), str(data / "one")]], "programs", tmp_path / "logs")

    # THEN they are recorded
    assert (out[0][0], len(out[0][1]), out[0][2]) == (0, 2 * SIZES["one"], "")
    files = tfdarshan.open_session(tmp_path / "logs").files
    read = files[files["path"] == str(data / "one")]
    moved = read["POSIX_BYTES_READ"] + read["TFD_COPY_READ_BYTES"]
    assert moved.tolist() == [SIZES["one"]] * 2


DAEMON = """\
(
  cat {d}/one > {d}/copy
  touch {d}/ready
  while [ ! -e {d}/over ]; do sleep 0.05; done
  cat {d}/two > {d}/late
  env > {d}/environment
  touch {d}/done
) > {d}/out 2>&1 < /dev/null &
while [ ! -e {d}/ready ]; do sleep 0.05; done
"""


def test_a_daemon_outlives_the_session(tmp_path):
    # GIVEN a session in which a shell leaves a program behind that goes on
    data = make_data(tmp_path / "data")
    run_job([["sh", "-c", DAEMON.replace("{d}", str(data))]], "programs", tmp_path / "logs")

    # WHEN that starts programs after the session has ended
    (data / "over").touch()
    until(data / "done")

    # THEN it did all of its work and said nothing, and the session has what came before
    assert (data / "late").read_bytes() == (data / "two").read_bytes()
    assert (data / "out").read_text() == ""
    assert "LD_PRELOAD" not in (data / "environment").read_text()
    files = tfdarshan.open_session(tmp_path / "logs").files
    read = files[files["POSIX_BYTES_READ"] + files["TFD_COPY_READ_BYTES"] > 0]["path"]
    assert str(data / "one") in set(read)
    assert str(data / "two") not in set(read)


def until(path):
    for _ in range(2000):
        if path.exists():
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} did not come")


@pytest.mark.long
def test_a_full_spool_folder_leaves_programs_alone(tmp_path):
    # GIVEN a spool folder of 17 MiB from which nothing can be executed
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=17m,noexec", "tmpfs", folder], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("file systems cannot be mounted here")
    data = make_data(tmp_path / "data")
    try:
        # WHEN more programs run in it at once than it has room for
        many = f"for n in $(seq 150); do (cat {data}/one > /dev/null; sleep 2) & done; wait"
        environment = {**os.environ, "TFDARSHAN_SPOOL_DIR": str(folder)}
        out = run_job([["sh", "-c", many], ["cat", str(data / "two")]], "programs", tmp_path / "logs",
                      env=environment)  # fmt: skip
    finally:
        subprocess.run(["umount", "-l", folder], check=True)

    # THEN all went well, and those that found room are recorded whole
    assert [(code, errors) for code, _, errors in out] == [(0, "")] * 2
    files = tfdarshan.open_session(tmp_path / "logs").files
    read = files[files["path"] == str(data / "one")]
    assert len(read)
    assert (read["POSIX_BYTES_READ"] == SIZES["one"]).all()

    # AND others are named
    unseen = tfdarshan.open_session(tmp_path / "logs").meta[0]["programs"]["unseen"]
    assert {entry["why"] for entry in unseen} == {"could not begin its recording"}


def test_a_run_records_programs(tmp_path):
    # WHEN
    data = make_data(tmp_path / "data")
    script = tmp_path / "script.py"
    script.write_text(f"import subprocess; subprocess.run(['cat', '{data}/one'], stdout=subprocess.DEVNULL)")
    run = [sys.executable, "-m", "tfdarshan", "run", "--programs", "--logdir", tmp_path / "logs", script]
    subprocess.run(run, check=True, capture_output=True)

    # THEN
    files = tfdarshan.open_session(tmp_path / "logs").files
    assert files[files["path"] == str(data / "one")]["POSIX_BYTES_READ"].tolist() == [SIZES["one"]]
