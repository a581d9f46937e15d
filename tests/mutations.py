"""Makes wrong files of right ones, the same for the same seed."""

import copy
import json
import random
from typing import Any

VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 1.5, -0.0, 1e308, -1e308, float("nan"), float("inf"), float("-inf"),
    (1 << 31) - 1, 1 << 31, (1 << 53) + 1, (1 << 61) + 1, (1 << 63) - 1, 1 << 63, -(1 << 63), -(1 << 63) - 1,
    1 << 64, 10**25, 10**400, "", "x", "1", ".", "..", "../../x", "/", "/nowhere", "a/b", "a\0b", "\ud800",
    "\udc80", "\x1b[2J", "9" * 5000, [], [1], [[]], {}, {"a": 1}, {"\ud800": 1}, {"": None},
)  # fmt: skip
BYTES = (b"\xff", b"\xc3(", b"\0", b"\n", b"{", b"]", b'"', b",", b"-", b"\\ud800", b"NaN", b"9" * 400, b"")


def mutate_json(content: bytes, dice: random.Random) -> bytes:
    """Change one to three things of a JSON file: fields, values and names, now and then its bytes."""
    if dice.random() < 0.2:
        return mutate_bytes(content, dice)
    data = json.loads(content)
    for _ in range(dice.randint(1, 3)):
        data = _mutated(data, dice)
    return json.dumps(data).encode()


def mutate_bytes(content: bytes, dice: random.Random) -> bytes:
    """Cut a file, or change some bytes of it; rarely nest it deeply."""
    if dice.random() < 0.05:
        return b"[" * dice.choice((10, 1_000, 200_000)) + content
    if dice.random() < 0.2:
        return content[: dice.randrange(len(content) + 1)]
    changed = bytearray(content)
    for _ in range(dice.randint(1, 3)):
        at = dice.randrange(len(changed) + 1)
        changed[at : at + dice.choice((0, 1, 5))] = dice.choice(BYTES)
    return bytes(changed)


def _mutated(data, dice):
    found = list(places(data))
    if not found or dice.random() < 0.01:
        return copy.deepcopy(dice.choice(VALUES))
    holder, key = dice.choice(found)
    kind = dice.randrange(8)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[dice.choice(("", key + "x", key[:-1], "\udc80"))] = holder.pop(key)
    elif kind == 2:
        other, its = dice.choice(found)
        holder[key] = json.loads(json.dumps(other[its] if its in other or isinstance(other, list) else None))
    elif kind == 3:
        holder[key] = [holder[key]]
    elif kind == 4:
        holder[key] = _nested(dice.choice((3, 100)))
    else:
        holder[key] = copy.deepcopy(dice.choice(VALUES))
    return data


def _nested(depth):
    value: Any = 0
    for _ in range(depth):
        value = {"a": [value]}
    return value


def places(data):
    """Yield each container with each key or index in it."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield data, key
        yield from places(value)
