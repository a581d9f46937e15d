"""Objects in C that stand in for methods: what the job sees of them, and what they note."""

import copy
import inspect
import os
import pickle
import resource
import traceback
import warnings
from types import SimpleNamespace
from typing import ClassVar

import pytest

from tfdarshan.frameworks.batch_log import Hooks
from tfdarshan.frameworks.batch_rows import CAME, END, FAILED, FETCH, REQUEST, START, STOPPED, read_rows
from tfdarshan.native import _batches


class Iterator:
    _index_sampler = None

    def __init__(self, batches):
        self._left = list(batches)

    def __iter__(self):
        return self

    def __next__(self):
        if not self._left:
            raise StopIteration
        batch = self._left.pop(0)
        if isinstance(batch, Exception):
            raise batch
        if batch == "warn":
            warnings.warn("of the caller", stacklevel=2)
        return batch


class Loader:
    def __init__(self, *batches):
        self.batches = batches

    def __iter__(self):
        """Give an iterator."""
        return Iterator(self.batches)


class Fetcher:
    def fetch(self, index):
        return index


@pytest.fixture
def noted(tmp_path):
    """Hook the classes, and return what reads what was noted."""
    methods = {(Loader, "__iter__"): _batches.ITER, (Iterator, "__next__"): _batches.NEXT,
               (Fetcher, "fetch"): _batches.FETCH}  # fmt: skip
    originals = {(owner, name): owner.__dict__[name] for owner, name in methods}
    for (owner, name), kind in methods.items():
        setattr(owner, name, _batches.Hook(kind, originals[owner, name]))
    passes = []

    def on_pass(loader, iterator):
        passes.append((loader, type(iterator)))
        return len(passes)

    _batches.begin(str(tmp_path), on_pass)
    yield lambda: [process for process in read_rows(tmp_path) if len(process.rows) or process.notes]
    _batches.end()
    for (owner, name), original in originals.items():
        setattr(owner, name, original)


def test_starts_requests_and_ends_are_noted(noted):
    # WHEN
    assert list(Loader("a", "b")) == ["a", "b"]

    # THEN
    (process,) = noted()
    rows = process.rows
    assert process.pid == os.getpid()
    assert sorted(rows["kind"].tolist()) == [START, REQUEST, REQUEST, REQUEST, END]
    requests = rows[rows["kind"] == REQUEST]
    assert requests["outcome"].tolist() == [CAME, CAME, STOPPED]
    assert requests["ordinal"].tolist() == [0, 1, 2]
    assert set(rows["pass"].tolist()) == {1}
    assert (rows["begin_ns"] <= rows["end_ns"]).all()


def test_waits_are_measured_beside_the_clock_and_keep_their_errors(noted):
    # GIVEN what measures each wait, and fails at the end of the second one
    told = []

    def begin():
        def end(begin_ns, end_ns):
            told.append((begin_ns, end_ns))
            if len(told) == 2:
                raise OSError("of the device")
            _batches.note_exposed(begin_ns, 7)

        return end if len(told) < 3 else None

    _batches.set_waits(begin)

    # WHEN
    with pytest.raises(ValueError, match="damaged"):
        for _ in Loader("a", ValueError("damaged"), "b"):
            pass

    # THEN
    (process,) = noted()
    waits = process.rows[process.rows["kind"] != END]
    assert waits["kind"].tolist() == [START, REQUEST, REQUEST]
    assert told == list(zip(waits["begin_ns"].tolist(), waits["end_ns"].tolist(), strict=True))
    assert waits["exposed_ns"].tolist() == [7, -1, 7]


def test_the_first_batch_of_each_pass_is_told_of_and_errors_are_forgotten(noted):
    # GIVEN what is told of the first batch, and fails
    told = []

    def tell(number, batch):
        told.append((number, batch))
        raise OSError("of ours")

    _batches.set_first(tell)

    # WHEN
    assert [list(Loader("a", "b")), list(Loader()), list(Loader("c"))] == [["a", "b"], [], ["c"]]

    # THEN
    assert told == [(1, "a"), (3, "c")]


def test_ctrl_c_while_a_wait_is_measured_is_the_jobs(noted):
    # GIVEN
    def begin():
        raise KeyboardInterrupt

    _batches.set_waits(begin)

    # WHEN / THEN
    with pytest.raises(KeyboardInterrupt):
        list(Loader("a"))


