/** A connection to the service that a test can cut, as if the server were down, while the browser stays online. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

export interface Proxy {
  url: string;
  /** Refuses new connections and ends the open ones. */
  cut: () => Promise<void>;
  restore: () => Promise<void>;
}

export async function startProxy(target: string): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let server = forwarder(Number(new URL(target).port), sockets);
  const port = await listen(server, 0);
  const cut = async () => {
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  const restore = async () => {
    server = forwarder(Number(new URL(target).port), sockets);
    await listen(server, port);
  };
  return { url: `http://127.0.0.1:${port}`, cut, restore };
}

function forwarder(port: number, sockets: Set<Socket>): Server {
  return createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
      from.on("error", () => to.destroy());
    }
  });
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}
