"""Figures of a session worked out from its tables alone, by none of the package's analyses."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from tfdarshan.session import Session

OPENS, READS = ("open", "fopen"), ("read", "pread", "fread", "readv")


@dataclass(frozen=True)
class Raw:
    """The rows of a session's tables with their `rank`, and its steps in ns: start, end, wait and rank."""

    events: pd.DataFrame
    files: pd.DataFrame
    steps: pd.DataFrame

    def calls(self, *names: str) -> pd.DataFrame:
        """Return the calls of some names, with their `seconds`."""
        chosen = self.events[self.events["operation"].astype(str).isin(names)]
        return chosen.assign(seconds=(chosen["end_ns"] - chosen["start_ns"]) / 1e9)

    @property
    def data_reads(self) -> pd.DataFrame:
        """Reads that returned something."""
        reads = self.calls(*READS)
        return reads[reads["length"] > 0]

    @property
    def empty_reads(self) -> pd.DataFrame:
        """Reads that returned nothing."""
        reads = self.calls(*READS)
        return reads[reads["length"] == 0]

    @property
    def wait_share(self) -> float:
        """Share of the steps' time that is input wait."""
        return float(self.steps["wait"].sum() / (self.steps["end"] - self.steps["start"]).sum())

    def union_s(self, calls: pd.DataFrame) -> float:
        """Return the time in which at least one of some calls was running."""
        edges = pd.concat([pd.Series(1, calls["start_ns"]), pd.Series(-1, calls["end_ns"])]).sort_index()
        moments, running = edges.index.to_numpy(), edges.to_numpy().cumsum()
        return float(np.diff(moments)[running[:-1] > 0].sum()) / 1e9


def raw(session: Session) -> Raw:
    """Read them."""
    files = [pd.read_parquet(path).assign(rank=_rank(path)) for path in session.path.rglob("*.files.parquet")]
    events = [
        pd.read_parquet(path).assign(rank=_rank(path))
        for table in ("events", "faults")
        for path in session.path.rglob(f"*.{table}.parquet")
    ]
    steps = []
    for meta in session.path.rglob("*.meta.json"):
        rows = json.loads(meta.read_text()).get("steps", {}).get("rows", [])
        own = pd.DataFrame([row[1:4] for row in rows], columns=["start", "end", "wait"])
        steps.append(own.assign(rank=_rank(meta)))
    return Raw(pd.concat(events), pd.concat(files), pd.concat(steps))


def _rank(path: Path) -> int:
    """Return the rank whose folder a file is in, 0 for a session of one process."""
    folder = path.parent.name
    return int(folder.removeprefix("rank-")) if folder.startswith("rank-") else 0
