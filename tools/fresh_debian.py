"""Runs the README's commands on fresh Debian machines: minimal roots that nothing was ever installed in.

For each suite it makes a root with python3, gcc and make, or with the packages that are named, clones the
committed HEAD into it, and runs the commands there with an empty environment. Mounts and processes are in
namespaces of their own, so none of them outlives a run, however it ends. The root reaches packages the way
this machine does: it takes over apt's mirrors, pip's configuration, proxies and certificates.
"""

import argparse
import configparser
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

SUITES = ("bookworm", "trixie")
COMMAND = "make demo && make test"
PACKAGES = ("python3", "gcc", "make", "ca-certificates")
PROGRAMS = (
    "mmdebstrap",
    "git",
    "unshare",
    "mount",
    "umount",
    "pivot_root",
    "setpriv",
    "apt-get",
    "apt-config",
)

REPOSITORY = Path(__file__).resolve().parent.parent
CLONE = "/root/tfdarshan"
SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
# What a fresh machine keeps of the environment: how the network is reached, and nothing else.
KEPT = re.compile(rf"TERM|(https?|ftp|all|no)_proxy|PIP_.*|{'|'.join(CERTIFICATES)}", re.I)
# apt's settings that say how packages are reached.
APT_SETTINGS = ("http", "https", "ForceIPv4", "ForceIPv6", "Retries", "Check-Valid-Until", "Check-Date")
# Files that say how packages and names are reached, where this machine has them.
COPIED = (
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/pip.conf",
    "/etc/xdg/pip/pip.conf",
    "/etc/apt/auth.conf",
    "/etc/apt/auth.conf.d",
    "/usr/local/share/ca-certificates",
)
# pip's settings that may name files of this machine on the way to packages.
PIP_SOURCES = ("cert", "client-cert", "constraint", "extra-index-url", "find-links", "index-url")
USER_PIP_FILES = (".pip/pip.conf", ".config/pip/pip.conf")

# Makes the folder $1 the root of this mount namespace, as a container runtime does, and runs the rest there.
ENTER = """
set -e
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount --rbind /sys sys
mount --bind /dev dev
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
while [ "$2" != -- ]; do mount --bind -o ro "$2" ".$2"; shift; done
shift 2
pivot_root . .
umount -l .
cd /
exec "$@"
"""


# They end with this process, even if it is killed.
NAMESPACES = (
    "setpriv",
    "--pdeathsig",
    "KILL",
    "unshare",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
)


class RefusedError(Exception):
    """What keeps a run from starting, or a root from being made; one sentence."""


# ---- what this machine is configured with ----


def mirrors(host: str, suite: str, targets: str) -> list[str]:
    """Return apt's source lines for `suite`, from those this machine has for its own suite `host`.

    Args:
        host: the suite of this machine; empty where it is not Debian
        suite: the suite that is wanted
        targets: a line for each index of this machine: repository, suite, component
    """
    names = (host, "stable") if host else ()
    lines = []
    for target in targets.splitlines():
        repository, release, component = target.split()[:3]
        name, _, pocket = release.partition("-")
        if component == "main" and name in names and pocket in ("", "updates", "security"):
            lines.append(f"deb {repository} {suite}{'-' if pocket else ''}{pocket} main")
    if not lines:
        raise RefusedError(f"apt has no mirror of Debian here; name one with --mirror, for {suite}")
    return sorted(set(lines))


def configured_mirrors(suite: str) -> list[str]:
    """Return apt's source lines for `suite` on the mirrors that this machine uses."""
    release = dict(
        line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line
    )
    form = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
    host = release.get("VERSION_CODENAME", "").strip('"') if release.get("ID") == "debian" else ""
    return mirrors(host, suite, output("apt-get", "indextargets", "--format", form, "Created-By: Packages"))


def apt_settings() -> str:
    """Return apt's settings on how packages are reached, as a configuration file holds them."""
    return "".join(output("apt-config", "dump", f"Acquire::{name}") for name in APT_SETTINGS)


def pip_files(environment: Mapping[str, str], home: Path) -> list[Path]:
    """Return pip's own configuration files of this user."""
    named = [home / name for name in USER_PIP_FILES]
    if "PIP_CONFIG_FILE" in environment:
        named.append(Path(environment["PIP_CONFIG_FILE"]))
    return [path for path in named if path.is_file()]


