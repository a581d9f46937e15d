#!/bin/sh
# Installs what Debian packages as far as this user may, and says in one line what stays missing.
#
#   tools/setup-debian.sh build PYTHON      what building needs: venv, headers, a compiler; fails without
#   tools/setup-debian.sh tools NAME...     programs some tests or benchmarks use; goes on without. PROGRAM:PACKAGE
#                                           where the package has another name, FILE:PACKAGE where it has none.
set -u

say() { printf 'tfdarshan: %s\n' "$*" >&2; }

# A program, or a file that a package without a program brings.
has() {
    case "$1" in
    /*) [ -e "$1" ] ;;
    *) command -v "$1" >/dev/null 2>&1 ;;
    esac
}

may_install() { [ "$(id -u)" = 0 ] && has apt-get; }

# Installs the named packages; 1 where that is not possible.
install_packages() {
    may_install || return 1
    say "installing $* with apt-get"
    log=$(mktemp) || return 1
    apt="apt-get -qq -o DPkg::Lock::Timeout=300"
    export DEBIAN_FRONTEND=noninteractive
    # The lists of a new machine are empty or old: refresh them where they do not do.
    # shellcheck disable=SC2086
    if $apt install -y --no-install-recommends "$@" >"$log" 2>&1 </dev/null ||
        { $apt update >"$log" 2>&1 </dev/null &&
            $apt install -y --no-install-recommends "$@" >>"$log" 2>&1 </dev/null; }; then
        rm -f "$log"
        return 0
    fi
    say "apt-get could not install $*:"
    tail -n 5 "$log" >&2
    rm -f "$log"
    return 1
}

# The packages PYTHON and the compiler lack for a virtual environment and an extension module.
missing_for_build() {
    "$1" -c 'import ensurepip, venv' 2>/dev/null || printf 'python3-venv '
    "$1" -c 'import pathlib, sys, sysconfig
sys.exit(not pathlib.Path(sysconfig.get_path("include"), "Python.h").exists())' 2>/dev/null ||
        printf 'python3-dev '
    has gcc || printf 'gcc '
    printf '#include <stdio.h>\n' | gcc -E -o /dev/null - 2>/dev/null || printf 'libc6-dev '
}

setup_build() {
    python=$1
    if ! has "$python"; then
        if [ "$python" != python3 ] || ! install_packages python3; then
            say "$python is not there; name another Python with PYTHON=..., or install it: apt-get install python3"
            return 1
        fi
    fi
    if ! "$python" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 14))'; then
        say "$python is $("$python" -V 2>&1), and 3.10 to 3.14 is needed; name another one with PYTHON=..."
        return 1
    fi
    missing=$(missing_for_build "$python")
    [ -n "$missing" ] || return 0
    # shellcheck disable=SC2086
    install_packages $missing
    missing=$(missing_for_build "$python")
    [ -n "$missing" ] || return 0
    say "building needs ${missing% }; as root: apt-get install ${missing% }" \
        "(or name a Python that has venv and its headers with PYTHON=...)"
    return 1
}

setup_tools() {
    missing=""
    for name in "$@"; do
        has "${name%%:*}" || missing="$missing ${name##*:}"
    done
    [ -n "$missing" ] || return 0
    # shellcheck disable=SC2086
    install_packages $missing
    for name in "$@"; do
        has "${name%%:*}" ||
            say "${name%%:*} is missing: what needs it is skipped; as root: apt-get install ${name##*:}"
    done
    return 0
}

case "${1-}" in
build) setup_build "${2:-python3}" ;;
tools) shift && setup_tools "$@" ;;
*)
    say "usage: tools/setup-debian.sh build PYTHON | tools NAME..."
    exit 2
    ;;
esac
