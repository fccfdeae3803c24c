"""A version changes with what rows are computed from, and with nothing else."""

import sys
from importlib import import_module
from typing import ClassVar

import pytest

from weft.pipelines.experiments import version
from weft.pipelines.experiments.catalogue import EXPERIMENTS
from weft.pipelines.experiments.version import key_of, version_of


class Described:
    """As much of an experiment as a version is made from."""

    name = "trial"
    parameters: ClassVar = {"size": int}

    def __init__(self, model, **columns):
        self.model = model
        self.columns = columns


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A model that imports another module, in a package of the same root; each call loads what stands there now."""
    monkeypatch.setattr(version, "ROOT", "weft_trial")
    root = tmp_path / "weft_trial"
    root.mkdir()
    (root / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)

    def load(model: str, rules: str) -> Described:
        (root / "model.py").write_text(model, encoding="utf-8")
        (root / "rules.py").write_text(rules, encoding="utf-8")
        for name in [name for name in sys.modules if name.startswith("weft_trial")]:
            del sys.modules[name]
        version._file_of.cache_clear()
        version._imports.cache_clear()
        return Described(import_module("weft_trial.model").model)

    yield load
    for name in [name for name in sys.modules if name.startswith("weft_trial")]:
        del sys.modules[name]
    version._file_of.cache_clear()
    version._imports.cache_clear()


LAZY = "def model(point, seed):\n    from weft_trial.rules import one\n    return {}\n"


def test_a_change_in_what_the_model_imports_is_another_version(package):
    first = version_of(package(LAZY, "one = 1\n"))
    assert version_of(package(LAZY, "one = 2\n")) != first
    assert version_of(package(LAZY + "\n", "one = 1\n")) != first
    assert version_of(package(LAZY, "one = 1\n")) == first


def test_columns_of_another_type_are_another_version(package):
    model = package(LAZY, "one = 1\n").model
    versions = {
        version_of(Described(model, **columns)) for columns in ({}, {"hops": int}, {"hops": float}, {"more": int})
    }
    assert len(versions) == 4


def test_what_the_model_does_not_import_does_not_matter(package, tmp_path):
    first = version_of(package(LAZY, "one = 1\n"))
    (tmp_path / "weft_trial" / "caption.py").write_text("caption = 'new'\n", encoding="utf-8")
    assert version_of(package(LAZY, "one = 1\n")) == first


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_a_model_does_not_depend_on_the_texts_about_it(experiment):
    """Otherwise a caption would make everything run again."""
    texts = {
        name
        for name, module in sys.modules.items()
        if name.startswith("weft.pipelines.experiments.") and any(each is experiment for each in vars(module).values())
    }
    assert texts
    assert texts.isdisjoint(version._closure(experiment.model.__module__))


def test_keys_tell_runs_apart():
    experiment = Described(None)
    keys = {
        key_of(experiment, each, point, seed)
        for each in ("a", "b")
        for point in ({"size": 1, "kind": "x"}, {"size": 2, "kind": "x"})
        for seed in (0, 1)
    }
    assert len(keys) == 8
    assert key_of(experiment, "a", {"size": 1, "kind": "x"}, 0) == key_of(experiment, "a", {"kind": "x", "size": 1}, 0)
