"""The TensorBoard plugin: the tab's pages at TensorBoard's address."""

from __future__ import annotations

from typing import Any

from tensorboard.plugins import base_plugin

from .logdirs import logdirs_of
from .pages import pages
from .routes import Routes
from .tab_names import NAME, TAB


class TfdarshanPlugin(base_plugin.TBPlugin):  # type: ignore[misc]
    """Serves the tab. Below the logdir it reads, and keeps what it worked out of large sessions."""

    plugin_name = NAME

    def __init__(self, context: base_plugin.TBContext) -> None:
        self._routes = Routes(logdirs_of(context))

    def is_active(self) -> bool:
        """Return whether there are sessions; asked at every listing of plugins."""
        return bool(self._routes.store.sessions())

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        """Name the tab and its script."""
        return base_plugin.FrontendMetadata(es_module_path="/index.js", tab_name=TAB)

    def get_plugin_apps(self) -> dict[str, Any]:
        """Return the routes."""
        return pages(self._routes)
