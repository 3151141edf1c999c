/** A push service with one browser: it decrypts what Wakeful sends, as a browser would. */
import { createDecipheriv, createECDH, hkdfSync } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface PushService {
  /** What the browser passes to the web app. */
  subscription: { endpoint: string; keys: { p256dh: string; auth: string } };
  /** The texts of all messages so far, as the service worker gets them. */
  messages: string[];
  /** The status of the next responses. */
  status: number;
  close: () => Promise<void>;
}

export async function startPushService(): Promise<PushService> {
  const browser = createECDH("prime256v1");
  const receiver = browser.generateKeys();
  const auth = Buffer.from("auth secret 1234");

  /** RFC 8291. */
  const decrypt = (body: Buffer): string => {
    const [salt, sender, record] = [body.subarray(0, 16), body.subarray(21, 86), body.subarray(86)];
    const info = Buffer.concat([Buffer.from("WebPush: info\0"), receiver, sender]);
    const derive = (secret: Uint8Array, salted: Uint8Array, about: Uint8Array | string, length: number) =>
      Buffer.from(hkdfSync("sha256", secret, salted, about, length));
    const material = derive(browser.computeSecret(sender), auth, info, 32);
    const key = derive(material, salt, "Content-Encoding: aes128gcm\0", 16);
    const nonce = derive(material, salt, "Content-Encoding: nonce\0", 12);
    const decipher = createDecipheriv("aes-128-gcm", key, nonce).setAuthTag(record.subarray(-16));
    const plain = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]);
    return plain.subarray(0, plain.lastIndexOf(2)).toString();
  };

  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      if (service.status < 300) service.messages.push(decrypt(Buffer.concat(parts)));
      response.writeHead(service.status).end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const service: PushService = {
    subscription: {
      endpoint: `http://127.0.0.1:${port}/send/browser`,
      keys: { p256dh: receiver.toString("base64url"), auth: auth.toString("base64url") },
    },
    messages: [],
    status: 201,
    close: async () => {
      server.close();
      await once(server, "close");
    },
  };
  return service;
}