class Waiting(Iterator):
    """Has a queue of batches, as an iterator of workers has."""

    def __init__(self, batches, look):
        super().__init__(batches)
        self._task_info, self._data_queue = {}, SimpleNamespace(qsize=look)


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("when", ["a pass begins", "the queue is looked at"])
def test_what_a_signals_handler_raises_meanwhile_is_the_jobs(noted, tmp_path, raised, when):
    # GIVEN a signal in what is called for the notes
    def interrupted(*_):
        raise raised

    _batches.begin(str(tmp_path), interrupted if when == "a pass begins" else lambda *_: 1)

    # WHEN / THEN
    with pytest.raises(raised):
        list(Waiting("ab", interrupted))


def kinds_of(process):
    return [(row["kind"], row["pass"]) for row in process.rows if row["kind"] != END]


def test_a_class_that_is_defined_later_is_followed(noted):
    # GIVEN a loader that makes its iterator by itself, as StatefulDataLoader does, and a generator
    hooks, before = Hooks(), dict(vars(Loader))
    hooks.hook_all(Loader, "__iter__", "ITER", chosen=lambda one: not inspect.isgeneratorfunction(one))

    # WHEN
    class Later(Loader):
        def __iter__(self):
            return Iterator(self.batches)

    class Generating(Loader):
        def __iter__(self):
            yield from self.batches

    methods = [one.__dict__["__iter__"] for one in (Later, Generating)]
    assert list(Later("a")) == list(Generating("a")) == ["a"]
    hooks.remove()

    # THEN
    assert [type(method) for method in methods] == [_batches.Hook, type(lambda: 0)]
    (process,) = noted()
    assert kinds_of(process) == [(START, 1), (REQUEST, 1), (REQUEST, 1)]
    assert dict(vars(Loader)) == before
    assert inspect.isfunction(Later.__dict__["__iter__"])


def test_classes_that_derive_are_told_as_before(noted):
    # GIVEN a base class that asks something of those that derive
    class Base:
        named: ClassVar[list[tuple[type, str]]] = []

        def __init_subclass__(cls, *, name, **keywords):
            super().__init_subclass__(**keywords)
            cls.named.append((cls, name))

    own, hooks = Base.__dict__["__init_subclass__"], Hooks()
    hooks.hook_all(Base, "__iter__", "ITER", chosen=lambda _: bool(1 / 0))

    # WHEN
    class Derived(Base, name="first"):
        def __iter__(self):
            return iter(())

    with pytest.raises(TypeError, match="name"):
        type("Unnamed", (Base,), {})
    hooks.remove()

    # THEN
    assert Base.named == [(Derived, "first")]
    assert inspect.isfunction(Derived.__dict__["__iter__"])
    assert Base.__dict__["__init_subclass__"] is own


def test_batches_that_a_start_skips_are_part_of_it(noted):
    # GIVEN a loader that goes on where it was left
    class Resumed(Loader):
        def __iter__(self):
            iterator = super().__iter__()
            next(iterator)
            return iterator

    Hooks().hook(Resumed, "__iter__", "ITER")

    # WHEN
    assert list(Resumed("a", "b")) == ["b"]

    # THEN the pass is one, of the batch that came and of the end
    (process,) = noted()
    assert kinds_of(process) == [(START, 1), (REQUEST, 1), (REQUEST, 1)]
    assert process.rows["ordinal"][process.rows["kind"] == REQUEST].tolist() == [0, 1]


def test_an_iterator_that_is_wrapped_keeps_its_start(noted):
    # GIVEN
    class Wrapping(Loader):
        def __iter__(self):
            return map(str, super().__iter__())

    Hooks().hook(Wrapping, "__iter__", "ITER")

    # WHEN
    assert list(Wrapping(1)) == ["1"]

    # THEN
    (process,) = noted()
    assert kinds_of(process) == [(START, 1), (REQUEST, 1), (REQUEST, 1)]


def test_an_error_has_no_frame_of_ours(noted):
    # WHEN
    with pytest.raises(ValueError, match="damaged") as caught:
        for _ in Loader("a", ValueError("damaged")):
            pass

    # THEN
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert {frame.filename for frame in frames} == {__file__}
    assert [frame.name for frame in frames] == ["test_an_error_has_no_frame_of_ours", "__next__"]
    (process,) = noted()
    assert FAILED in process.rows["outcome"].tolist()


