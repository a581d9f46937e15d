"""Functions that take a session's options: signatures, docstrings, docs and the command line say the same."""

import argparse
import dataclasses
import inspect
import itertools
import re
from typing import Any

import pytest

import tfdarshan
from tests import later_tensorflow as tf
from tfdarshan.commands import run
from tfdarshan.commands.arguments import options_of
from tfdarshan.errors import ConfigurationError
from tfdarshan.options import Options, flag
from tfdarshan.recording import keyword_options
from tfdarshan.testing import BUDGETS, io_budget

# What type checkers would refuse is called through these.
LOOSE: Any = tfdarshan
LOOSE_BUDGET: Any = io_budget
OPTIONS = {option.name: option for option in dataclasses.fields(Options)}
# What else they take, and defaults of their own.
OWN = {
    "profile": ({"logdir", "steps"}, {}),
    "Profile": ({"logdir", "steps"}, {}),
    "enable": (set(), {}),
    "io_budget": ({"logdir", *BUDGETS}, {"tf_profiler": False}),
    "IOCallback": ({"logdir", "batches", "epochs"}, {}),
}


def function_of(name):
    if name == "IOCallback":
        tf.needs("keras")
        return tfdarshan.keras.IOCallback
    return io_budget if name == "io_budget" else getattr(tfdarshan, name)


@pytest.mark.parametrize("name", OWN)
def test_signatures_have_every_option_with_its_type_and_default(name):
    own, defaults = OWN[name]
    parameters = inspect.signature(function_of(name)).parameters

    assert not any(one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL) for one in parameters.values())
    assert set(parameters) == own | set(OPTIONS)
    for option in OPTIONS.values():
        parameter = parameters[option.name]
        assert parameter.kind is parameter.KEYWORD_ONLY
        assert parameter.default == defaults.get(option.name, option.default)
        assert parameter.annotation == option.type


@pytest.mark.parametrize("name", OWN)
def test_docstrings_say_what_options_say(name):
    own, defaults = OWN[name]
    said = inspect.getdoc(function_of(name))
    words = " ".join(said.split())

    for option in OPTIONS.values():
        about = keyword_options.option_sentences(option, defaults)
        assert f" {option.name}: {about}" in words
        assert re.search(r"[Dd]efault: ", about)
    for argument in own:
        assert re.search(rf"^ +{argument}: ", said, re.MULTILINE)
    assert "Raises:\n    ConfigurationError: " in said


def run_parser():
    verbs = argparse.ArgumentParser().add_subparsers()
    run.add_parser(verbs)
    return verbs.choices["run"]


def test_the_command_line_has_the_same_options():
    # GIVEN the parser of `tfdarshan run`
    parser = run_parser()
    (group,) = [group for group in parser._action_groups if group.title == "session options"]
    actions = {action.dest: action for action in group._group_actions}

    # THEN it has each option, with its meaning and its default
    assert list(actions) == list(OPTIONS)
    for name, option in OPTIONS.items():
        assert f"--{name.replace('_', '-')}" in actions[name].option_strings
        assert actions[name].help.startswith(option.metadata["help"])
        words: dict = {True: "yes", False: "no"}
        worded = words.get(option.default, option.default)
        if option.default not in ((), None):
            assert f"(default: {worded})" in actions[name].help

    # and what is not given there has Python's default
    assert Options(**options_of(parser.parse_args([]))) == Options()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *itertools.product(("mapped", "tf_profiler"), ("auto", True, False)),
        *itertools.product(("trace", "programs"), (True, False)),
        ("trace_memory_mb", 512),
        ("engine", "builtin"),
    ],
)
def test_what_is_advised_for_the_command_line_means_the_value(name, value):
    typed = flag(name, value).split()

    assert options_of(run_parser().parse_args([*typed, "train.py"])) == {name: value}


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: LOOSE.profile("x", memory_cap=5),
            "profile() has no argument memory_cap: did you mean memory_cap_mb?",
        ),
        (
            lambda: LOOSE.Profile("x", zebra=5),
            "Profile() has no argument zebra: its arguments are logdir, steps,",
        ),
        (lambda: LOOSE.enable(trac=True), "enable() has no argument trac: did you mean trace?"),
        (
            lambda: LOOSE.profile(),
            'profile() lacks logdir, the folder for sessions: write profile("logs", ...).',
        ),
        (
            lambda: LOOSE.profile("x", 256),
            "profile() takes only logdir without a name: write options by name, such as memory_cap_mb=256.",
        ),
        (lambda: LOOSE_BUDGET(5), "io_budget() takes nothing without a name: write options by name"),
        (
            lambda: LOOSE.profile("x", logdir="y"),
            "profile() cannot be called with these arguments: multiple values for argument 'logdir'",
        ),
        (lambda: LOOSE.profile("x", trace="no"), "trace must be True or False, not 'no'."),
    ],
)
def test_wrong_arguments_get_one_sentence(call, sentence):
    with pytest.raises(ConfigurationError) as error:
        call()

    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_wrong_arguments_of_the_callback_get_one_sentence():
    tf.needs("keras")
    with pytest.raises(
        ConfigurationError, match=r"^IOCallback\(\) has no argument epoch: did you mean epochs"
    ):
        LOOSE.keras.IOCallback("x", epoch=1)
