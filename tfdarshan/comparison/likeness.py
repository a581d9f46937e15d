"""Whether two runs can be compared: the same work, the same conditions, and both recorded well."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tfdarshan.analysis.ranks.processor_share import WORTH_A_WORD
from tfdarshan.analysis.storage.storage_share import storage_share
from tfdarshan.analysis.summary_data import emulation_of, hosts_of, slowed_calls
from tfdarshan.comparison.file_set import FileSets
from tfdarshan.comparison.measured_run import Run
from tfdarshan.comparison.metric import find_metric
from tfdarshan.options import keeps_trace
from tfdarshan.units import human_bytes, human_seconds, percent, plural

# What a check found: the same; a difference worth knowing; one that makes times unfair; other work.
SAME, NOTED, CARE, OTHER_WORK = "same", "noted", "care", "other work"
YES, WITH_CARE, NO = "yes", "with care", "no"
# Bytes may differ by this share, such as a last batch that was dropped.
BYTES_APART = 0.02
# Shares of bytes from storage are alike within this, and coverage is good from this on.
CACHE_APART = 0.1
GOOD_COVERAGE = 0.95


@dataclass(frozen=True)
class Check:
    """One question and its answer: `state` is SAME, NOTED, CARE or OTHER_WORK; `sentence` says why."""

    name: str
    state: str
    sentence: str


def check_likeness(first: Run, second: Run, files: FileSets, names: tuple[str, str]) -> list[Check]:
    """Ask all questions.

    Args:
        first: One run.
        second: The other.
        files: Their files, compared.
        names: What they are called in sentences, such as A and B.
    """
    both = (first, second)
    return [
        _files(files, names),
        _moved(both, names, "bytes_read", "bytes read", same_steps=_same_steps(both, files)),
        _moved(both, names, "bytes_written", "bytes written"),
        _steps(both, names),
        _cache(both, names),
        _others(both, names),
        _host(both, names),
        _text("storage emulation", names, [_emulation(run) for run in both], _emulation_state(both, files)),
        _text("file systems", names, [_file_systems(run) for run in both], NOTED),
        _text("engine", names, [_engine(run) for run in both], NOTED),
        _text("versions", names, [_versions(run) for run in both], NOTED),
        _text("processes", names, [str(run.summary.processes) for run in both], NOTED),
        _coverage(both, names),
        _complete(both, names),
    ]


def verdict_of(checks: Iterable[Check]) -> str:
    """Return YES, WITH_CARE or NO."""
    states = {check.state for check in checks}
    if OTHER_WORK in states:
        return NO
    return WITH_CARE if CARE in states else YES


def _files(sets: FileSets, names: tuple[str, str]) -> Check:
    where = _where(sets)
    state = NOTED if sets.moved else SAME
    if sets.same:
        what = plural(sets.shared, "file") if sets.shared else "none"
        return Check("files read", state, f"both read the same files ({what}{where})")
    parts = [f"{plural(sets.shared, 'file') if sets.shared else 'no file'} the same in both{where}"]
    parts += [f"{sets.resized:,} with another size"] if sets.resized else []
    for name, count in zip(names, (sets.only_first, sets.only_second), strict=True):
        parts += [f"{count:,} in {name} only"] if count else []
    return Check("files read", OTHER_WORK if _other(sets) else NOTED, ", ".join(parts))


def _where(sets: FileSets) -> str:
    if not sets.moved:
        return ""
    some = f"{sets.moved:,} of them " if sets.moved < sets.shared + sets.resized else ""
    return f", {some}below another folder"


def _other(sets: FileSets) -> bool:
    """Return whether more than a few of the files differ."""
    apart = sets.resized + sets.only_first + sets.only_second
    return apart > BYTES_APART * max(sets.shared + apart, 1)


def _same_steps(both: tuple[Run, Run], files: FileSets) -> bool:
    """Return whether both read the same files for as many steps: a run with them in memory reads less."""
    one, two = (len(run.steps) for run in both)
    return one == two > 0 and not _other(files)


def _moved(
    both: tuple[Run, Run], names: tuple[str, str], metric: str, label: str, *, same_steps: bool = False
) -> Check:
    one, two = (find_metric(metric).value(run) or 0 for run in both)
    if one == two:
        return Check(label, SAME, f"{human_bytes(one)} in both" if one else "none in either")
    worded = human_bytes(one), human_bytes(two)
    if worded[0] == worded[1]:
        worded = f"{one:,.0f} B", f"{two:,.0f} B"
    said = f"{worded[0]} in {names[0]}, {worded[1]} in {names[1]}"
    apart = abs(two - one) > BYTES_APART * max(one, two)
    if apart and same_steps:
        return Check(label, NOTED, f"{said}, of the same files for as many steps")
    # What little is written, such as logs, says nothing of the work.
    large = max(one, two) > BYTES_APART * sum(_all_bytes(run) for run in both) / 2
    return Check(label, OTHER_WORK if apart and large else NOTED, said)


def _all_bytes(run: Run) -> float:
    return sum(find_metric(name).value(run) or 0 for name in ("bytes_read", "bytes_written"))


def _steps(both: tuple[Run, Run], names: tuple[str, str]) -> Check:
    one, two = (len(run.steps) for run in both)
    if one == two:
        return Check("steps", SAME, f"{plural(one, 'step')} in both" if one else "none recorded in either")
    # A session without steps did not say them; bytes tell whether the work differs.
    state = CARE if one and two else NOTED
    return Check("steps", state, f"{one:,} in {names[0]}, {two:,} in {names[1]}")


def _cache(both: tuple[Run, Run], names: tuple[str, str]) -> Check:
    emulated = [name for name, run in zip(names, both, strict=True) if slowed_calls(run.summary.emulation)]
    if emulated:
        why = f"{' and '.join(emulated)} had emulated storage, which has no page cache"
        return Check("cache state", SAME if len(emulated) == len(both) else NOTED, why)
    # Whole pages and read-ahead may make storage give more than was asked of it.
    ratios = [storage_share(run.summary.coverage).storage_ratio for run in both]
    one, two = ratios
    if one is None or two is None:
        missing = [name for name, ratio in zip(names, ratios, strict=True) if ratio is None]
        who = f"{' and '.join(missing)} {'does' if len(missing) == 1 else 'do'} not say"
        return Check("cache state", NOTED, f"unknown: {who} what came from storage")
    # What the kernel fetched for page faults is in the figure too: storage may have given less.
    shares = [percent(min(ratio, 1.0), 1) for ratio in (one, two)]
    said = [f"at most {share} of the bytes that it read came from storage" for share in shares]
    alike = abs(min(one, 1.0) - min(two, 1.0)) <= CACHE_APART
    if alike:
        return Check("cache state", SAME, f"{names[0]}: {said[0]}; {names[1]}: {said[1]}")
    warm = names[0] if one < two else names[1]
    return Check(
        "cache state", CARE, f"{names[0]}: {said[0]}; {names[1]}: {said[1]}: {warm} found the rest cached"
    )


def _others(both: tuple[Run, Run], names: tuple[str, str]) -> Check:
    """Compare what other programs took of the processors."""
    shares = [run.summary.others_share for run in both]
    said = [
        f"{'unknown' if share is None else percent(share, 1)} in {name}"
        for name, share in zip(names, shares, strict=True)
    ]
    known = [share for share in shares if share is not None]
    if not known:
        return Check("other programs", SAME, "their processor time is not known")
    if max(known) < WORTH_A_WORD:
        state = SAME
    else:
        state = NOTED if len(known) == len(both) and max(known) - min(known) <= WORTH_A_WORD else CARE
    return Check("other programs", state, f"took {', '.join(said)} of the processors")


def _text(name: str, names: tuple[str, str], values: list[str], state: str) -> Check:
    one, two = values
    if one == two:
        return Check(name, SAME, f"{one} in both" if one else "none in either")
    return Check(name, state, f"{names[0]}: {one or 'none'}; {names[1]}: {two or 'none'}")


def _host(both: tuple[Run, Run], names: tuple[str, str]) -> Check:
    """Compare the hosts' names, also where they are not to be shown."""
    shown, hosts = ([run.summary.host for run in both], [hosts_of(run.whole) for run in both])
    if hosts[0] != hosts[1] and shown[0] == shown[1]:
        return Check("host", CARE, f"{names[0]} and {names[1]} did not run on the same hosts")
    return _text("host", names, shown, CARE)


