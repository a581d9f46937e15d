"""The input of programs that read with Python: what a sample is, how one is read, and who reads."""

from __future__ import annotations

from .program import Part, Program, listing

RECORDS = "samples.bin"
DATABASE = "samples.sqlite"
LENGTH_BYTES = 4  # in front of each record of a shard
AHEAD = """\
def read_ahead(batches):
    ready = queue.Queue(4)

    def fill():
        for batch in batches:
            ready.put(batch)
        ready.put(None)

    threading.Thread(target=fill, daemon=True).start()
    while (batch := ready.get()) is not None:
        yield batch
"""
BATCHES = """\
def read_batches():
    batch = []
    for sample in read_samples():
        batch.append(sample)
        if len(batch) == BATCH:
            yield np.stack(batch)
            batch = []
"""


READ_SAMPLES_OF_BATCH = """
def read_samples():
    for start in range(0, len(samples), BATCH):
        yield from pool.map(read, samples[start : start + BATCH])
"""
READ_SAMPLES_AHEAD = """
def read_samples():
    ahead = collections.deque()
    for sample in samples:
        ahead.append(pool.submit(read, sample))
        if len(ahead) == {most}:
            yield ahead.popleft().result()
    while ahead:
        yield ahead.popleft().result()
"""
READ_SERIAL = """\
def read_samples():
    for path in samples:
        yield from read_shard(path)
"""
READ_BY_THREADS = """\
pool = ThreadPoolExecutor({threads})


def read_samples():
    for start in range(0, len(samples), {threads}):
        for shard in pool.map(lambda path: list(read_shard(path)), samples[start : start + {threads}]):
            yield from shard
"""


def _decoded(program: Program) -> str:
    if program.decode_in_map:
        return "bytes(data)"
    if program.decode == "jpeg":
        return "np.asarray(Image.open(io.BytesIO(data)).resize((64, 64)))"
    values = "np.frombuffer(data, np.uint8)"
    if program.decode == "arithmetic":
        values = _sines("np", f"{values}.astype(np.float32)", program.rounds)
    return f"{values}[:{program.values}]"


def _decoded_in_map(program: Program) -> str:
    """Return the same by TensorFlow, where the generator gives bytes for a map to decode."""
    if program.decode == "jpeg":
        return "tf.cast(tf.image.resize(tf.io.decode_jpeg(data, channels=3), (64, 64)), tf.uint8)"
    values = "tf.io.decode_raw(data, tf.uint8)"
    if program.decode == "arithmetic":
        values = _sines("tf", f"tf.cast({values}, tf.float32)", program.rounds)
    return f"{values}[:{program.values}]"


def _sines(module: str, values: str, rounds: int) -> str:
    return f"{module}.sin(" * rounds + values + ")" * rounds


def sample_reader(program: Program) -> tuple[set[str], list[str]]:
    """Return what to import, and definitions: of `samples`, and of what reads one of them."""
    imports = {"pathlib", "import numpy as np"}
    imports |= {"random"} if program.mixed or program.access == "reopened" else set()
    imports |= (
        {"io", "from PIL import Image"} if program.decode == "jpeg" and not program.decode_in_map else set()
    )
    imports |= {"functools"} if program.in_memory and not program.in_order else set()
    imports |= {"os"} if program.access in ("random", "stats", "until_empty", "reopened") else set()
    imports |= {"sqlite3"} if program.access == "sqlite" else set()
    reader = _read_shard(program) if program.access == "shards" else _read(program)
    return imports, [_samples(program), reader]


