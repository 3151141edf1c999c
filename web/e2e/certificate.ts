/** TLS servers on loopback, with generated certificates. */
import { generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";

export interface Certificate {
  cert: string;
  key: string;
}

const DAY = 86_400_000;

/** A self-signed certificate for 127.0.0.1, valid for the given number of days. */
export function selfSigned(name: string, days: number): Certificate {
  return signedBy({ name, ...generateKeyPairSync("ec", { namedCurve: "P-256" }) }, name, days);
}

/** A certificate for 127.0.0.1 with that of its issuer, which it is sent with. */
export function withIssuer(name: string, days: number, issuer: string): Certificate {
  const authority = { name: issuer, ...generateKeyPairSync("ec", { namedCurve: "P-256" }) };
  const own = signedBy(authority, name, days, generateKeyPairSync("ec", { namedCurve: "P-256" }));
  return { cert: own.cert + signedBy(authority, issuer, 10 * days).cert, key: own.key };
}

interface Authority {
  name: string;
  publicKey: KeyObject;
  privateKey: KeyObject;
}

function signedBy(issuer: Authority, name: string, days: number, { publicKey, privateKey }: Omit<Authority, "name"> = issuer): Certificate {
  const ecdsa = seq(oid(1, 2, 840, 10045, 4, 3, 2));
  const called = (common: string) => seq(set(seq(oid(2, 5, 4, 3), tlv(0x0c, Buffer.from(common)))));
  const loopback = seq(tlv(0x87, Buffer.from([127, 0, 0, 1])));
  const names = seq(oid(2, 5, 29, 17), tlv(0x04, loopback));
  const now = Date.now();
  const body = seq(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsa,
    called(issuer.name),
    seq(time(now - DAY), time(now + days * DAY)),
    called(name),
    publicKey.export({ type: "spki", format: "der" }),
    tlv(0xa3, seq(names)),
  );
  const signature = tlv(0x03, Buffer.concat([Buffer.from([0]), sign("sha256", body, issuer.privateKey)]));
  const lines = seq(body, ecdsa, signature)
    .toString("base64")
    .replace(/(.{64})/g, "$1\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** An HTTPS server whose certificate the test can replace. */
export async function secureSite(shown: Certificate): Promise<{ url: string; show: (other: Certificate) => void; close: () => void }> {
  const server = createServer(shown, (_, response) => response.end("all is well")).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}/`, show: (other) => server.setSecureContext(other), close: () => server.close() };
}

/** DER: tag, length and value. */
function tlv(tag: number, value: Buffer): Buffer {
  const length =
    value.length < 128 ? [value.length] : value.length < 256 ? [0x81, value.length] : [0x82, value.length >> 8, value.length & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), value]);
}

function seq(...parts: Buffer[]): Buffer {
  return tlv(0x30, Buffer.concat(parts));
}

function set(...parts: Buffer[]): Buffer {
  return tlv(0x31, Buffer.concat(parts));
}

function oid(first: number, second: number, ...others: number[]): Buffer {
  const bytes = others.flatMap((number) => {
    const digits = [number & 127];
    for (let rest = number >> 7; rest > 0; rest >>= 7) digits.unshift((rest & 127) | 128);
    return digits;
  });
  return tlv(0x06, Buffer.from([first * 40 + second, ...bytes]));
}

/** YYMMDDhhmmssZ, which works until 2049. */
function time(at: number): Buffer {
  const text = new Date(at)
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replace(/[-:T]/g, "");
  return tlv(0x17, Buffer.from(text.slice(2)));
}
