"""What of a read is waiting, and what is moving bytes."""

from __future__ import annotations

from tfdarshan.findings.measures import Measures

# Where all reads are of one size the session does not show what a byte costs. Then a stream is taken to give
# at least, about, and at most so many bytes per second.
STREAMS_BYTES = (100e6, 400e6, 2e9)
# A fit whose bytes cost a smaller share of a read says nothing about them; nor one that explains less.
SHOWN = 0.02
EXPLAINED = 0.3
# Where this share of the bytes is streamed, reading ahead hides what each part would wait.
STREAMED = 0.8
DOUBT = (0.7, 1.0, 1.2)


def seconds_per_byte(measures: Measures) -> tuple[float, float, float]:
    """Gives what a byte costs one reader: at most, as expected, at least."""
    fitted = seconds_per_byte_shown(measures)
    if fitted is not None:
        return 1.2 * fitted, fitted, 0.5 * fitted
    slow, usual, quick = (1 / stream for stream in STREAMS_BYTES)
    return slow, usual, quick


def wait_of_a_read(measures: Measures) -> tuple[float, float, float]:
    """Gives what a read takes apart from its bytes: at least, as expected, at most."""
    reads = measures.group("read")
    if not reads.calls:
        return 0.0, 0.0, 0.0
    fitted = seconds_per_byte_shown(measures)
    mean_s, size = reads.thread_s / reads.calls, reads.moved_bytes / reads.calls
    if fitted is not None:
        low, expected, high = (min(mean_s, doubt * measures.read_cost.base_s) for doubt in DOUBT)
    else:
        low, expected, high = (max(0.0, mean_s - size * byte_s) for byte_s in seconds_per_byte(measures))
        if measures.streamed_share >= STREAMED:
            low, expected = 0.0, 0.0
    return low, expected, high


def waits_share(measures: Measures, place: int) -> float:
    """Gives the share of the input calls' time that is waiting: 0 at least, 1 as expected, 2 at most."""
    calls, reads = measures.input_calls, measures.group("read")
    if calls.thread_s <= 0:
        return 1.0
    moving = reads.thread_s - wait_of_a_read(measures)[place] * reads.calls
    return float(min(1.0, max(0.0, 1 - moving / calls.thread_s)))


def seconds_per_byte_shown(measures: Measures) -> float | None:
    """Gives the seconds of a byte by the reads' times and sizes, None where these do not show it."""
    model, reads = measures.read_cost, measures.group("read")
    if not measures.traced or not reads.calls:
        return None
    size = reads.moved_bytes / reads.calls
    shown = (
        model.r2 >= EXPLAINED
        and model.s_per_byte > 0
        and size * model.s_per_byte > SHOWN * model.seconds(size)
    )
    return model.s_per_byte if shown else None