def python_input(program: Program) -> Part:
    """Return definitions and the expression of an epoch."""
    imports, blocks = sample_reader(program)
    blocks.append(_read_shards(program) if program.access == "shards" else _read_samples(program))
    if program.shape == "generator":
        blocks.append(_from_generator(program))
        epoch = "dataset"
    else:
        blocks.append(BATCHES)
        epoch = "read_batches()"
    if program.threads > 0:
        imports |= {"threading"} if program.access == "sqlite" else set()
        imports.add("from concurrent.futures import ThreadPoolExecutor")
        imports |= {"collections"} if program.threads_ahead else set()
    if program.ahead and program.shape != "generator":
        imports |= {"queue", "threading"}
        blocks.append(AHEAD)
        epoch = f"read_ahead({epoch})"
    text = "\n\n".join(block.strip("\n") for block in blocks if block)
    return Part(tuple(imports), text, epoch, kept=program.shape == "generator")


def _samples(program: Program) -> str:
    """Describe what there is to read: paths, or numbers of records."""
    if program.access == "random":
        order = (
            f"range({program.count})"
            if program.in_order
            else f"np.random.default_rng(0).permutation({program.count})"
        )
        opened = OPENED if program.processes else f'file = os.open(f"{{DATA}}/{RECORDS}", os.O_RDONLY)\n'
        return f"{opened}samples = {order}"
    if program.access == "sqlite":
        order = (
            f"range({program.count})"
            if program.in_order
            else f"np.random.default_rng(0).permutation({program.count})"
        )
        # A connection is one thread's at a time: several threads have one each.
        opened = f'sqlite3.connect(f"{{DATA}}/{DATABASE}", check_same_thread=False)'
        if program.threads > 0:
            opened = f"threading.local()\n\ndef connect():\n    opened.database = {opened}\n"
            return f"opened = {opened}\nsamples = {order}"
        return f"database = {opened}\nsamples = {order}"
    if program.access == "reopened":
        files = listing(program)
        each = program.count // PACKED
        lines = [files, f"samples = [(path, number) for number in range({each}) for path in paths]"]
        if program.kept_open:
            handles = "handles = {path: os.open(path, os.O_RDONLY) for path in paths}"
            lines.append(OPENED if program.processes else handles)
        return "\n".join(lines)
    lines = [listing(program, "samples")]
    if program.access == "stats" and program.listed_once:
        lines.append("sizes = {path: os.path.getsize(path) for path in samples}")
    return "\n".join(lines)


# What is pickled for another process opens its files there.
OPENED = """\
handles = {}

def opened(path):
    place = os.getpid(), path
    if place not in handles:
        handles[place] = os.open(path, os.O_RDONLY)
    return handles[place]

"""
# Files that samples are packed into where each one opens its file again.
PACKED = 8


def _read(program: Program) -> str:
    """Define read(sample)."""
    size = program.size_bytes
    file, handle = "file", "handles[path]"
    if program.processes:
        file, handle = f'opened(f"{{DATA}}/{RECORDS}")', "opened(path)"
    body = {
        "file": 'with open(sample, "rb") as file:\n    data = file.read()',
        "stats": _stats(program),
        "until_empty": _until_empty(program),
        "small_reads": _small_reads(program),
        "reopened": (
            f"path, number = sample\ndata = os.pread({handle}, {size}, number * {size})"
            if program.kept_open
            else 'path, number = sample\nwith open(path, "rb", buffering=0) as file:\n'
            f"    file.seek(number * {size})\n    data = file.read({size})"
        ),
        "random": f"data = os.pread({file}, {size}, int(sample) * {size})",
        "sqlite": (
            f"row = {'opened.' if program.threads > 0 else ''}database"
            '.execute("SELECT data FROM samples WHERE id = ?", (int(sample),)).fetchone()\n'
            "data = row[0]"
        ),
    }[program.access]
    lines = [f"    {line}" for line in [*body.splitlines(), f"return {_decoded(program)}"]]
    kept = "@functools.cache\n" if program.in_memory and not program.in_order else ""
    return kept + "\n".join(["def read(sample):", *lines])


def _stats(program: Program) -> str:
    read = 'with open(sample, "rb") as file:\n    data = file.read()'
    if program.listed_once:
        return f"assert sizes[sample] > 0\n{read}"
    return (
        "if not os.path.exists(sample) or not os.path.isfile(sample) or os.path.getsize(sample) == 0:\n"
        '    raise ValueError(f"{sample} is no sample")\n'
        f"age_s = os.path.getmtime(sample)\n{read}"
    )


