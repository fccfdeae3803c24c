"""What docs/ARCHITECTURE.md points at is there: each `file.py:function` names a function or class of that file."""

import re

NAMED = re.compile(r"([\w/]+\.py):([A-Za-z_][\w.]*)")


def test_every_arrow_names_something_that_exists(root):
    text = (root / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(NAMED.findall(text))
    assert len(named) > 20
    lost = []
    for path, name in sorted(named):
        files = list((root / "src" / "weft").rglob(path))
        words = [re.compile(rf"^\s*(?:class|def) {word}\b", re.MULTILINE) for word in name.rstrip(".").split(".")]
        if len(files) != 1 or not all(word.search(files[0].read_text(encoding="utf-8")) for word in words):
            lost.append(f"{path}:{name}")
    assert lost == []


def test_every_file_it_names_exists(root):
    text = (root / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    files = set(re.findall(r"`((?:runtime|broker|mqtt|tests)/[\w/]+\.py)`", text))
    assert files
    assert [name for name in files if not any((base / name).is_file() for base in (root, root / "src" / "weft"))] == []
