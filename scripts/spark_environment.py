"""The environment of executors in one file: what ``weft[spark]`` needs, with this very weft, packed by venv-pack.

venv-pack refuses an editable installation, which a checkout is. So a plain environment is made beside it from the files that
are installed already, without any index: weft's own tree and each distribution that it requires. Two are left out with all that
only they require: pyspark, which a worker brings along in the release that the driver has, and matplotlib, because figures are
drawn by the driver. The tests that come with packages stay behind too.

The result names the interpreter that it was made with: a worker needs the same Python in the same place.
"""

import shutil
import sys
import tempfile
import venv
from importlib.metadata import Distribution, distribution
from importlib.util import cache_from_source
from pathlib import Path

import venv_pack
from packaging.requirements import Requirement

import weft

LEFT_OUT = frozenset({"pyspark", "matplotlib"})
COMPRESSION = 1
"""A cluster nearby fetches it once per executor; higher levels take three times as long for a few per cent."""


def needed(
    name: str, extras: frozenset[str] = frozenset(), found: dict[str, Distribution] | None = None
) -> dict[str, Distribution]:
    """The distributions that ``name[extras]`` requires here, itself left out, by name."""
    found = {} if found is None else found
    for text in distribution(name).requires or ():
        wanted = Requirement(text)
        applies = wanted.marker is None or any(wanted.marker.evaluate({"extra": extra}) for extra in extras | {""})
        if applies and wanted.name.lower() not in LEFT_OUT | found.keys():
            found[wanted.name.lower()] = distribution(wanted.name)
            needed(wanted.name, frozenset(wanted.extras), found)
    return found


def copy(source: Path, target: Path) -> None:
    """A module brings what it was compiled to."""
    pairs = [(source, target)]
    if source.suffix == ".py":
        pairs.append((Path(cache_from_source(str(source))), Path(cache_from_source(str(target)))))
    for original, place in pairs:
        if original.is_file():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(original, place)


def fill(packages: Path) -> None:
    """``packages`` is the site-packages of the new environment."""
    for each in needed("weft", frozenset({"spark"})).values():
        for file in each.files or ():
            if ".." not in file.parts and "tests" not in file.parts and "__pycache__" not in file.parts:
                copy(Path(str(each.locate_file(file))), packages / file)
    own = Path(weft.__file__).parent
    for module in own.rglob("*"):
        if "__pycache__" not in module.parts:
            copy(module, packages / "weft" / module.relative_to(own))


def pack(target: Path) -> None:
    """Replaces ``target`` when it is whole."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="weft-environment-") as folder:
        made = Path(folder) / "environment"
        venv.EnvBuilder(symlinks=True).create(made)
        fill(made / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages")
        partial = target.with_name(f".{target.name}.part")
        venv_pack.pack(str(made), str(partial), format="tar.gz", compress_level=COMPRESSION, force=True)
        partial.replace(target)
