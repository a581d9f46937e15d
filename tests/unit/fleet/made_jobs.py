"""Tables of jobs from a few figures of each: what is not named is 0, or unknown where it may be."""

from tests.fleet_population import FIRST_DAY_S
from tfdarshan.fleet.catalogue_folder import as_table
from tfdarshan.fleet.job_columns import READ
from tfdarshan.fleet.job_table import job_table

ON_MOUNT = ("opens", "stats", "bytes_read", "bytes_written", "read_s", "write_s", "meta_s")


def made_jobs(rows, **more):
    """Make a table of jobs, each a dict of columns, with `day` for the days since FIRST_DAY_S."""
    made = []
    for place, row in enumerate(rows):
        figures = dict.fromkeys(ON_MOUNT, 0) | {"reads": 0, "writes": 0, "duration_s": 1000.0, "processes": 1}
        figures |= {"mount_point": "/m", "fs_type": "lustre", "user": "u", "application": "a"} | row
        figures["start"] = (FIRST_DAY_S + figures.pop("day", 0) * 86_400) * 10**9
        entry = {name: figures[name] for name in (*ON_MOUNT, "mount_point", "fs_type")} | {"files": 1}
        made.append({"input": str(place), "catalogued_ns": 0, "state": READ, "mounts": [entry]} | figures)
    return job_table(as_table(made), **more)
