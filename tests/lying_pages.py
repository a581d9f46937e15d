"""Writes a Parquet file anew with pages that are not what its footer says.

Source: parquet-format's parquet.thrift, and Thrift's compact protocol.
"""

import io

import pyarrow as pa

# Fields of a page's header, and those of what it says by its type: where its encoding is.
PAGE, UNCOMPRESSED, COMPRESSED, CHECKSUM = 1, 2, 3, 4
DETAILS = {0: 5, 2: 7, 3: 8}
ENCODING = {0: 2, 2: 2, 3: 4}
I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12


class Struct(dict):
    """A struct's values by the numbers of their fields, and in `kinds` their types."""

    def __init__(self):
        super().__init__()
        self.kinds = {}


def said_of(header):
    """Return what a page's header says by its type."""
    return header[DETAILS[header[PAGE]]]


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def zigzag(value):
    return varint(2 * value if value >= 0 else -2 * value - 1)


class Reader(io.BytesIO):
    def number(self):
        value = shift = 0
        while True:
            byte = self.read(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self):
        value = self.number()
        return value >> 1 ^ -(value & 1)

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self.read(1)
        if kind in (4, I32, I64):
            return self.signed()
        if kind == BINARY:
            return self.read(self.number())
        if kind == LIST:
            head = self.read(1)[0]
            count = head >> 4 if head >> 4 < 15 else self.number()
            return head & 15, [self.read(1) if head & 15 < 3 else self.value(head & 15) for _ in range(count)]
        return self.struct()

    def struct(self):
        found, field = Struct(), 0
        while head := self.read(1)[0]:
            field = field + (head >> 4) if head >> 4 else self.signed()
            found.kinds[field] = head & 15
            found[field] = self.value(head & 15)
        return found


def encoded(kind, value):
    if kind in (1, 2):
        return b""
    if kind == 3:
        return value
    if kind in (4, I32, I64):
        return zigzag(value)
    if kind == BINARY:
        return varint(len(value)) + value
    if kind == LIST:
        of, values = value
        return (
            bytes([0xF0 | of])
            + varint(len(values))
            + b"".join(one if of < 3 else encoded(of, one) for one in values)
        )
    kinds, out = getattr(value, "kinds", {}), b""
    for field, one in value.items():
        known = kinds.get(field, I32)
        tag = (1 if one else 2) if known in (1, 2) else known
        out += bytes([tag]) + zigzag(field) + encoded(known, one)
    return out + b"\0"


def rewritten(path, column, edit, *, encodings=None, size=None):
    """Edit the pages of a column in the first row group.

    Args:
        path: The file.
        column: The column's name.
        edit: Is given a page's header and its content, decompressed; returns both, and the name of a field
            and what to write for it once the header fits the content, if there is one.
        encodings: What the footer says of the column's encodings.
        size: And of its size, decompressed.
    """
    whole = path.read_bytes()
    footer = Reader(whole[-8 - int.from_bytes(whole[-8:-4], "little") : -8]).struct()
    out, codec = bytearray(whole[:4]), pa.Codec("zstd")
    for number, group in enumerate(footer[4][1]):
        for chunk in group[1][1]:
            about = chunk[3]
            start = min(about[9], about.get(11) or about[9])
            pages = whole[start : start + about[7]]
            moved = len(out) - start
            if number == 0 and about[3][1] == [column.encode()]:
                first, dictionary, data = len(out), None, None
                for header, content, *lie in _edited(pages, codec, edit):
                    if header[PAGE] == 2:
                        dictionary = len(out)
                    elif data is None:
                        data = len(out)
                    out += _page(header, content, codec, *lie)
                about[9] = data or first
                if dictionary is not None and 11 in about:
                    about[11] = dictionary
                about[7] = len(out) - first
                about[6] = about[6] if size is None else size
                about[2] = about[2] if encodings is None else (I32, encodings)
            else:
                about[9] += moved
                if 11 in about:
                    about[11] += moved
                out += pages
    content = encoded(STRUCT, footer)
    path.write_bytes(bytes(out) + content + len(content).to_bytes(4, "little") + b"PAR1")


def _edited(pages, codec, edit):
    reader = Reader(pages)
    while reader.tell() < len(pages):
        header = reader.struct()
        content = reader.read(header[COMPRESSED])
        yield edit(header, codec.decompress(content, header[UNCOMPRESSED]).to_pybytes())


def _page(header, content, codec, lie=None, value=None):
    packed = codec.compress(content, asbytes=True)
    kinds = getattr(header, "kinds", None)
    sizes = {UNCOMPRESSED: len(content), COMPRESSED: len(packed)}
    made = Struct()
    made.update(header)
    made.update(sizes)
    made.kinds = dict.fromkeys(header, I32) | {DETAILS[header[PAGE]]: STRUCT}
    made.kinds |= kinds or {}
    if lie in ("values", "encoding"):
        said_of(made)[1 if lie == "values" else ENCODING[header[PAGE]]] = value
    elif lie is not None:
        made[{"page": PAGE, "uncompressed": UNCOMPRESSED, "compressed": COMPRESSED}[lie]] = value
    return encoded(STRUCT, made) + packed