def pip_values(files: list[Path], environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the settings of pip, named as in its files, one for each word of a value."""
    for path in files:
        parser = configparser.RawConfigParser()
        parser.read(path)
        for section in parser.sections():
            yield from ((name, word) for name, value in parser.items(section) for word in value.split())
    for variable, value in environment.items():
        if variable.upper().startswith("PIP_"):
            name = variable[len("PIP_") :].lower().replace("_", "-")
            yield from ((name, word) for word in value.split())
        elif variable in CERTIFICATES:
            yield "cert", value


def local_paths(settings: Iterator[tuple[str, str]]) -> list[Path]:
    """Return the folders and files of this machine that pip's settings name."""
    paths = set()
    for name, value in settings:
        path = Path(value.removeprefix("file://"))
        if name in PIP_SOURCES and path.is_absolute() and path.exists():
            # The pages of an index name files beside it.
            paths.add(path.parent if name.endswith("index-url") and path.parent != Path("/") else path)
    return sorted(paths)


def kept_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what a fresh machine has set: where programs are, and how this machine reaches the network."""
    kept = {name: value for name, value in environment.items() if KEPT.fullmatch(name)}
    kept.pop("PIP_CONFIG_FILE", None)
    return {**kept, "HOME": "/root", "PATH": SEARCH_PATH}


# ---- one root, in namespaces of its own ----


def make_root(root: Path, suite: str, sources: list[str], packages: Sequence[str]) -> None:
    """Make a minimal Debian with some packages."""
    include = f"--include={','.join(packages)}"
    run("mmdebstrap", "--quiet", "--variant=minbase", include, suite, str(root), *sources)


def take_over(root: Path, environment: Mapping[str, str], home: Path) -> list[Path]:
    """Give the root this machine's ways to names and packages; return what of its files it is to see."""
    for name in COPIED:
        copy(Path(name), root / name.lstrip("/"))
    files = pip_files(environment, home)
    for path in files:
        # pip reads both places of a user; $PIP_CONFIG_FILE, which comes last, overrides them there too.
        kept = path.relative_to(home) if path.is_relative_to(home) else Path(".pip/pip.conf")
        copy(path, root / "root" / kept)
    (root / "etc/apt/apt.conf.d/99machine").write_text(apt_settings())
    run("chroot", str(root), "update-ca-certificates")
    system = [Path(name) for name in COPIED if name.endswith("pip.conf")]
    return bound(root, local_paths(pip_values([*system, *files], environment)))


def copy(source: Path, target: Path) -> None:
    """Copy a file or a folder, where there is one."""
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    elif source.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        shutil.copyfile(source, target)


def bound(root: Path, paths: list[Path]) -> list[Path]:
    """Make places for what the root lacks of the paths; return these."""
    lacking = [path for path in paths if not (root / path.relative_to("/")).exists()]
    for path in lacking:
        place = root / path.relative_to("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.mkdir() if path.is_dir() else place.touch()
    return lacking


def clone(root: Path) -> None:
    """Clone what is committed."""
    # Through a URL: a path would link the objects of this repository.
    run("git", "clone", "--quiet", "--depth", "1", REPOSITORY.as_uri(), str(root / CLONE.lstrip("/")))


def inside(root: Path, options: argparse.Namespace) -> NoReturn:
    """Make the root and become the command in it; for a process in namespaces of its own."""
    suite, command = options.suite[0], options.command
    # What is mounted on the way goes with the namespace.
    make_root(root, suite, options.mirror, options.package)
    mounted = take_over(root, os.environ, Path.home())
    clone(root)
    # After the clone, which takes an empty folder: this repository may lie where the clone does.
    mounted += bound(root, options.bind)
    say(f"{suite}: a minimal root with {', '.join(options.package)}; running: {command}")
    place = ["sh", "-c", ENTER, "sh", str(root), *map(str, mounted), "--"]
    os.execvpe(
        "sh",
        [*place, "sh", "-c", f"cd {CLONE} && {{ {command}\n}}"],
        kept_environment(os.environ),
    )


# ---- from outside ----


@contextmanager
def folder_for(suite: str, keep: bool) -> Iterator[Path]:
    """Yield a folder for a root and remove it with all in it."""
    # Not /tmp: that is memory on some machines, and a root with TensorFlow takes 4 GB.
    folder = Path(tempfile.mkdtemp(prefix=f"tfdarshan-{suite}-", dir=os.environ.get("TMPDIR", "/var/tmp")))
    try:
        yield folder
    finally:
        detach_loop_devices(folder)
        if keep:
            say(f"{suite}: kept in {folder / 'root'}")
        else:
            say(f"{suite}: removing its root")
            remove(folder)


def remove(folder: Path) -> None:
    """Remove a folder in which nothing is mounted."""
    if str(folder) in Path("/proc/self/mountinfo").read_text():
        say(f"something is mounted in {folder}: it is left as it is")
        return
    shutil.rmtree(folder)


def detach_loop_devices(folder: Path) -> None:
    """Detach the loop devices that what was killed left on files of the folder."""
    if not shutil.which("losetup"):
        return
    number = folder.stat().st_dev
    disk = f"{os.major(number)}:{os.minor(number)}"
    columns = "NAME,BACK-MAJ:MIN,BACK-INO"
    for line in output("losetup", "--noheadings", "--output", columns).splitlines():
        device, *file = line.split()
        # By number: the kernel gives the path as the process saw it that made the device.
        if file[:1] == [disk] and output("find", str(folder), "-xdev", "-inum", file[1]):
            run("losetup", "--detach", device)


def run_suite(suite: str, sources: list[str], options: argparse.Namespace) -> int:
    """Run the command in a fresh root of the suite; return its exit code."""
    with folder_for(suite, options.keep) as folder:
        arguments = ["--inside", str(folder / "root"), "--suite", suite, "--command", options.command]
        arguments += [f"--mirror={line}" for line in sources]
        arguments += [f"--package={name}" for name in options.package]
        arguments += [f"--bind={path}" for path in options.bind]
        child = subprocess.Popen([*NAMESPACES, sys.executable, __file__, *arguments])
        try:
            return child.wait()
        finally:
            end(child)


def end(child: subprocess.Popen[bytes]) -> None:
    """End the first process of the namespace, and with it every other one there."""
    if child.poll() is not None:
        return
    with suppress(OSError):
        first = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
        for process in first:
            os.kill(int(process), signal.SIGKILL)
        if first:
            child.wait()
    child.kill()
    child.wait()


def output(*command: str) -> str:
    """Return what a program prints."""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def run(*command: str) -> None:
    """Run a program that has to succeed; what it says is shown if it does not."""
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if ran.returncode:
        sys.stderr.write(ran.stdout)
        raise RefusedError(f"{command[0]} failed: {shlex.join(command)}")


def say(text: str) -> None:
    """Say something beside what the commands print."""
    print(f"tfdarshan: {text}", file=sys.stderr, flush=True)


def check_machine() -> None:
    """Refuse where roots cannot be made."""
    if os.getuid():
        raise RefusedError("fresh Debian roots need root: chroot and mount do")
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    if missing:
        raise RefusedError(f"fresh Debian roots need {', '.join(missing)}")


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="tools/fresh_debian.py", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--suite", action="append", help=f"a suite of Debian; default: {' and '.join(SUITES)}"
    )
    parser.add_argument("--command", default=COMMAND, help="what runs in the clone; default: %(default)s")
    parser.add_argument("--mirror", action="append", help="a mirror of Debian in place of those apt has here")
    parser.add_argument(
        "--package",
        action="append",
        help=f"a package that the root has, in place of {', '.join(PACKAGES)}",
    )
    parser.add_argument(
        "--bind",
        action="append",
        default=[],
        type=lambda path: Path(path).resolve(),
        help="a folder or file of this machine that is to be read in the root, at the same place",
    )
    parser.add_argument("--keep", action="store_true", help="keep the roots, and say where they are")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.package = options.package or list(PACKAGES)
    return options


def source_lines(suite: str, named: list[str] | None) -> list[str]:
    """Return apt's source lines for a suite."""
    if not named:
        return configured_mirrors(suite)
    return [name if name.startswith("deb ") else f"deb {name} {suite} main" for name in named]


def run_suites(options: argparse.Namespace) -> int:
    """Run all suites, one after the other, and say how each ended."""
    check_machine()
    suites = dict.fromkeys(options.suite or SUITES)
    sources = {suite: source_lines(suite, options.mirror) for suite in suites}
    if output("git", "-C", str(REPOSITORY), "status", "--porcelain"):
        say("what is not committed is not tried")
    codes = {}
    for suite in suites:
        began = time.monotonic()
        codes[suite] = run_suite(suite, sources[suite], options)
        result = f"failed with exit code {codes[suite]}" if codes[suite] else "passed"
        say(f"{suite}: {result} after {(time.monotonic() - began) / 60:.1f} minutes")
    return 1 if any(codes.values()) else 0


def interrupted(number: int, _frame: object) -> NoReturn:
    """End the run on a signal; what it made is removed on the way out."""
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    sys.exit(128 + number)


def main(arguments: list[str]) -> int:
    """Run it; return the exit code."""
    options = parse(arguments)
    try:
        if options.inside:
            # Who started this ends it.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            inside(options.inside, options)
        for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(name, interrupted)
        return run_suites(options)
    except RefusedError as refused:
        say(str(refused))
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
