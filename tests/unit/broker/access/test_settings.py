"""The section's settings: defaults that are safe, and mistakes that are named with their line."""

import re
from pathlib import Path

import msgspec
import pytest

from weft.broker.access import rules
from weft.broker.access.settings import AccessSettings, JwtSettings, PluginSettings, ThrottleSettings
from weft.core.errors import Misuse
from weft.core.strict import parse


def test_silence_is_safe():
    settings = parse("", AccessSettings).value
    assert settings.anonymous is None
    assert settings.default is None
    assert settings.throttle.enabled
    assert settings.jwt is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pasword_file = 'x'", "<text>:1: unknown field 'pasword_file'"),
        ("\n[jwt]\nsecret_file = 's'", "<text>:2: field 'algorithms' is missing"),
        ("[jwt]\nalgorithms = []", "<text>:2: "),
        ("[jwt]\nalgorithms = ['none']", "<text>:2: "),
        ("certificate_user = 'serial'", "<text>:1: 'serial' is no certificate_user"),
        ("[throttle]\nforgive_s = 0", "<text>:2: "),
        ("[[plugins]]\nuse = 'no colon'", "<text>:2: "),
    ],
)
def test_mistakes_are_named_with_their_line(text, said):
    with pytest.raises(Misuse) as wrong:
        parse(text, AccessSettings)
    assert str(wrong.value).startswith(said)


class Top(msgspec.Struct, forbid_unknown_fields=True):
    """The part of a configuration that the pages are about."""

    access: AccessSettings = AccessSettings()


DOCS = Path(__file__).parents[4] / "docs"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", ["SECURITY.md", "PLUGINS.md"])
def test_what_the_pages_show_is_accepted(page):
    shown = blocks(page, "toml")
    assert shown
    for text in shown:
        parse(text, Top)


def test_the_defaults_that_the_page_shows_are_the_defaults():
    (shown,) = (text for text in blocks("SECURITY.md", "toml") if "throttle" in text)
    assert parse(shown, Top).value.access.throttle == AccessSettings().throttle


def test_the_rules_that_the_page_shows_are_accepted():
    (shown,) = (text for text in blocks("SECURITY.md", "acl") if "rules.acl" in text)
    assert len(rules.parse(shown.encode(), "rules.acl")) == 3


def test_every_setting_is_on_the_page():
    page = (DOCS / "SECURITY.md").read_text(encoding="utf-8") + (DOCS / "PLUGINS.md").read_text(encoding="utf-8")
    kinds = (AccessSettings, JwtSettings, ThrottleSettings, PluginSettings)
    fields = [field for kind in kinds for field in kind.__struct_fields__]
    assert [field for field in fields if field not in page] == []
