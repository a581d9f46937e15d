"""Steps by an optimizer or by the batch, of loops as frameworks run them."""

import time

import numpy as np
import pytest

from tests.unit.frameworks.noted_rows import MS, PID, Job
from tfdarshan.frameworks.batch_log import LOOPED_STEPS, SOURCES, STEP_CALLS
from tfdarshan.frameworks.marked_steps import SESSION_STEP, SessionSteps, with_requests
from tfdarshan.frameworks.step_rows import step_rows


def steps_of(job):
    """Return start, length and wait of each step, in ms, and its epoch."""
    loaders = job.loaders
    loaders.number_epochs(job.array)
    found, training = step_rows(job.array, loaders, PID)
    (rows,) = [np.zeros(0, SESSION_STEP)] if found is None else found.blocks
    assert rows["step"].tolist() == list(range(len(rows)))
    columns = (rows[name].tolist() for name in ("start_ns", "end_ns", "input_wait_ns", "epoch"))
    shown = [
        (start // MS, (end - start) // MS, wait // MS if wait >= 0 else -1, epoch)
        for start, end, wait, epoch in zip(*columns, strict=True)
    ]
    return shown, {job.loaders.found[place]["dataset"] for place in training}


def test_each_batch_that_an_optimizer_follows_is_a_step():
    # GIVEN two epochs of two batches
    job = Job()
    for _ in range(2):
        number = job.loader("train")
        job.start(number, 5)
        for _ in range(2):
            job.batch(number, 10)
            job.compute(20)
            job.optimizer()
            job.compute(1)
        job.stop(number)
        job.compute(100)

    # THEN the iterator's start belongs to the first wait, and an epoch's last step ends at the last request
    steps, training = steps_of(job)
    assert steps == [(0, 36, 15, 1), (36, 31, 10, 1), (168, 36, 15, 2), (204, 31, 10, 2)]
    assert training == {"train"}


def exposed_of(job):
    """Return what of each step's wait was exposed, in ms."""
    job.loaders.number_epochs(job.array)
    found, _ = step_rows(job.array, job.loaders, PID)
    (rows,) = found.blocks
    return [exposed // MS if exposed >= 0 else -1 for exposed in rows["exposed_wait_ns"].tolist()]


def test_the_exposed_wait_of_a_step_is_that_of_all_its_waits():
    # GIVEN an iterator's start and batches in parts of which the GPU was idle, and one that nothing tells of
    job = Job()
    number = job.loader("train")
    job.start(number, 5)
    job.exposed(5)
    for exposed in (3, 0, None, 10):
        job.batch(number, 10)
        if exposed is not None:
            job.exposed(exposed)
        job.compute(20)

    assert exposed_of(job) == [8, 0, -1, 10]


def test_a_step_of_several_batches_is_known_if_all_are():
    # GIVEN an optimizer that steps every second batch
    job = Job()
    number = job.loader("train")
    for place, exposed in enumerate((1, 2, 3, None)):
        job.batch(number, 10)
        if exposed is not None:
            job.exposed(exposed)
        if place % 2:
            job.optimizer()
        job.compute(5)
    job.stop(number)

    assert exposed_of(job) == [3, -1]


def test_batches_that_are_accumulated_are_one_step():
    # GIVEN an optimizer that steps every second batch
    job = Job()
    number = job.loader("train")
    job.start(number, 0)
    for place in range(4):
        job.batch(number, 10)
        job.compute(5)
        if place % 2:
            job.optimizer()
    job.stop(number)

    assert steps_of(job)[0] == [(0, 30, 20, 1), (30, 30, 20, 1)]


def test_two_optimizers_of_a_batch_are_one_step():
    # GIVEN a generator and a discriminator, which steps for every second batch
    job = Job()
    number = job.loader("train")
    for place in range(4):
        job.batch(number, 10)
        job.compute(5)
        job.optimizer()
        job.compute(5)
        if place % 2:
            job.optimizer(number=1)
    job.stop(number)

    assert steps_of(job)[0] == [(20 * place, 20, 10, 1) for place in range(4)]


def test_an_optimizer_that_steps_on_with_batches_that_were_kept_makes_steps_of_no_wait():
    # GIVEN an epoch of three batches that are kept, and two epochs of these
    job = Job()
    number = job.loader("train")
    for place in range(9):
        if place < 3:
            job.batch(number, 10)
        job.compute(5)
        job.optimizer()
    job.end(number)

    # THEN
    assert steps_of(job)[0] == [(15 * place, 15, 10, 1) for place in range(3)] + [
        (45 + 5 * place, 5, 0, 1) for place in range(6)
    ]


def test_an_optimizer_that_always_steps_several_times_for_a_batch_makes_one_step():
    # GIVEN one that steps for parts of the parameters, and a session that ends in the middle
    job = Job()
    number = job.loader("train")
    for place in range(4):
        job.batch(number, 10)
        for _ in range(3 if place < 3 else 1):
            job.compute(5)
            job.optimizer()

    assert [step[:3] for step in steps_of(job)[0]] == [(25 * place, 25, 10) for place in range(3)] + [
        (75, 15, 10)
    ]


def paired(by_optimizer):
    """Return a job that takes a batch of each of two loaders for a step, and validates after every second."""
    job = Job()
    long, short = job.loader("labelled"), job.loader("unlabelled")
    job.start(long, 3)
    job.start(short, 4)
    for place in range(6):
        job.batch(long, 10)
        job.batch(short, 2)
        job.compute(20)
        if by_optimizer:
            job.optimizer()
        if place % 2:
            validation = job.loader("validation")
            job.start(validation, 1)
            job.batch(validation, 5)
            job.stop(validation, 0)
    return job


@pytest.mark.parametrize("by_optimizer", [True, False])
def test_batches_of_several_loaders_are_one_step(by_optimizer):
    steps, training = steps_of(paired(by_optimizer))
    assert [step[2] for step in steps] == [19, 12, 12, 12, 12, 12]
    assert [step[0] for step in steps] == [0, 39, 77, 109, 147, 179]
    assert training == {"labelled", "unlabelled"}


def test_what_the_job_does_before_it_asks_its_iterator_is_no_step():
    # GIVEN an iterator that is made a second before its first batch is requested
    job = Job()
    number = job.loader("train")
    job.start(number, 5)
    job.compute(1000)
    for _ in range(3):
        job.batch(number, 10)
        job.compute(20)
        job.optimizer()

    # THEN its start is waited for
    assert steps_of(job)[0] == [(1000, 35, 15, 1), (1035, 30, 10, 1), (1065, 30, 10, 1)]


def test_optimizers_that_the_backward_pass_steps_work_for_the_loop():
    # GIVEN an optimizer for each parameter, which a thread of the backward pass steps
    job = Job()
    number = job.loader("train")
    for _ in range(3):
        job.batch(number, 10)
        job.compute(20)
        for parameter in range(4):
            job.optimizer(thread=7, number=parameter)

    assert steps_of(job)[0] == [(30 * place, 30, 10, 1) for place in range(3)]


def test_a_loop_that_takes_one_batch_ahead_has_as_many_steps_as_batches():
    # GIVEN a loop that asks for the next batch before it trains on the last one
    job = Job()
    number = job.loader("train")
    job.start(number, 2)
    job.batch(number, 10)
    for _ in range(2):
        job.batch(number, 10)
        job.compute(20)
        job.optimizer()
    job.stop(number, 3)
    job.compute(20)
    job.optimizer()
    validation = job.loader("validation")
    job.start(validation, 4)
    job.batch(validation, 4)

    # THEN
    steps, training = steps_of(job)
    assert steps == [(0, 42, 22, 1), (42, 30, 10, 1), (72, 23, 3, 1)]
    assert training == {"train"}


def test_validation_is_no_step_and_no_wait():
    # GIVEN validation between two epochs, and before the first one
    job = Job()
    validation = job.loader("validation")
    job.start(validation, 1)
    job.batch(validation, 50)
    for _ in range(2):
        number = job.loader("train")
        job.start(number, 1)
        job.batch(number, 9)
        job.compute(10)
        job.optimizer()
        validation = job.loader("validation")
        job.start(validation, 1)
        job.batch(validation, 50)

    # THEN
    steps, training = steps_of(job)
    assert steps == [(51, 20, 10, 1), (122, 20, 10, 2)]
    assert training == {"train"}


def test_steps_end_without_an_optimizer_when_the_next_batch_is_requested():
    # GIVEN a loop that only reads, and leaves its iterator
    job = Job()
    number = job.loader("images")
    job.start(number, 5)
    job.batch(number, 10)
    job.compute(20)
    job.batch(number, 10)
    job.compute(7)
    job.end(number, thread=7)
    job.compute(500)
    other = job.loader("few")
    job.batch(other, 1)

    # THEN the loader that most time is spent on is what is worked on
    steps, training = steps_of(job)
    assert steps == [(0, 35, 15, 1), (35, 17, 10, 1)]
    assert training == {"images"}


def test_batches_go_on_where_no_optimizer_is_called():
    # GIVEN an optimizer that is called while a graph is captured, and not when it is replayed
    job = Job()
    number = job.loader("train")
    for place in range(6):
        job.batch(number, 10)
        job.compute(10)
        if place < 2:
            job.optimizer()
    job.stop(number)

    assert len(steps_of(job)[0]) == 6


def test_a_thread_that_reads_ahead_is_not_waited_for():
    # GIVEN batches that another thread than the optimizer's takes
    job = Job()
    number = job.loader("train")
    for _ in range(3):
        job.batch(number, 10, thread=7)
        job.compute(10)
        job.optimizer()

    # THEN what a step waits for is not known
    assert steps_of(job)[0] == [(20, 20, -1, -1), (40, 20, -1, -1)]


def test_without_an_optimizer_batches_of_another_thread_are_no_steps():
    # GIVEN
    job = Job()
    number = job.loader("train")
    job.batch(number, 10, thread=7)

    assert steps_of(job) == ([], set())


def test_batches_that_were_never_trained_on_are_left():
    # GIVEN an epoch whose last batch is too few to be accumulated
    job = Job()
    for _ in range(2):
        number = job.loader("train")
        job.start(number, 1)
        for place in range(3):
            job.batch(number, 9)
            job.compute(10)
            if place == 1:
                job.optimizer()
        job.stop(number, 1)
        job.compute(100)

    # THEN
    assert [step[:3] for step in steps_of(job)[0]] == [(0, 39, 19), (159, 39, 19)]


def test_a_last_pass_that_only_measures_has_no_steps():
    # GIVEN a pass over the training loader that nothing is trained on
    job = Job()
    for trains in (True, False):
        number = job.loader("train")
        job.start(number, 1)
        for _ in range(4):
            job.batch(number, 9)
            job.compute(10)
            if trains:
                job.optimizer()
        job.stop(number, 1)

    # THEN
    assert [step[3] for step in steps_of(job)[0]] == [1, 1, 1, 1]


def test_a_pass_of_one_batch_that_builds_the_model_is_no_epoch():
    # GIVEN a pass that is left after its first batch, and one that took nothing, before two epochs
    job = Job()
    for batches in (1, 0, 3, 3):
        number = job.loader("train")
        job.start(number, 1)
        for _ in range(batches):
            job.batch(number, 9)
            job.compute(10)

    # THEN
    assert [step[3] for step in steps_of(job)[0]] == [1, 1, 1, 2, 2, 2]


def test_a_look_at_a_batch_is_no_part_of_the_first_step():
    # GIVEN a batch by which a model is built, and two epochs, of iterators whose start nobody notes
    job = Job()
    for batches in (1, 2, 2):
        number = job.loader("train")
        for _ in range(batches):
            job.batch(number, 10)
            job.compute(20)
        job.end(number)

    assert steps_of(job)[0] == [(30, 30, 10, 1), (60, 30, 10, 1), (90, 30, 10, 2), (120, 30, 10, 2)]


def test_nothing_was_noted():
    assert steps_of(Job()) == ([], set())


def test_optimizers_of_another_loop_are_not_of_this_one():
    # GIVEN two threads that each take batches and train
    job = Job()
    number, other = job.loader("train"), job.loader("train of the other thread")
    for _ in range(3):
        job.batch(number, 10)
        job.batch(other, 5, thread=7)
        job.compute(20)
        job.optimizer()
        job.optimizer(thread=7, number=1)

    assert [step[2] for step in steps_of(job)[0]] == [10, 10, 10]


def test_what_follows_the_last_step_is_none_of_it():
    # GIVEN an iterator that is kept while the job saves
    job = Job()
    number = job.loader("train")
    for _ in range(2):
        job.batch(number, 10)
        job.compute(20)
        job.optimizer()
    job.compute(500)
    job.end(number)

    assert steps_of(job)[0] == [(0, 30, 10, 1), (30, 30, 10, 1)]


def test_epochs_go_on_with_a_loader_that_follows_another_one():
    # GIVEN a job that trains with larger batches later, and validates by turns
    job = Job()
    for name in ("batches of 8", "batches of 8", "batches of 16", "batches of 32"):
        for number in (job.loader(name), job.loader("validation")):
            job.start(number, 1)
            for _ in range(2):
                job.batch(number, 9)
                job.compute(10)
                if number % 2:
                    job.optimizer()
            job.stop(number)

    # THEN
    assert [step[3] for step in steps_of(job)[0]] == [1, 1, 2, 2, 3, 3, 4, 4]


def test_epochs_of_training_loaders_that_are_used_by_turns_are_counted_apart():
    # GIVEN
    job = Job()
    for name in ("first", "second") * 2:
        number = job.loader(name)
        for _ in range(2):
            job.batch(number, 9)
            job.compute(10)
            job.optimizer()

    # THEN
    assert [step[3] for step in steps_of(job)[0]] == [1, 1, 1, 1, 2, 2, 2, 2]


def test_a_validation_in_front_of_an_optimizer_s_step_is_no_part_of_what_is_trained_on():
    # GIVEN a loop that validates between the backward pass and the step, sometimes
    job = Job()
    number = job.loader("train")
    for place in range(6):
        job.batch(number, 10)
        job.compute(20)
        if place in (2, 4):
            validation = job.loader("validation")
            job.start(validation, 1)
            for _ in range(3):
                job.batch(validation, 50)
            job.stop(validation)
        job.optimizer()

    # THEN
    steps, training = steps_of(job)
    assert [step[2] for step in steps] == [10] * 6
    assert training == {"train"}


def test_a_loader_that_is_begun_anew_for_each_step_is_trained_on():
    # GIVEN a loop that takes a batch of samples that it has seen from another loader each time
    job = Job()
    number = job.loader("train")
    for _ in range(4):
        job.batch(number, 10)
        again = job.loader("seen before")
        job.start(again, 1)
        job.batch(again, 4)
        job.compute(20)
        job.optimizer()

    # THEN
    steps, training = steps_of(job)
    assert [step[2] for step in steps] == [15] * 4
    assert training == {"train", "seen before"}


def test_a_pass_over_the_training_loader_that_only_measures_is_no_epoch():
    # GIVEN a loop that looks after each epoch how good the model is on what it was trained with
    job = Job()
    for trains in (True, False) * 2:
        number = job.loader("train", data_set=1)
        job.start(number, 1)
        for _ in range(3):
            job.batch(number, 9)
            job.compute(10)
            if trains:
                job.optimizer()
        job.stop(number)

    # THEN
    loaders = job.loaders
    loaders.number_epochs(job.array)
    found, training = step_rows(job.array, loaders, PID)
    (steps,) = found.blocks
    assert steps["epoch"].tolist() == [1, 1, 1, 2, 2, 2]
    assert loaders.block(job.array, training)["found"][0]["passes"] == 2


def test_an_iterator_that_is_made_right_before_its_first_batch_belongs_to_the_step():
    # GIVEN two loaders of a step, of which the first takes long to start
    job = Job()
    slow, quick = job.loader("slow", data_set=1), job.loader("quick", data_set=2)
    job.start(slow, 100)
    job.start(quick, 1)
    for _ in range(2):
        job.batch(slow, 10)
        job.batch(quick, 2)
        job.compute(20)
        job.optimizer()

    # THEN the step lasts as long as it waits and computes
    assert steps_of(job)[0] == [(0, 133, 113, 1), (133, 32, 12, 1)]


def seconds_of(action):
    took_s = []
    for _ in range(3):
        begin = time.process_time()
        action()
        took_s.append(time.process_time() - begin)
    return min(took_s)


@pytest.mark.parametrize("by_optimizer", [True, False])
def test_many_steps_take_little_more_than_to_look_at_each_row(by_optimizer):
    # GIVEN
    job = Job()
    number = job.loader("train")
    for _ in range(40_000):
        job.batch(number, 10)
        job.compute(20)
        if by_optimizer:
            job.optimizer()
    rows, loaders = job.array, job.loaders
    loaders.number_epochs(rows)

    # THEN
    looked_s = seconds_of(lambda: sum(int(row["begin_ns"]) for row in rows))
    assert seconds_of(lambda: step_rows(rows, loaders, PID)) < 6 * looked_s


def marked(*steps):
    """Return steps that were marked: start, end and wait in ms, and the place of what says so."""
    rows = np.zeros(len(steps), SESSION_STEP)
    for name, values in zip(
        ("start_ns", "end_ns", "input_wait_ns", "source"), zip(*steps, strict=True), strict=True
    ):
        rows[name] = values
    return SessionSteps(iter([rows]), SOURCES)


@pytest.mark.parametrize(
    ("source", "told", "waits"),
    [
        (LOOPED_STEPS, [-1, -1, -1, -1], [10, 0, 8, -1]),
        (LOOPED_STEPS, [4, 3, 2, 5], [14, 3, 10, 5]),
        (LOOPED_STEPS, [15, 3, 2, 5], [15, 3, 10, 5]),
        (STEP_CALLS, [-1, -1, 3, 5], [10, 0, 8, 5]),
        (STEP_CALLS, [11, 2, 12, 5], [11, 2, 12, 5]),
    ],
)
def test_marked_steps_wait_for_what_loaders_are_asked_within_them(source, told, waits):
    # GIVEN steps of 20 ns: one that waits 10 ns, one that keeps its batch, one of two batches, and a last one
    place = SOURCES.index(source)
    steps = marked(*[(20 * number, 20 * number + 20, wait, place) for number, wait in enumerate(told)])

    # THEN
    (found,) = with_requests(steps, np.array([5, 45, 55]), np.array([15, 48, 60])).blocks
    assert found["input_wait_ns"].tolist() == waits


def test_steps_around_the_body_of_a_loop_begin_with_the_request_for_their_batch():
    # GIVEN bodies of 10 ns, in front of which a batch is asked for: the first time an iterator is made before
    place = SOURCES.index(STEP_CALLS)
    steps = marked((120, 130, -1, place), (135, 145, -1, place), (146, 156, -1, place))

    # WHEN the last one goes on with the batch before
    begin_ns, end_ns = np.array([0, 100, 131]), np.array([7, 118, 134])
    (found,) = with_requests(steps, begin_ns, end_ns).blocks

    # THEN
    assert found["start_ns"].tolist() == [93, 131, 146]
    assert found["input_wait_ns"].tolist() == [25, 3, -1]
    assert found["end_ns"].tolist() == [130, 145, 156]
