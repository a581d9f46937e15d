"""How many reads in flight a storage answers best: found while reading, without reading anything twice."""

from __future__ import annotations

from dataclasses import dataclass, field

MIB = 1 << 20
# So much for each read in flight tells what they give.
PART_BYTES = 512 << 10
LEAST_PART_BYTES = MIB
# More in flight must give so much more; what is kept is given up for fewer where it gives no more than that.
WORTH_MORE = 1.25
WORTH_KEEPING = 1.1
# One pair of parts is enough where more in flight give so much less; two where so much more; else so many.
CLEARLY_MORE = 1.6
CLEARLY_LESS = 0.7
MOST_PAIRS = 3
# Where a second read in flight leaves less than this, reads of one process take turns.
HARMED = 0.85
# When to look again: after so much, each time twice as much while nothing changes.
FIRST_LOOK_BYTES, LAST_LOOK_BYTES = 128 * MIB, 2048 * MIB
FIRST_LOOK_S, LAST_LOOK_S = 5.0, 80.0
# What only a look at the storage said is compared sooner: a machine that stalls misleads it.
CONFIRM_BYTES = 48 * MIB
# And after that much where so many reads on end are so many times faster or slower than what was measured.
OTHER_SPEED = 3.0
OTHER_READS = 3
OTHER_LOOK_BYTES = 32 * MIB


@dataclass
class _Sum:
    """What was read with one number in flight.

    Attributes:
        speed: Of the fastest part, in bytes per second: a machine that stalls makes others slow.
    """

    parts: int = 0
    read_bytes: int = 0
    elapsed_s: float = 0.0
    speed: float = 0.0

    def add(self, read_bytes: int, elapsed_s: float) -> None:
        self.parts += 1
        self.read_bytes += read_bytes
        self.elapsed_s += elapsed_s
        self.speed = max(self.speed, read_bytes / max(elapsed_s, 1e-9))


@dataclass
class _Pair:
    """Two numbers in flight that are compared, by parts read in turn.

    Attributes:
        expected: A look at the storage said what comes of it: one pair of parts is enough to confirm it.
    """

    low: int
    high: int
    sums: dict[int, _Sum] = field(default_factory=dict)
    expected: bool = False

    def __post_init__(self) -> None:
        for depth in (self.low, self.high):
            self.sums.setdefault(depth, _Sum())

    @property
    def next(self) -> int:
        """The one that fewer parts were read with."""
        return self.low if self.sums[self.low].parts <= self.sums[self.high].parts else self.high

    def ratio(self) -> float | None:
        """Return how many times as much more in flight give; None until that can be told."""
        low, high = self.sums[self.low], self.sums[self.high]
        pairs = min(low.parts, high.parts)
        if not pairs:
            return None
        ratio = high.speed / low.speed
        is_clear = ratio <= CLEARLY_LESS or (ratio >= CLEARLY_MORE and (self.expected or pairs >= 2))
        return ratio if is_clear or pairs >= MOST_PAIRS else None


