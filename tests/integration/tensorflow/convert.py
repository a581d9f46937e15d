"""One process: has xprof convert traces, and prints what it made of them as JSON.

Arguments: a JSON list of [trace, tool, trace viewer options].
"""

from __future__ import annotations

import json
import sys

from xprof.convert import raw_to_tool_data


def main(wanted: str) -> None:
    """Print a list with an entry for each conversion."""
    made = []
    for trace, tool, options in json.loads(wanted):
        parameters = {"trace_viewer_options": options, "use_saved_result": False, "hosts": ["host"]}
        data, _ = raw_to_tool_data.xspace_to_tool_data([trace], tool, parameters)
        made.append(json.loads(data))
    print(json.dumps(made))


if __name__ == "__main__":
    main(sys.argv[1])
