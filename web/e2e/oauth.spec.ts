/** Monitors that authenticate at a real OAuth 2 server. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { OAuth2Server, type MutableResponse, type MutableToken, type TokenRequestIncomingMessage } from "oauth2-mock-server";
import { expect, test } from "./service";

interface Tried {
  heartbeat: { status: string; reason: string | null; message: string };
}

/** A server that issues tokens, and a page that only the last token opens. */
async function startIssuer() {
  const server = new OAuth2Server();
  await server.issuer.keys.generate("RS256");
  await server.start(0, "127.0.0.1");
  const requests: { body: object; authorization: string }[] = [];
  const state = { issued: "", revoked: "", refusal: "" };
  server.service.on("beforeTokenSigning", (token: MutableToken, request: TokenRequestIncomingMessage) => {
    requests.push({ body: { ...request.body }, authorization: request.headers.authorization ?? "" });
    // Tokens of the same second would be the same.
    token.payload.jti = String(requests.length);
  });
  server.service.on("beforeResponse", (response: MutableResponse) => {
    if (response.body) state.issued = String(response.body.access_token);
    if (state.refusal === "") return;
    response.statusCode = 401;
    response.body = { error: state.refusal };
  });
  const page = createServer((request, response) => {
    const isKnown = request.headers.authorization === `Bearer ${state.issued}` && state.issued !== state.revoked;
    response.writeHead(isKnown ? 200 : 401, { "content-type": "text/plain" }).end(isKnown ? "inside" : "outside");
  }).listen(0, "127.0.0.1");
  await once(page, "listening");
  const token_url = `http://127.0.0.1:${server.address().port}/token`;
  const oauth2 = { token_url, client_id: "wakeful", client_secret: "quiet", scope: "read" };
  const url = `http://127.0.0.1:${(page.address() as AddressInfo).port}/`;
  return { server, page, requests, state, http: { url, authentication_type: "oauth2", oauth2 } };
}

const grant = { grant_type: "client_credentials", scope: "read" };

for (const [auth, expected] of [
  ["basic", { body: grant, authorization: `Basic ${Buffer.from("wakeful:quiet").toString("base64")}` }],
  ["post", { body: { ...grant, client_id: "wakeful", client_secret: "quiet" }, authorization: "" }],
] as const) {
  test(`a monitor gets a token by client credentials (${auth}), and a new one when it is refused`, async ({ member: { api } }) => {
    const { server, page, requests, state, http } = await startIssuer();
    const oauth2 = { ...http.oauth2, client_auth: auth };
    const saved = await api.monitor({ type: "http", name: "inside", heartbeat_interval: 3600, http: { ...http, oauth2 } });
    const check = async () => (await api.post<Tried>(`monitor/${saved.monitorid}/check`, {})).heartbeat;
    expect(await check()).toMatchObject({ status: "up" });
    expect(requests).toEqual([expected]);
    // The token is cached until the target refuses it.
    expect(await check()).toMatchObject({ status: "up" });
    expect(requests.length).toBe(1);
    state.revoked = state.issued;
    expect(await check()).toMatchObject({ status: "up" });
    expect(requests).toEqual([expected, expected]);
    state.revoked = state.issued;
    await server.stop();
    expect(await check()).toMatchObject({ status: "down", reason: "auth" });
    page.close();
  });
}

test("a monitor whose client is refused is down, and says so", async ({ member: { api } }) => {
  const { server, page, state, http } = await startIssuer();
  state.refusal = "invalid_client";
  const saved = await api.monitor({ type: "http", name: "inside", heartbeat_interval: 3600, http });
  const check = async () => (await api.post<Tried>(`monitor/${saved.monitorid}/check`, {})).heartbeat;
  expect(await check()).toMatchObject({ status: "down", reason: "auth", message: "no token: status 401 (invalid_client)" });
  state.refusal = "";
  expect(await check()).toMatchObject({ status: "up" });
  await server.stop();
  page.close();
});