class DepthSearch:
    """Doubles what is in flight as long as that gives clearly more, and looks again now and then.

    It begins with one, as a mapping reads. Where two give about as much it tries the most once, as disks with
    an elevator gain late.

    Attributes:
        depth: What is best so far.
        harmed: Whether a second read in flight made all slower.
        answers_soon: No head has to move: nothing is harmed, and what seems so is a busy machine.
        speeds: What each depth gave when it was last tried, in bytes per second.
        looks: How often a comparison ended.
    """

    def __init__(self, most: int) -> None:
        """Search from 1 to `most` in flight."""
        self.most = most
        self.depth = 1
        self.harmed = False
        self.answers_soon = False
        self.speeds: dict[int, float] = {}
        self.looks = 0
        self._pair = _Pair(1, 2) if most > 1 else None
        self._tried_most = False
        self._looked_down = False
        self._waits = 0
        self._since = _Sum()
        self._settled_at = 1
        self._other_reads = 0
        self._is_unconfirmed = False

    @property
    def is_due(self) -> bool:
        """Whether the next part is to be read as `next` says."""
        return self._pair is not None

    @property
    def next(self) -> int:
        """How many in flight the next part is read with."""
        return self.depth if self._pair is None else self._pair.next

    def expect(self) -> None:
        """Read with the most in flight, as a look at the storage says that it answers them at once.

        One comparison with one in flight confirms that; reads too small to compare do not wait for it.
        """
        if self.most > 1:
            self.depth = self._settled_at = self.most
            self._pair = _Pair(1, self.most, expected=True)

    def adopt(self, depth: int, *, harmed: bool, confirm: bool = False) -> None:
        """Take what another process found, or a look at the storage, as if it had been found here.

        Args:
            depth: How many in flight.
            harmed: A second one makes all slower.
            confirm: Compares once, and sooner than what was compared is looked at again.
        """
        self.depth, self.harmed = min(depth, self.most), harmed
        self._settled_at, self._pair, self._since = self.depth, None, _Sum()
        self._is_unconfirmed = confirm

    @property
    def part_bytes(self) -> int:
        """How much a part is, in bytes."""
        return max(self.next * PART_BYTES, LEAST_PART_BYTES)

    @property
    def part_calls(self) -> int:
        """Of how many calls a part is where that is reached sooner."""
        return 4 * self.next

    def add_part(self, depth: int, read_bytes: int, elapsed_s: float) -> None:
        """Take what a part gave."""
        pair = self._pair
        if pair is None or depth not in pair.sums:
            return
        pair.sums[depth].add(read_bytes, elapsed_s)
        self.speeds[depth] = pair.sums[depth].speed
        ratio = pair.ratio()
        if ratio is not None:
            self._judge(pair, ratio)

    def add_settled(self, read_bytes: int, elapsed_s: float) -> None:
        """Take what a read with `depth` in flight gave, and look again where it is time."""
        self._since.add(read_bytes, elapsed_s)
        if self._pair is not None or self.most == 1:
            return
        factor = 1 << self._waits
        if (
            self._since.read_bytes >= min(FIRST_LOOK_BYTES * factor, LAST_LOOK_BYTES)
            or self._since.elapsed_s >= min(FIRST_LOOK_S * factor, LAST_LOOK_S)
            or (self._is_unconfirmed and self._since.read_bytes >= CONFIRM_BYTES)
            or self._is_other(read_bytes / max(elapsed_s, 1e-9))
        ):
            self._look()

    def _is_other(self, speed: float) -> bool:
        """Return whether the storage gives much more or less than when it was last looked at."""
        usual = self.speeds.get(self.depth, speed)
        same = usual / OTHER_SPEED < speed < usual * OTHER_SPEED
        self._other_reads = 0 if same else self._other_reads + 1
        return self._other_reads >= OTHER_READS and self._since.read_bytes >= OTHER_LOOK_BYTES

    def _look(self) -> None:
        self._settled_at = self.depth
        self._is_unconfirmed = False
        self._other_reads = 0
        self._tried_most = False
        down = self.depth == self.most or (self.depth > 1 and not self._looked_down)
        self._looked_down = down
        if down:
            self._pair = _Pair(self.depth // 2, self.depth)
        else:
            self._pair = _Pair(self.depth, min(2 * self.depth, self.most))

    def _judge(self, pair: _Pair, ratio: float) -> None:
        self.looks += 1
        if pair.low == 1 and (pair.high == 2 or pair.expected):
            self.harmed = ratio < HARMED and not self.answers_soon
        was_low = self.depth == pair.low
        self.depth = pair.high if ratio >= (WORTH_MORE if was_low else WORTH_KEEPING) else pair.low
        self._pair = self._following(pair, ratio, was_low=was_low)
        if self._pair is None:
            self._waits = 0 if self.depth != self._settled_at else self._waits + 1
            self._settled_at = self.depth
            self._since = _Sum()

    def _following(self, pair: _Pair, ratio: float, *, was_low: bool) -> _Pair | None:
        """Return what to compare next; None where the search ends."""
        if was_low and self.depth == pair.high:
            higher, known = min(2 * pair.high, self.most), {pair.high: pair.sums[pair.high]}
            return _Pair(pair.high, higher, known) if higher > pair.high else None
        if not was_low and self.depth == pair.low:
            self.harmed = self.harmed and pair.low == 1
            return _Pair(pair.low // 2, pair.low) if pair.low > 1 else None
        if was_low and ratio >= HARMED and pair.high < self.most and not self._tried_most:
            self._tried_most = True
            return _Pair(pair.low, self.most)
        return None
