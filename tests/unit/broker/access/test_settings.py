"""The section's settings: defaults that are safe, and mistakes that are named with their line."""

import pytest

from weft.broker.access.settings import AccessSettings
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
