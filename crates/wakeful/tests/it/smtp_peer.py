"""A mail server for the tests: aiosmtpd on a free port of the loopback network.

smtp_peer.py none|starttls|tls [--cert PEM --key PEM] [--login USER PASSWORD]
             [--host HOST] [--port PORT]

Prints JSON lines: {"port": …} once it listens, or {"port": null} if the port cannot be
opened, then {"mail": …} for each received mail. A line `CERT KEY` on standard input makes
new connections use that certificate; the response is {"certificate": …}. Exits at the end
of its input.
"""

import argparse
import asyncio
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult


def say(**what):
    print(json.dumps(what), flush=True)


class Keeper:
    async def handle_DATA(self, server, session, envelope):
        say(
            mail={
                "from": envelope.mail_from,
                "to": envelope.rcpt_tos,
                "data": envelope.content.decode("utf-8"),
                "tls": session.ssl is not None
                or server.transport.get_extra_info("sslcontext") is not None,
                "login": session.auth_data,
            }
        )
        return "250 taken"


def login(user, password):
    def check(server, session, envelope, mechanism, data):
        good = (data.login, data.password) == (user.encode(), password.encode())
        return AuthResult(success=good, handled=good, auth_data=user)

    return {"authenticator": check, "auth_required": True, "auth_require_tls": False}


def server(mode, context, more):
    if mode == "starttls":
        more |= {"tls_context": context, "require_starttls": True}
    return SMTP(Keeper(), hostname="localhost", **more)


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["none", "starttls", "tls"])
    parser.add_argument("--cert")
    parser.add_argument("--key")
    parser.add_argument("--login", nargs=2)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    context = None
    if options.cert:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.cert, options.key)
    more = login(*options.login) if options.login else {}
    loop = asyncio.get_running_loop()
    try:
        listener = await loop.create_server(
            lambda: server(options.mode, context, dict(more)),
            "127.0.0.1" if options.host == "localhost" else options.host,
            options.port,
            ssl=context if options.mode == "tls" else None,
        )
    except OSError:
        say(port=None)
        return
    say(port=listener.sockets[0].getsockname()[1])
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        cert, key = line.split()
        context.load_cert_chain(cert, key)
        say(certificate=cert)


asyncio.run(main())
