"""The figures of `summary`, of sessions that have them and of sessions that do not."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tests.unit.golden.golden_file import Golden, besides_first
from tests.unit.sentences.sessions import KB, MB, SESSIONS, Maker, partly_cached
from tests.unit.sentences.shown import raw_printed

NAMES = ("one reader", "no call", "one call", "reads of nothing", "only writes", "checkpoints", "rare stats")
# 20 MB of reads, by what storage gave and what the kernel counted.
COVERED: dict[str, Maker] = {
    "all seen": partial(partly_cached, stored=6 * MB, charged=20 * MB),
    "nearly all seen": partial(partly_cached, stored=6 * MB, charged=20 * MB + KB),
    "a fifth not seen": partial(partly_cached, stored=6 * MB, charged=25 * MB),
    "more seen than counted": partial(partly_cached, stored=0, charged=19 * MB),
}


def test_summaries_have_the_figures_of_their_sessions(golden: Golden, folder: Path):
    # GIVEN sessions whose paths are of one length
    makers = {name: SESSIONS[name] for name in NAMES} | COVERED
    places = {name: folder / f"{number:02}" for number, name in enumerate(makers)}
    made = {name: str(make(places[name]).path) for name, make in makers.items()}

    # WHEN
    texts = {
        name: f"{raw_printed('summary', path)}\n{raw_printed('summary', path, '-v')}".replace(
            str(places[name]), "FOLDER"
        )
        for name, path in made.items()
    }

    # THEN
    golden("summary_figures.txt", besides_first(texts))