def _emulation(run: Run) -> str:
    emulation = run.summary.emulation
    if not emulation:
        return ""
    name = str(emulation["model"]["name"])
    return f"{name} that no call met" if emulation.get("delayed_calls") == 0 else name


def _emulation_state(both: tuple[Run, Run], files: FileSets) -> str:
    """Return NOTED if both ran under one emulation, which copies of the files are outside of."""
    one, two = ((emulation_of(run.whole.meta[0]) or {}) for run in both)
    alike = all(one.get(name) == two.get(name) for name in ("model", "paths"))
    return NOTED if alike and files.moved else CARE


def _file_systems(run: Run) -> str:
    rows = run.files.rows
    used = rows.loc[rows["bytes_read"] + rows["bytes_written"] > 0, "fs_type"]
    return ", ".join(sorted({str(kind) for kind in used.unique() if kind}))


def _engine(run: Run) -> str:
    engine = run.summary.engine
    return " ".join(filter(None, (engine.get("name"), engine.get("version"))))


def _versions(run: Run) -> str:
    versions = run.summary.versions
    return ", ".join(f"{name} {versions[name]}" for name in ("tensorflow", "python") if name in versions)


def _coverage(both: tuple[Run, Run], names: tuple[str, str]) -> Check:
    said, low = [], False
    for name, run in zip(names, both, strict=True):
        read = run.summary.coverage.read
        if read.kernel is None or run.summary.coverage.incomplete:
            said.append(f"{name}: unknown")
        else:
            said.append(f"{name}: {run.summary.coverage.seen(read)} of reads")
            low |= read.accounted < GOOD_COVERAGE * read.kernel
    return Check("coverage", CARE if low else SAME, "; ".join(said))


def _complete(both: tuple[Run, Run], names: tuple[str, str]) -> Check:
    said = [f"{name}: {_lost(run)}" for name, run in zip(names, both, strict=True) if _lost(run)]
    return Check("complete", CARE if said else SAME, "; ".join(said) or "both hold all they recorded")


def _lost(run: Run) -> str:
    counts = [meta["counts"] for meta in run.whole.meta]
    traced = [meta["counts"] for meta in run.whole.meta if keeps_trace(meta.get("options", {}))]
    dropped = sum(max(count["events"] - count["segments"], 0) for count in traced)
    said = [] if run.summary.finished else ["was interrupted"]
    span = run.summary.trace_span
    until = ""
    if span is not None and span.until_s is not None:
        first, whole = human_seconds(span.until_s), human_seconds(span.duration_s)
        until = f" (the trace has all of the first {first} of {whole})"
    said += [f"{plural(dropped, 'call')} without a segment{until}"] if dropped else []
    said += ["some processes could not be read"] if run.summary.problems else []
    over = sum(int(count.get("files_over_cap", 0)) for count in counts)
    said += [f"{plural(over, 'file')} beyond the memory cap"] if over else []
    return ", ".join(said)
