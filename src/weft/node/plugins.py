"""Plugins by name: imports ``module:Class`` and makes one of each, as ``[[access.plugins]]`` lists them."""

import importlib
from collections.abc import Sequence

from weft.broker.access.settings import PluginSettings
from weft.broker.hooks import Plugin, Plugins
from weft.core.errors import Misuse


def load(settings: Sequence[PluginSettings]) -> Plugins:
    """All of them, in order; raises ``Misuse`` with one line if one cannot be had."""
    return Plugins([(_make(each), each.on_error) for each in settings])


def _make(settings: PluginSettings) -> Plugin:
    module_name, _, class_name = settings.use.partition(":")
    try:
        kind = getattr(importlib.import_module(module_name), class_name)
    except Exception as error:
        raise Misuse(
            f"[[access.plugins]] '{settings.use}' cannot be loaded: {type(error).__name__}: {error}"
        ) from error
    if not (isinstance(kind, type) and issubclass(kind, Plugin)):
        raise Misuse(f"[[access.plugins]] '{settings.use}' is no class that derives from weft.broker.hooks.Plugin")
    try:
        return kind(settings.settings)
    except Exception as error:
        raise Misuse(f"[[access.plugins]] '{settings.use}' refuses its settings: {error}") from error