def test_a_warning_names_the_line_of_the_loop(noted):
    # WHEN
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        line = inspect.currentframe().f_lineno + 1
        for _ in Loader("warn"):
            pass

    # THEN
    assert [(one.filename, one.lineno) for one in seen] == [(__file__, line)]


def test_a_hook_looks_as_the_method_does(noted):
    # THEN
    loader = Loader()
    assert Loader.__iter__.__name__ == "__iter__"
    assert Loader.__iter__.__qualname__ == "Loader.__iter__"
    assert Loader.__iter__.__doc__ == "Give an iterator."
    assert str(inspect.signature(loader.__iter__)) == "()"
    assert inspect.ismethod(loader.__iter__)


def test_a_class_that_is_pickled_by_value_has_its_own_method(noted):
    # GIVEN
    hook = vars(Loader)["__iter__"]

    # WHEN as libraries do that send classes of a script to other processes
    make, arguments = hook.__reduce_ex__(pickle.DEFAULT_PROTOCOL)

    # THEN
    assert make(*arguments) is hook.__wrapped__
    assert inspect.isfunction(hook.__wrapped__)


def test_a_forked_process_notes_into_a_file_of_its_own(noted):
    # GIVEN
    fetcher = Fetcher()
    fetcher.fetch(0)

    # WHEN
    child = os.fork()
    if child == 0:
        Fetcher().fetch(1)
        Fetcher().fetch(2)
        os._exit(0)
    os.waitpid(child, 0)
    fetcher.fetch(3)

    # THEN
    fetched = {process.pid: process.rows["kind"].tolist() for process in noted()}
    assert fetched == {os.getpid(): [FETCH] * 2, child: [FETCH] * 2}


def test_a_limit_on_the_size_of_files_is_kept(noted):
    # WHEN
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        Fetcher().fetch(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)

    # THEN no signal ends the process, and nothing is noted
    assert status == 0
    assert noted() == []


def test_notes_of_any_length_come_back(noted):
    # WHEN
    _batches.note(b'{"pass": 1, "loader": {"dataset": "' + b"x" * 200 + b'"}}')
    _batches.note(b'{"pass": 2}')

    # THEN
    (process,) = noted()
    assert process.notes == [{"pass": 1, "loader": {"dataset": "x" * 200}}, {"pass": 2}]


def test_a_copy_of_an_iterator_is_in_no_pass(noted):
    # GIVEN
    iterator = iter(Loader("a"))

    # WHEN
    copied, pickled = copy.deepcopy(iterator), pickle.loads(pickle.dumps(iterator))

    # THEN each is a pass of its own once it is used
    assert [next(copied), next(pickled), next(iterator)] == ["a", "a", "a"]
    (process,) = noted()
    requests = process.rows[process.rows["kind"] == REQUEST]
    assert sorted(requests["pass"].tolist()) == [1, 2, 3]


def test_an_iterator_that_nobody_describes_is_not_noted(tmp_path):
    # GIVEN
    original, asked = Iterator.__next__, []
    setattr(Iterator, "__next__", _batches.Hook(_batches.NEXT, original))  # noqa: B010

    def ask(loader, iterator):
        asked.append(iterator)
        return -1

    _batches.begin(str(tmp_path), ask)

    # WHEN
    try:
        assert list(Iterator("abc")) == ["a", "b", "c"]
    finally:
        _batches.end()
        setattr(Iterator, "__next__", original)  # noqa: B010

    # THEN it is asked about once
    assert len(asked) == 1
    assert [len(process.rows) for process in read_rows(tmp_path)] == [0]


def test_nothing_is_noted_when_nothing_records(noted, tmp_path):
    # WHEN
    _batches.end()
    iterator = iter(Loader("a"))
    assert next(iterator) == "a"

    # THEN
    assert noted() == []
    assert "_tfdarshan_pass" not in vars(iterator)


def test_a_damaged_file_is_left_out(noted, tmp_path):
    # GIVEN
    list(Loader("a"))
    (tmp_path / "1.2.batches").write_bytes(b"TFDBATCH" + bytes(20))
    (tmp_path / "1.3.batches").write_bytes(b"other" * 100)

    # THEN
    assert [process.pid for process in noted()] == [os.getpid()]
