"""The priority of a probe's threads, and of no other."""

import os
import threading

from tfdarshan.storage_probe.reader_threads import LEAST, give_way


def test_a_thread_gives_way_and_the_others_do_not():
    before, found = os.getpriority(os.PRIO_PROCESS, threading.get_native_id()), []

    def work():
        give_way()
        found.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert found == [LEAST]
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == before
