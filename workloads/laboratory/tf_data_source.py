"""The input of programs that read with tf.data's own readers."""

from __future__ import annotations

from .program import Part, Program, listing

JPEG = """\
    image = tf.io.decode_jpeg(data, channels=3)
    return tf.image.resize(image, (64, 64))"""


def _decode(program: Program) -> str:
    if program.decode == "jpeg":
        return JPEG
    if program.decode == "arithmetic":
        return (
            "    values = tf.cast(tf.io.decode_raw(data, tf.uint8), tf.float32)\n"
            f"    for _ in range({program.rounds}):\n"
            "        values = tf.sin(values)\n"
            f"    return values[:{program.values}]"
        )
    return f"    return tf.io.decode_raw(data, tf.uint8)[:{program.values}]"


def tf_data_input(program: Program) -> Part:
    """Return definitions and the expression of an epoch."""
    imports = ["pathlib", *(["random"] if program.mixed else [])]
    head, links = _links(program)
    if program.cache == "misplaced" and not program.cut:
        built = "\n".join(f"    {line}" for line in _pipeline(program, head, links).splitlines())
        pipeline, epoch = f"def make_dataset():\n{built}\n    return dataset", "make_dataset()"
    else:
        pipeline, epoch = _pipeline(program, head, links), "dataset"
    text = "\n\n".join([listing(program, _files(program)), _load(program), pipeline])
    return Part(tuple(imports), text, epoch, kept=True)


def _files(program: Program) -> str:
    return "paths" if program.shape == "map" else "shards"


def _load(program: Program) -> str:
    if program.shape == "map":
        return f"def load(path):\n    data = tf.io.read_file(path)\n{_decode(program)}"
    return f"def parse(data):\n{_decode(program)}"


def _links(program: Program) -> tuple[str, list[str]]:
    """Return what the pipeline begins with, and its links."""
    calls = {0: "", -1: ", num_parallel_calls=tf.data.AUTOTUNE"}
    parallel = calls.get(program.threads, f", num_parallel_calls={program.threads}")
    unordered = ", deterministic=False" if program.threads > 1 and program.pool else ""
    head, links = "tf.data.Dataset.from_tensor_slices(paths)", []
    if program.shape == "map":
        if program.shuffle == "paths":
            links.append("shuffle(len(paths))")
        links.append(f"map(load{parallel}{unordered})")
    elif program.shape == "interleave":
        head = "tf.data.Dataset.from_tensor_slices(shards)"
        reader = f"tf.data.TFRecordDataset({_reader(program, 'shard')})"
        cycle = max(program.cycle, program.threads)
        links.append(f"interleave(lambda shard: {reader}, cycle_length={cycle}{parallel}{unordered})")
        links.append("map(parse)")
    else:
        reads = f", num_parallel_reads={program.threads}" if program.threads > 0 else ""
        head = f"tf.data.TFRecordDataset({_reader(program, 'shards')}{reads})"
        links.append(
            "map(parse, num_parallel_calls=tf.data.AUTOTUNE)" if program.threads < 0 else "map(parse)"
        )
    steps = program.count // program.batch - 1
    if program.cache == "right" and program.cut:
        links.append(f"take({steps * program.batch})")
    if program.cache:
        links.append("cache()")
    if program.shuffle == "samples":
        links.append(f"shuffle({program.shuffle_size or program.count})")
    links.append("batch(BATCH)")
    if program.cut and program.cache != "right":
        links.append(f"take({steps})")
    if program.prefetch:
        links.append("prefetch(tf.data.AUTOTUNE)")
    return head, links


def _reader(program: Program, files: str) -> str:
    packed = ', compression_type="GZIP"' if program.gzip else ""
    buffer = f", buffer_size={program.buffer_bytes}" if program.buffer_bytes else ""
    return f"{files}{packed}{buffer}"


def _pipeline(program: Program, head: str, links: list[str]) -> str:
    if program.chained:
        lines = ["dataset = (", f"    {head}", *(f"    .{link}" for link in links), ")"]
    else:
        lines = [f"dataset = {head}", *(f"dataset = dataset.{link}" for link in links)]
    if program.pool:
        lines += [
            "options = tf.data.Options()",
            f"options.threading.private_threadpool_size = {program.pool}",
            "dataset = dataset.with_options(options)",
        ]
    return "\n".join(lines)
