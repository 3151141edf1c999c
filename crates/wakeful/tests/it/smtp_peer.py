"""A mail server for the tests: aiosmtpd on a free port of 127.0.0.1.

smtp_peer.py none|starttls|tls [--cert PEM --key PEM] [--login USER PASSWORD]

Says what happens as JSON lines: {"port": …} once it listens, then {"mail": …} for
each mail it took. A line `CERT KEY` on standard input makes new connections use
that certificate and is answered by {"certificate": …}. Ends with its input.
"""

import argparse
import json
import ssl
import sys

from aiosmtpd.controller import Controller
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
        return AuthResult(success=good, auth_data=user)

    return {"authenticator": check, "auth_required": True, "auth_require_tls": False}


class Peer(Controller):
    def __init__(self, options, context):
        self.mode, self.context = options.mode, context
        self.more = login(*options.login) if options.login else {}
        wrapped = {"ssl_context": context} if options.mode == "tls" else {}
        super().__init__(Keeper(), hostname="127.0.0.1", port=0, **wrapped)

    def factory(self):
        more = dict(self.more)
        if self.mode == "starttls":
            more |= {"tls_context": self.context, "require_starttls": True}
        return SMTP(self.handler, hostname="localhost", **more)

    # The base class connects to itself to see that it runs, which a
    # certificate that it does not trust would break; listening is enough here.
    def _trigger_server(self):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["none", "starttls", "tls"])
    parser.add_argument("--cert")
    parser.add_argument("--key")
    parser.add_argument("--login", nargs=2)
    options = parser.parse_args()
    context = None
    if options.cert:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.cert, options.key)
    peer = Peer(options, context)
    peer.start()
    say(port=peer.server.sockets[0].getsockname()[1])
    for line in sys.stdin:
        cert, key = line.split()
        context.load_cert_chain(cert, key)
        say(certificate=cert)
    peer.stop()


main()
