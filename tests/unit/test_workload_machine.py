"""What else ran on the machine while a workload was measured."""

import subprocess
import sys

from tfdarshan.workloads.machine import busy_elsewhere_s

BUSY_S = 0.5
WORK = f"import time\nwhile time.process_time() < {BUSY_S}: pass\nprint(flush=True)\ninput()"


def test_what_another_process_takes_of_a_processor_is_counted():
    # GIVEN a process that has had a processor for half a second, and still lives
    before_s = busy_elsewhere_s()
    with subprocess.Popen(
        [sys.executable, "-c", WORK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        child.stdout.readline()

        # WHEN it is asked for, THEN it is among the others
        with_child_s = busy_elsewhere_s() - before_s
        child.communicate("\n")
    assert with_child_s > 0.9 * BUSY_S
