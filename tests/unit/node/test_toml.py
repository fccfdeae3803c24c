"""Configurations as text: what is written reads back."""

from weft.broker.access.settings import AccessSettings, JwtSettings
from weft.broker.rewrite import Rule
from weft.node.config import Config, Listener, Proxy, Sni, TlsSettings, read_text
from weft.node.toml import literal, to_toml


def test_the_defaults_read_back() -> None:
    assert read_text(to_toml(Config())) == Config()


def test_lists_of_tables_and_odd_text_read_back() -> None:
    sni = [Sni("a.example", "a\\b.pem", 'key "x".pem')]
    config = Config(
        id="ü \x7f\n\ttab",
        listener=[
            Listener("mqtt://127.0.0.1", anonymous=False, proxy=Proxy(["10.0.0.0/8"])),
            Listener("mqtts://*", tls=TlsSettings("c.pem", sni=sni)),
        ],
        access=AccessSettings(
            roles={"odd role": ["a", "b"]}, jwt=JwtSettings(algorithms=["ES256"], jwks_file="keys"), anonymous=True
        ),
        rewrite=[Rule("a/+", "b/$1")],
    )
    assert read_text(to_toml(config)) == config


def test_values_are_toml() -> None:
    assert literal([True, 1, 2.5, "x", {"a b": None, "c": {}}]) == '[true, 1, 2.5, "x", { c = {} }]'
