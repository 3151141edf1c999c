/** Receivers on loopback: a webhook that keeps what it gets, and a mail server that takes everything. */
import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTcp, type AddressInfo } from "node:net";

export interface Hook {
  url: string;
  /** What it answers; 200 unless told otherwise. */
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

export interface Postbox {
  port: number;
  letters: string[];
  close: () => void;
}

/** Just enough SMTP to take a letter. */
export async function startPostbox(): Promise<Postbox> {
  const server = createTcp((socket) => {
    let letter: string | null = null;
    let rest = "";
    const line = (text: string) => {
      if (letter !== null) {
        if (text === ".") {
          box.letters.push(letter);
          letter = null;
          socket.write("250 kept as 1\r\n");
        } else letter += `${text}\n`;
      } else if (/^(ehlo|helo)/i.test(text)) socket.write("250 postbox\r\n");
      else if (/^data/i.test(text)) {
        letter = "";
        socket.write("354 go on\r\n");
      } else if (/^quit/i.test(text)) socket.end("221 bye\r\n");
      else socket.write("250 ok\r\n");
    };
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split("\r\n");
      rest = lines.pop() ?? "";
      lines.forEach(line);
    });
    socket.write("220 postbox\r\n");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const box: Postbox = { port: (server.address() as AddressInfo).port, letters: [], close: () => server.close() };
  return box;
}
