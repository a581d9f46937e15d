"""What TensorBoard's entry point names. A failing import here would stop all of TensorBoard.

So this module imports nothing but base_plugin and names; if the plugin itself cannot be imported, the tab
says why, and what to run.
"""

import json

from tensorboard.plugins import base_plugin

from tfdarshan.errors import TfdarshanError

from .tab_names import NAME, TAB


class TfdarshanLoader(base_plugin.TBLoader):  # type: ignore[misc]
    """Makes the plugin, or one that tells why it could not be made."""

    def load(self, context):  # type: ignore[no-untyped-def]
        """Return the plugin for a TensorBoard."""
        try:
            from tfdarshan.native.package_versions import check_view

            check_view()
            from .plugin import TfdarshanPlugin

            return TfdarshanPlugin(context)
        except Exception as error:  # TensorBoard must start, whatever is wrong here.
            return BrokenPlugin(_sentence(error))  # type: ignore[no-untyped-call]


def _sentence(error: Exception) -> str:
    """Return what is wrong, and the command that mends it: tfdarshan's own errors name one."""
    if isinstance(error, TfdarshanError):
        return str(error)
    return f"{type(error).__name__}: {error} Reinstall with: pip install --force-reinstall tfdarshan"


class BrokenPlugin(base_plugin.TBPlugin):  # type: ignore[misc]
    """A tab with one sentence.

    Args:
        sentence: Why the plugin could not be made, and what mends it.
    """

    plugin_name = NAME

    def __init__(self, sentence):  # type: ignore[no-untyped-def]
        self._sentence = f"The I/O tab cannot be shown: {sentence}"

    def is_active(self):  # type: ignore[no-untyped-def]
        """Say that there is something to see: the reason."""
        return True

    def frontend_metadata(self):  # type: ignore[no-untyped-def]
        """Name the tab and its script."""
        return base_plugin.FrontendMetadata(es_module_path="/index.js", tab_name=TAB)

    def get_plugin_apps(self):  # type: ignore[no-untyped-def]
        """Return the only route."""
        return {"/index.js": self._script}

    def _script(self, _environ, start_response):  # type: ignore[no-untyped-def]
        said = json.dumps(self._sentence)
        script = f"export async function render() {{ document.body.textContent = {said}; }}\n".encode()
        start_response("200 OK", [("Content-Type", "text/javascript"), ("Content-Length", str(len(script)))])
        return [script]
