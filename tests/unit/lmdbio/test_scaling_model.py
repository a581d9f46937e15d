"""The model of LMDBIO's scaling, held against what its cases come to by hand."""

import dataclasses

import pytest

pytest.importorskip("simpy", reason="SimPy is not installed")

from tfdarshan.workloads.lmdbio.assumptions import Assumptions
from tfdarshan.workloads.lmdbio.scaling_model import (
    ARMS,
    COAL,
    DIO,
    DM,
    LMDB,
    LMM,
    PROV,
    STAG,
    Piece,
    Simulation,
    pieces,
    simulate,
)

WINDOW = 128 << 10
MIB = 1 << 20
# Round figures: a window takes 1 ms on a server, a seek 10 ms, a round trip 2 ms; nothing else takes time.
PLAIN = Assumptions(
    servers=4,
    server_bandwidth=WINDOW * 1000,
    memory_bandwidth=WINDOW * 10_000,
    seek_s=10e-3,
    round_trip_s=2e-3,
    step_bytes=16 * WINDOW,
    wake_up_s=0.0,
    hand_over_s=0.0,
    jitter_s=0.0,
    readers_per_node=4,
    steps=8,
    compute_s=80.0,
    compute_floor_s=5.0,
)


def assuming(**changes):
    return dataclasses.replace(PLAIN, **changes)


def step_s(arm, processes, assumed, wake="all"):
    return Simulation(arm, processes, wake, assumed).step_s()


def test_one_reader_waits_for_each_window_and_two_seeks():
    # GIVEN 16 windows that lie on two servers, 8 in a row on each
    # WHEN / THEN each takes its transfer and its round trip, and each server seeks once
    assert step_s(LMDB, 1, PLAIN) == pytest.approx(16 * (1e-3 + 2e-3) + 2 * 10e-3)


def test_one_reader_by_explicit_reads_has_one_round_trip():
    # Both servers work at once: a seek and 8 windows, and one round trip.
    assert step_s(PROV, 1, PLAIN) == pytest.approx(10e-3 + 8e-3 + 2e-3)


@pytest.mark.parametrize("processes", [16, 64, 256])
def test_the_servers_bandwidth_is_the_limit_of_many_nodes(processes):
    # GIVEN neither seeks nor round trips, and as many bytes on each of four servers
    assumed = assuming(seek_s=0.0, round_trip_s=0.0, step_bytes=64 * MIB)
    # WHEN / THEN it takes what each server's quarter takes
    assert step_s(PROV, processes, assumed) == pytest.approx(16 * MIB / assumed.server_bandwidth)


def test_one_server_serves_one_request_after_the_other():
    # GIVEN 4 nodes whose parts are 4 windows each, on one server, and a seek for each
    assumed = assuming(servers=1, stripe_bytes=64 * MIB, round_trip_s=0.0)
    # WHEN they read in the order of the file, all but the first go on where the last one ended
    assert step_s(PROV, 16, assumed) == pytest.approx(10e-3 + 16e-3)


@pytest.mark.parametrize(("wake", "wake_ups"), [("all", 16), ("one", 4)])
def test_each_window_wakes_all_readers_each_time_or_each_reader_once(wake, wake_ups):
    # GIVEN a node of 4 readers and wake-ups of 1 ms
    woken = assuming(wake_up_s=1e-3)
    # WHEN / THEN
    more_s = step_s(LMDB, 4, woken, wake) - step_s(LMDB, 4, PLAIN, wake)
    assert more_s == pytest.approx(16 * wake_ups * 1e-3)


def test_one_reader_a_node_is_woken_alike_in_both_ways():
    woken = assuming(wake_up_s=1e-3)
    assert step_s(LMM, 4, woken, "all") == step_s(LMM, 4, woken, "one")
    assert step_s(LMDB, 1, woken, "all") == step_s(LMDB, 1, woken, "one")


def test_nodes_that_read_the_same_get_it_from_the_servers_memory():
    # GIVEN two nodes that read all, and what memory gives takes 0.1 ms
    simulation = Simulation(LMM, 8, "one", PLAIN)
    simulation.step_s()
    # THEN each window was asked for twice, and the servers seek as for one
    assert (simulation.requests, simulation.seeks) == (32, 2)


def test_own_parts_are_read_once_however_many_nodes_there_are():
    simulation = Simulation(DM, 16, "one", PLAIN)
    simulation.step_s()
    assert simulation.requests == 16


