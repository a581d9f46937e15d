"""Databases like Caffe's, and what tells that all of one was read."""

import pytest
import xxhash

from tfdarshan.workloads.lmdbio.caffe_records import (
    CIFAR10,
    IMAGENET,
    RecordKind,
    Tally,
    datum,
    make_database,
    together,
)

TINY = RecordKind(name="tiny", side=8, key_digits=3, batch=2)


def caffe_datum():
    """Caffe's message, described to Google's protobuf."""
    descriptor_pb2 = pytest.importorskip("google.protobuf.descriptor_pb2")
    from google.protobuf import descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="datum.proto", package="caffe")
    message = file.message_type.add(name="Datum")
    kinds = {"channels": 5, "height": 5, "width": 5, "data": 12, "label": 5}
    for number, (name, kind) in enumerate(kinds.items(), start=1):
        message.field.add(name=name, number=number, type=kind, label=1)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("caffe.Datum"))


@pytest.mark.parametrize("kind", [CIFAR10, IMAGENET])
def test_a_record_is_caffes_message(kind):
    # GIVEN a record of the seed, read by protobuf
    found = caffe_datum().FromString(datum(kind, 17, seed=3))
    # THEN it is an image of the published size
    assert (found.channels, found.height, found.width, found.label) == (3, kind.side, kind.side, 7)
    assert len(found.data) == 3 * kind.side**2
    assert datum(kind, 17, seed=3) == datum(kind, 17, seed=3)
    assert datum(kind, 17, seed=3) != datum(kind, 17, seed=4)
    assert datum(kind, 17, seed=3) != datum(kind, 18, seed=3)


RECORDS = [(b"0", b"one"), (b"1", b"two"), (b"2", b"two")]


def content_of(records):
    tally = Tally()
    for key, value in records:
        tally.take(key, value)
    return tally.content()


def test_the_order_and_who_read_what_do_not_matter():
    whole = content_of(RECORDS)
    assert content_of(RECORDS[::-1]) == whole
    assert together([content_of(RECORDS[1:]), content_of(RECORDS[:1]), content_of([])]) == whole
    assert whole.digest == sum(xxhash.xxh64_intdigest(value, int(key)) for key, value in RECORDS) % 2**64


@pytest.mark.parametrize(
    "others",
    [
        RECORDS[:2],
        [*RECORDS, RECORDS[0]],
        [(b"0", b"one"), (b"1", b"two"), (b"1", b"two")],
        [(b"0", b"two"), (b"1", b"one"), (b"2", b"two")],
        [(b"0", b"One"), (b"1", b"two"), (b"2", b"two")],
    ],
)
def test_what_is_missing_twice_damaged_or_under_another_key_is_found(others):
    assert content_of(others) != content_of(RECORDS)


def test_a_database_is_made_once_and_known_from_what_was_written(tmp_path):
    # GIVEN
    lmdb = pytest.importorskip("lmdb", reason="py-lmdb is not installed")
    made = make_database(tmp_path, TINY, 7, seed=1)
    written = made.path.stat().st_mtime_ns
    # WHEN it is asked for again
    again = make_database(tmp_path, TINY, 7, seed=1)
    # THEN it is the same, and py-lmdb reads what the seed says
    assert (again, again.path.stat().st_mtime_ns) == (made, written)
    with lmdb.open(str(made.folder), readonly=True, lock=False) as environment, environment.begin() as reads:
        found = [(bytes(key), bytes(value)) for key, value in reads.cursor()]
    assert found == [(b"%03d" % number, datum(TINY, number, 1)) for number in range(7)]
    assert content_of(found) == made.content
    assert made.content.records == 7
    # AND another one is elsewhere
    assert make_database(tmp_path, TINY, 7, seed=2).folder != made.folder


def test_more_records_than_keys_have_digits_for_are_all_there(tmp_path):
    lmdb = pytest.importorskip("lmdb", reason="py-lmdb is not installed")
    made = make_database(tmp_path, TINY, 1_001, seed=0)
    with lmdb.open(str(made.folder), readonly=True, lock=False) as environment, environment.begin() as reads:
        assert content_of([(bytes(key), bytes(value)) for key, value in reads.cursor()]) == made.content
    assert made.kind.key_digits == 4


def test_one_that_was_interrupted_is_made_anew(tmp_path):
    pytest.importorskip("lmdb", reason="py-lmdb is not installed")
    left = tmp_path / "tiny-3-seed-0.partial"
    left.mkdir()
    (left / "data.mdb").write_bytes(b"half of it")
    assert make_database(tmp_path, TINY, 3, seed=0).content.records == 3
    assert not left.exists()