def _until_empty(program: Program) -> str:
    if program.known_size:
        return (
            "file = os.open(sample, os.O_RDONLY)\n"
            "data = os.pread(file, os.fstat(file).st_size, 0)\nos.close(file)"
        )
    return (
        'data = b""\nwith open(sample, "rb", buffering=0) as file:\n'
        f"    while part := file.read({max(program.size_bytes, 1 << 16)}):\n        data += part"
    )


def _small_reads(program: Program) -> str:
    if program.large_reads:
        return 'with open(sample, "rb", buffering=0) as file:\n    data = file.read()'
    return (
        'parts = []\nwith open(sample, "rb", buffering=0) as file:\n'
        f"    while part := file.read({program.chunk_bytes}):\n"
        '        parts.append(part)\ndata = b"".join(parts)'
    )


def _read_samples(program: Program) -> str:
    """Define read_samples(), which yields those of an epoch."""
    if program.in_order and program.access == "random":
        block = max(1, (4 << 20) // program.size_bytes)
        size = program.size_bytes
        return (
            "def read_samples():\n"
            f"    for first in range(0, len(samples), {block}):\n"
            f"        block = os.pread(file, {block} * {size}, first * {size})\n"
            f"        for start in range(0, len(block), {size}):\n"
            f"            data = block[start : start + {size}]\n"
            f"            yield {_decoded(program)}"
        )
    if program.in_order and program.access == "sqlite":
        return (
            "def read_samples():\n"
            '    for (data,) in database.execute("SELECT data FROM samples ORDER BY id"):\n'
            f"        yield {_decoded(program)}"
        )
    if program.threads > 0:
        ready = ", initializer=connect" if program.access == "sqlite" else ""
        pool = f"pool = ThreadPoolExecutor({program.threads}{ready})\n\n"
        source = READ_SAMPLES_AHEAD if program.threads_ahead else READ_SAMPLES_OF_BATCH
        return pool + source.format(most=2 * program.threads).strip("\n")
    return "def read_samples():\n    for sample in samples:\n        yield read(sample)"


def _read_shard(program: Program) -> str:
    """Define read_shard(path) of files that hold many samples, each read from end to end."""
    return "\n".join(
        [
            "def read_shard(path):",
            '    with open(path, "rb", buffering=8 << 20) as file:',
            f"        while length := file.read({LENGTH_BYTES}):",
            '            data = file.read(int.from_bytes(length, "little"))',
            f"            yield {_decoded(program)}",
        ]
    )


def _read_shards(program: Program) -> str:
    """Define read_samples() over shards: as many at a time as there are threads."""
    return READ_BY_THREADS.format(threads=program.threads) if program.threads else READ_SERIAL


def _from_generator(program: Program) -> str:
    shape, dtype = ("(64, 64, 3)", "uint8") if program.decode == "jpeg" else (f"({program.values},)", "uint8")
    dtype = "float32" if program.decode == "arithmetic" else dtype
    if program.decode_in_map:
        shape, dtype = "()", "string"
    lines = [
        *([f"def decode(data):\n    return {_decoded_in_map(program)}\n\n"] * program.decode_in_map),
        "dataset = tf.data.Dataset.from_generator(",
        f"    read_samples, output_signature=tf.TensorSpec({shape}, tf.{dtype})",
        ")",
        *(["dataset = dataset.map(decode, num_parallel_calls=tf.data.AUTOTUNE)"] * program.decode_in_map),
        *(["dataset = dataset.cache()"] if program.cache else []),
        "dataset = dataset.batch(BATCH)",
        *(["dataset = dataset.prefetch(tf.data.AUTOTUNE)"] if program.prefetch else []),
    ]
    return "\n".join(lines)
