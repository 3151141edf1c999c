/** Receivers on loopback: a webhook that records its requests, and a mail server that accepts everything. */
import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTcp, type AddressInfo } from "node:net";

export interface Hook {
  url: string;
  /** The status it responds with; 200 unless the test changes it. */
  status: number;
  bodies: string[];
  signatures: string[];
  close: () => void;
}

export async function startHook(): Promise<Hook> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      hook.bodies.push(body);
      hook.signatures.push(String(request.headers["webhook-signature"]));
      response.writeHead(hook.status, { "content-type": "text/plain" }).end(hook.status === 200 ? "noted, thanks" : "no room");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const hook: Hook = { url, status: 200, bodies: [], signatures: [], close: () => server.close() };
  return hook;
}

export interface MailServer {
  port: number;
  emails: string[];
  /** Recipients that it refuses with 550. */
  refused: string[];
  close: () => void;
}

/** Just enough SMTP to accept an email. */
export async function startMailServer(): Promise<MailServer> {
  const server = createTcp((socket) => {
    let email: string | null = null;
    let rest = "";
    const line = (text: string) => {
      if (email !== null) {
        if (text === ".") {
          mailServer.emails.push(email);
          email = null;
          socket.write("250 queued as 1\r\n");
        } else email += `${text}\n`;
      } else if (/^(ehlo|helo)/i.test(text)) socket.write("250 mail.test\r\n");
      else if (/^data/i.test(text)) {
        email = "";
        socket.write("354 go on\r\n");
      } else if (/^quit/i.test(text)) socket.end("221 bye\r\n");
      else if (mailServer.refused.some((address) => text.includes(address))) socket.write("550 5.1.1 no such user\r\n");
      else socket.write("250 ok\r\n");
    };
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split("\r\n");
      rest = lines.pop() ?? "";
      lines.forEach(line);
    });
    socket.write("220 mail.test\r\n");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const mailServer: MailServer = { port: (server.address() as AddressInfo).port, emails: [], refused: [], close: () => server.close() };
  return mailServer;
}
