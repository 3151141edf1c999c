/** A monitor that authenticates at a real OAuth 2 server. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { OAuth2Server, type MutableToken, type TokenRequestIncomingMessage } from "oauth2-mock-server";
import { expect, test } from "./service";

interface Tried {
  heartbeat: { status: string; reason: string | null; message: string };
}

test("a monitor gets a token by client credentials, and a new one when it is refused", async ({ member }) => {
  const issuer = new OAuth2Server();
  await issuer.issuer.keys.generate("RS256");
  await issuer.start(0, "127.0.0.1");
  const requests: { grant: string; scope: string; authorization: string }[] = [];
  issuer.service.on("beforeTokenSigning", (token: MutableToken, request: TokenRequestIncomingMessage) => {
    const { grant_type: grant, scope = "" } = request.body;
    requests.push({ grant, scope, authorization: request.headers.authorization ?? "" });
    // Tokens of the same second would be the same.
    token.payload.jti = String(requests.length);
  });
  let issued = "";
  issuer.service.on("beforeResponse", (response: { body: { access_token: string } }) => {
    issued = response.body.access_token;
  });
  let revoked = "";
  const page = createServer((request, response) => {
    const isKnown = request.headers.authorization === `Bearer ${issued}` && issued !== revoked;
    response.writeHead(isKnown ? 200 : 401, { "content-type": "text/plain" }).end(isKnown ? "inside" : "outside");
  }).listen(0, "127.0.0.1");
  await once(page, "listening");
  const { port } = issuer.address();
  const oauth2 = { token_url: `http://127.0.0.1:${port}/token`, client_id: "wakeful", client_secret: "quiet", scope: "read" };
  const http = { url: `http://127.0.0.1:${(page.address() as AddressInfo).port}/`, authentication_type: "oauth2", oauth2 };
  const saved = await member.api.monitor({ type: "http", name: "inside", heartbeat_interval: 3600, http });
  const check = async () => (await member.api.post<Tried>(`monitor/${saved.monitorid}/check`, {})).heartbeat;
  expect(await check()).toMatchObject({ status: "up" });
  expect(requests.length).toBe(1);
  const authorization = `Basic ${Buffer.from("wakeful:quiet").toString("base64")}`;
  expect(requests[0]).toEqual({ grant: "client_credentials", scope: "read", authorization });
  // The token is kept until the target refuses it.
  expect(await check()).toMatchObject({ status: "up" });
  expect(requests.length).toBe(1);
  revoked = issued;
  expect(await check()).toMatchObject({ status: "up" });
  expect(requests.length).toBe(2);
  revoked = issued;
  await issuer.stop();
  expect(await check()).toMatchObject({ status: "down", reason: "auth" });
  page.close();
});
