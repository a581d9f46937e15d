"""Python's lock: of the threads of a process one at a time runs Python code, whatever processors are idle."""

from __future__ import annotations

from tfdarshan.findings.finding import Assumption
from tfdarshan.findings.measures import CACHED, Measures
from tfdarshan.findings.pipeline_api import reads_by_workers, reads_in_python
from tfdarshan.findings.processors import BUSY_STEPS, busy_steps
from tfdarshan.units import percent

# A thread that computes gives the lock up for another one after so long (sys.getswitchinterval): one that
# waits in a call for as long is hardly held up by it.
SWITCH_S = 0.005
CLAIM = "steps leave Python's lock to the thread that reads"
# After each call a thread asks for the lock again, which takes 10 to 20 us where others want it, too: files
# that memory serves in 12 us took threads 80 to 120 us each. Work of so much from call to call is shared.
SHARED_S = 2e-4
# Decoding in NumPy is shared if it takes so much: of 33 us a call two threads took 1.3 times as long as one,
# of 66 us 0.75 times.
DECODED_S = 5e-5
# Of the bytes: with less of them from storage most calls are memory's.
MOST = 0.5


def lock_is_free(measures: Measures) -> list[Assumption]:
    """Gives that Python code that prepares batches can run while steps compute; nothing if it has no part.

    What storage makes a thread wait for needs no lock. The page cache's calls are short, and after each the
    thread asks for the lock again: if steps hold it, nothing is prepared beside them. NumPy and frameworks
    give it up while they compute, but nothing in the session says that.
    """
    calls, busy = measures.input_calls, busy_steps(measures)
    if not reads_in_python(measures) or reads_by_workers(measures) or measures.slow_share > CACHED:
        return []
    if calls.thread_s >= SWITCH_S * calls.calls or busy is None:
        return []
    seen = f"processors are busy for {percent(busy, 1)} of what they compute" if busy < BUSY_STEPS else ""
    return [Assumption(CLAIM, seen, "they run Python code of their own")]


def hands_lock_over(measures: Measures, shared_s: float = SHARED_S) -> bool:
    """Says whether more threads would hand Python's lock to each other most of the time.

    They do where Python reads what memory serves, and does little from one call to the next.

    Args:
        measures: The session.
        shared_s: What has to be done for each call that threads share it.
    """
    calls, model = measures.input_calls, measures.model
    if not reads_in_python(measures) or reads_by_workers(measures) or measures.costs.storage_share > MOST:
        return False
    return model.pipeline_s * model.readers * model.units < shared_s * calls.calls
