"""`python -m tests.perf.tab_server`: TensorBoard as it is, with one more tab that says one word.

That is the least that a tab of a plugin takes: the floor to hold ours against.
"""

from __future__ import annotations

import sys

from tensorboard import default, program
from tensorboard.backend import http_util
from tensorboard.plugins import base_plugin
from werkzeug import wrappers

NAME = "empty"
SCRIPT = b"""export async function render() {
  document.body.textContent = "empty";
  requestAnimationFrame(() => setTimeout(() => performance.mark("tfdarshan:painted"), 0));
}
"""


class EmptyTab(base_plugin.TBPlugin):
    """A tab with one word."""

    plugin_name = NAME

    def is_active(self):
        """Say that there is something to see."""
        return True

    def frontend_metadata(self):
        """Name the tab and its script."""
        return base_plugin.FrontendMetadata(es_module_path="/index.js", tab_name="Empty")

    def get_plugin_apps(self):
        """Return the only route."""
        return {"/index.js": self._script}

    @wrappers.Request.application
    def _script(self, request):
        return http_util.Respond(request, SCRIPT, "text/javascript")


def main() -> None:
    """Run it with the arguments of TensorBoard."""
    server = program.TensorBoard([*default.get_plugins(), EmptyTab])
    server.configure(sys.argv)
    sys.exit(server.main())


if __name__ == "__main__":
    main()