def test_handing_over_is_paid_for_every_other_reader_of_a_node():
    # LMM: three others on a node of four. DM: besides, the third node waits for two hand-overs of the cursor.
    assumed = assuming(hand_over_s=1.0)
    assert step_s(LMM, 4, assumed) - step_s(LMM, 4, PLAIN) == pytest.approx(3.0)
    nothing_else = assuming(hand_over_s=1.0, seek_s=0.0, round_trip_s=0.0, server_bandwidth=1e15)
    assert step_s(DM, 12, nothing_else) == pytest.approx(2.0 + 3.0, abs=1e-6)


def test_dio_walks_part_of_the_step_before_it_reads():
    # GIVEN a walk of a quarter: four windows, on the server that the part begins on
    assumed = assuming(walked_share=0.25, seek_s=0.0)
    # THEN these come one by one, and their bytes are then in the server's memory or read again
    assert step_s(DIO, 1, assumed) - step_s(PROV, 1, assumed) == pytest.approx(4 * 3e-3)


def test_coalescing_reads_for_several_steps_at_once():
    # GIVEN 4 nodes of half a MiB a step each, and reads of 4 MiB: one for 8 steps
    simulation = Simulation(COAL, 16, "one", PLAIN)
    whole_s = simulation.step_s() * 8
    # THEN 16 stripes lie on 4 servers: each serves 4 of them, whose order is that of the nodes
    assert simulation.requests == 16
    assert whole_s == pytest.approx(10e-3 + 4 * 8e-3 + 2e-3)


def test_coalescing_goes_no_further_than_the_run():
    # GIVEN a run of 2 steps, of which all nodes together read 4 MiB
    simulation = Simulation(COAL, 16, "one", assuming(steps=2))
    simulation.step_s()
    # THEN each of 4 nodes reads 1 MiB
    assert simulation.requests == 4


def test_staggering_seeks_less_where_nodes_come_in_any_order():
    assumed = assuming(jitter_s=0.05, step_bytes=32 * MIB)
    seeks = {}
    for arm in (COAL, STAG):
        simulation = Simulation(arm, 256, "one", assumed)
        simulation.step_s()
        seeks[arm] = simulation.seeks
    # One after the other, in the order of the file: each server seeks once, or goes on.
    assert seeks[STAG] == assumed.servers
    assert seeks[COAL] > 10 * seeks[STAG]


def test_the_same_seed_gives_the_same_figures_and_another_one_others():
    first = simulate(COAL, 1152)
    assert simulate(COAL, 1152) == first
    assert simulate(COAL, 1152, assumed=Assumptions(seed=1)) != first


def test_a_run_is_its_steps_and_what_computing_takes():
    run = simulate(LMDB, 1, "all", PLAIN)
    assert run.reading_s == pytest.approx(8 * (16 * 3e-3 + 20e-3))
    assert run.computing_s == 85.0
    assert run.total_s == run.reading_s + 85.0
    assert simulate(PROV, 16, "all", PLAIN).computing_s == 10.0


def test_remedies_come_in_the_papers_order_where_nodes_are_many():
    reading_s = {arm: simulate(arm, 1152).reading_s for arm in ARMS}
    chain = [LMDB, LMM, DIO, PROV, COAL, STAG]
    assert sorted(chain, key=reading_s.__getitem__, reverse=True) == chain
    assert reading_s[LMM] > reading_s[DM] > reading_s[COAL]


@pytest.mark.parametrize(
    ("offset", "size", "expected"),
    [
        (0, MIB, [Piece(0, 0, MIB)]),
        (MIB - 10, 30, [Piece(0, MIB - 10, 10), Piece(1, 0, 20)]),
        (4 * MIB, 10, [Piece(0, MIB, 10)]),
        # A stripe and a half of the first server follow each other there.
        (0, 4 * MIB + 10, [Piece(0, 0, MIB + 10), *(Piece(server, 0, MIB) for server in (1, 2, 3))]),
    ],
)
def test_a_range_lies_in_stripes_on_servers(offset, size, expected):
    assert pieces(offset, size, PLAIN) == expected


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Assumptions)])
def test_every_assumption_is_said(name):
    # A figure that is changed has to be seen in the words.
    value = getattr(Assumptions(), name)
    assert dataclasses.replace(Assumptions(), **{name: value * 2 + 1}).worded() != Assumptions().worded()
