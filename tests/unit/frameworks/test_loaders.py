"""Which passes are over one loader, where several loaders look alike."""

from tests.unit.frameworks.noted_rows import MS, PID, Job
from tfdarshan.frameworks.pass_note import batch_note
from tfdarshan.frameworks.step_rows import step_rows


def looked_at(job):
    """Return the loader's place and the epoch of each pass, and how long each step waits, in ms."""
    loaders = job.loaders
    loaders.number_epochs(job.array)
    found, _ = step_rows(job.array, loaders, PID)
    (rows,) = found.blocks
    passes = [(place, loaders.epoch_of_pass[number]) for number, place in loaders.of_pass.items()]
    return passes, [wait // MS for wait in rows["input_wait_ns"].tolist()]


def take(job, number, batches, *, trains=False):
    for _ in range(batches):
        job.batch(number, 10)
        job.compute(20)
        if trains:
            job.optimizer()


def validate(job, data_set):
    number = job.loader("Stream", data_set=data_set)
    job.start(number, 7)
    take(job, number, 2)
    job.stop(number)


def test_a_training_and_a_validation_set_that_look_alike_are_two():
    # GIVEN validation within an epoch
    job = Job()
    train = job.loader("Stream", data_set=1)
    take(job, train, 2, trains=True)
    validate(job, 2)
    take(job, train, 2, trains=True)
    validate(job, 2)

    # THEN no step waits for validation
    passes, waits = looked_at(job)
    assert passes == [(0, 1), (1, 1), (1, 2)]
    assert waits == [10, 10, 10, 10]


def test_data_sets_that_are_made_anew_for_each_epoch_are_one_loaders():
    # GIVEN new data sets for each epoch, and validation within each of them
    job = Job()
    for epoch in range(3):
        train = job.loader("Stream", data_set=1 + 2 * epoch)
        take(job, train, 1, trains=True)
        validate(job, 2 + 2 * epoch)
        take(job, train, 1, trains=True)

    # THEN
    passes, waits = looked_at(job)
    assert passes == [(0, 1), (1, 1), (0, 2), (1, 2), (0, 3), (1, 3)]
    assert waits == [10] * 6


def test_a_loader_says_of_what_size_its_batches_are():
    # GIVEN
    job = Job()
    first, second = job.loader("Images", data_set=1), job.loader("Texts", data_set=2)
    job.notes.append(batch_note(second, 4000, 1000))
    take(job, first, 1)
    take(job, second, 1)

    # THEN
    assert [one.get("batch_bytes") for one in job.loaders.found] == [None, 4000]
    assert job.loaders.found[1]["small_bytes"] == 1000


def test_a_look_at_batches_that_come_in_other_threads_is_no_epoch():
    # GIVEN two batches in the main thread, as Keras takes them, and two epochs in TensorFlow's threads
    job = Job()
    take(job, job.loader("train"), 2)
    for _ in range(2):
        number = job.loader("train")
        for thread in (7, 8, 7):
            job.batch(number, 10, thread=thread)

    # THEN the loop's steps are not known from these batches
    loaders = job.loaders
    loaders.number_epochs(job.array)
    assert list(loaders.epoch_of_pass.values()) == [-1, 1, 2]
    assert step_rows(job.array, loaders, PID)[0] is None


def test_a_data_set_that_nobody_can_tell_apart_is_one_loaders():
    # GIVEN
    job = Job()
    for _ in range(2):
        take(job, job.loader("list"), 2, trains=True)

    # THEN
    assert looked_at(job)[0] == [(0, 1), (0, 2)]


def test_a_pass_of_which_no_row_found_room_makes_no_loader():
    # GIVEN
    job = Job()
    take(job, job.loader("Stream", data_set=1), 2, trains=True)
    job.loader("Stream", data_set=2)

    # THEN
    assert [place for place, _ in looked_at(job)[0]] == [0, 0]
