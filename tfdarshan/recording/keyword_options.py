"""What every function that takes a session's options shares: wrong arguments get a sentence, docs one source.

The signatures are written out, so that `help()` and editors show them, and a test holds names, types and
defaults against `tfdarshan.options.Options`, which alone says what each option means.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, ParamSpec, TypeVar

from tfdarshan.errors import ConfigurationError, meant
from tfdarshan.options import Options

P = ParamSpec("P")
R = TypeVar("R")
# A class or a function.
Documented = TypeVar("Documented")

NAMES = tuple(option.name for option in dataclasses.fields(Options))
LINE_WIDTH = 110
PLACE = re.compile(r"^( *)\{options\}$", re.MULTILINE)


def option_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options among a function's arguments, such as its `locals()`."""
    return {name: values[name] for name in NAMES}


def documents_options(**defaults: Any) -> Callable[[Documented], Documented]:
    """Return what puts the options into a docstring's `Args:`, at the line `{options}`.

    Args:
        **defaults: Those that differ from `Options`'.
    """

    def documented(taker: Documented) -> Documented:
        # Without docstrings, as under `python -OO`, there is nothing to put them into.
        if taker.__doc__ is not None:
            taker.__doc__ = PLACE.sub(lambda match: _all_options(match[1], **defaults), taker.__doc__)
        return taker

    return documented


@functools.lru_cache
def _all_options(indent: str, **defaults: Any) -> str:
    """Return the options as lines of a docstring."""
    return "\n".join(
        line
        for option in dataclasses.fields(Options)
        for line in argument_lines(indent, option.name, option_sentences(option, defaults))
    )


def argument_lines(indent: str, name: str, about: str) -> list[str]:
    """Return an argument as lines of a docstring's `Args:`."""
    return textwrap.wrap(
        f"{name}: {about}",
        LINE_WIDTH,
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def option_sentences(option: dataclasses.Field[Any], defaults: Mapping[str, Any]) -> str:
    """Describe what an option means, what it may be, and what it is if it is not given."""
    meaning, allowed = option.metadata["help"], option.metadata["allowed"]
    default = f" Default: {defaults.get(option.name, option.default)!r}."
    if "(default: " in meaning:
        default = ""
    return f"{meaning[0].upper()}{meaning[1:]}. Give {allowed}.{default}"


def says_wrong_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function raise `ConfigurationError`, in a sentence, if its arguments do not fit.

    Of `__init__`, the sentence names the class.
    """
    signature = inspect.signature(function)
    called = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            _complain(called, signature, args, kwargs, error)
        return function(*args, **kwargs)

    return checked


def _complain(
    called: str, signature: inspect.Signature, args: Any, kwargs: Mapping[str, Any], error: TypeError
) -> NoReturn:
    parameters = [one for one in signature.parameters.values() if one.name != "self"]
    names = [parameter.name for parameter in parameters]
    positional = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    own = len(args) - ("self" in signature.parameters)
    why = f"{called}() cannot be called with these arguments: {error}; `help()` shows what it takes."
    wrong = next((name for name in kwargs if name not in names), None)
    if wrong is not None:
        hint = meant(wrong, names, f"its arguments are {', '.join(names)}.")
        why = f"{called}() has no argument {wrong}: {hint}"
    elif own > len(positional):
        takes = f"takes only {' and '.join(positional)}" if positional else "takes nothing"
        why = f"{called}() {takes} without a name: write options by name, such as memory_cap_mb=256."
    elif own == 0 and positional and not set(positional) & set(kwargs):
        why = f'{called}() lacks {positional[0]}, the folder for sessions: write {called}("logs", ...).'
    raise ConfigurationError(why) from None
