"""An HTTP server with NTLM authentication by pyspnego, an independent implementation.

Prints its port, then for each request whether the client was authenticated.
The users stand in the file that NTLM_USER_FILE names.
"""

import base64
import http.server

import spnego


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    context = None
    proven = False

    def do_GET(self):
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length).decode()
        if not self.proven:
            token = self.step()
            if not self.proven:
                return self.answer(401, "who are you?", token)
        self.answer(200, f"hello {self.context.client_principal} {self.command} {body}")

    do_POST = do_GET

    def step(self):
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        if scheme != "NTLM":
            return ""
        if self.context is None:
            self.context = spnego.server(
                protocol="ntlm", options=spnego.NegotiateOptions.use_ntlm
            )
        try:
            out = self.context.step(base64.b64decode(token))
        except spnego.exceptions.SpnegoError:
            self.context = None
            return ""
        self.proven = self.context.complete
        return base64.b64encode(out).decode() if out else ""

    def answer(self, status, text, token=""):
        body = text.encode()
        self.send_response(status)
        if status == 401:
            self.send_header("WWW-Authenticate", f"NTLM {token}".strip())
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
