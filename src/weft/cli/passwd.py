"""``weft passwd``: users and their passwords in a password file, which the broker reads at its start and on SIGHUP."""

import json
import os
import secrets
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from weft.cli.exits import Failed
from weft.core.errors import Misuse

PASSWORD_BYTES_MAX = 65_535  # what a CONNECT can carry (§3.1.3.6)
MODE = 0o600


def passwd(
    file: Annotated[Path, typer.Argument(help="The password file; made if it is not there.")],
    user: Annotated[str, typer.Argument(help="The user to add or change.")],
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input, one line, without asking.")
    ] = False,
    delete: Annotated[bool, typer.Option("--delete", "-D", help="Remove the user.")] = False,
    scram: Annotated[bool, typer.Option("--scram", help="Add verifiers for SCRAM-SHA-256 and SCRAM-SHA-512.")] = False,
    scheme: Annotated[
        str | None, typer.Option("--scheme", help="argon2id or scrypt; default: argon2id where this machine has it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document instead of text.")] = False,
) -> None:
    """Add, change or remove a user in a password file. Other lines stay as they are; the file is replaced as a whole.

    The password is asked for twice, without showing it. It is stored as a hash that is slow to guess from.

    Example: weft passwd users.pw alice

    Example: weft passwd --scram --password-stdin users.pw alice < secret.txt

    Example: weft passwd --delete users.pw alice
    """
    from weft.broker.access.passwords import parse, replace, user_wrong

    fault = user_wrong(user)
    if fault:
        raise Misuse(f"{user!r}: {fault}")
    if scheme not in {None, "argon2id", "scrypt"}:
        raise Misuse(f"'{scheme}' is no scheme; known: argon2id, scrypt")
    if delete and (scram or scheme is not None or password_stdin):
        raise Misuse("--delete takes no password, hence no --scram, --scheme or --password-stdin")
    old = file.read_bytes() if file.exists() else b""
    known = parse(old, str(file))  # a file that the broker would refuse is not made worse
    is_known = user in known
    if delete and not is_known:
        raise Failed(f"{file}: no user '{user}' in it")
    texts = [] if delete else hashed(user, ask(user, password_stdin), scheme, scram)
    write_whole(file, replace(old, str(file), user, texts))
    did = "removed" if delete else "changed" if is_known else "added"
    typer.echo(json.dumps({"file": str(file), "user": user, "did": did}) if as_json else f"{did} {user} in {file}")


def hashed(user: str, password: str, scheme: str | None, scram: bool) -> list[str]:
    """The lines' right halves for ``user``."""
    from weft.broker.access.hashes import SALT_BYTES, default_scheme, make, write
    from weft.mqtt.scram import MECHANISMS, ScramError, saslprep, verifier

    data = password.encode()
    if not data or len(data) > PASSWORD_BYTES_MAX:
        raise Misuse(f"a password has 1 to {PASSWORD_BYTES_MAX} bytes")
    texts = [write(make(data, secrets.token_bytes(SALT_BYTES), scheme or default_scheme()))]
    if scram:
        try:
            if saslprep(user) != user:
                raise ScramError("a user name that SASLprep writes otherwise")
            texts += [write(verifier(method, password, secrets.token_bytes(SALT_BYTES))) for method in MECHANISMS]
        except ScramError as error:
            raise Misuse(f"--scram: {error}") from None
    return texts


def ask(user: str, from_stdin: bool) -> str:
    """The password: one line of standard input, or typed twice and not shown."""
    if from_stdin:
        try:
            return sys.stdin.readline(PASSWORD_BYTES_MAX + 2).removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError:
            raise Misuse("the password on standard input is not UTF-8") from None
    if not sys.stdin.isatty():
        raise Misuse("no terminal to ask for the password; use --password-stdin")
    password: str = typer.prompt(f"Password for {user}", hide_input=True, confirmation_prompt="The same again")
    return password


def write_whole(file: Path, data: bytes) -> None:
    """The new file in the old one's place, at once and durably; nobody else may read it, even while it is written.

    Mode and owner of an existing file are kept, so that a broker that runs as another user can still read it.
    """
    target = file.resolve()  # a symbolic link stays one
    old = target.stat() if target.exists() else None
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            if old is not None and (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(stream.fileno(), old.st_uid, old.st_gid)
            os.fchmod(stream.fileno(), MODE if old is None else old.st_mode & 0o777)
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
