/**
 * Fixtures: the running service and its users. A violation of the content security
 * policy or an error in the console fails the test in which it happens.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer as createTcp, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base, expect, type APIRequestContext, type Locator, type Page } from "@playwright/test";

export { expect };
export const PASSWORD = "correct horse 9";

export interface Service {
  url: string;
  /** Its data folder. */
  data: string;
  /** The texts of all emails so far, oldest first. */
  mails: () => string[];
  /** A server on loopback whose response the test controls. */
  target: Target;
}

export interface Target {
  url: string;
  status: number;
  /** What it responds with; a text if it is undefined. */
  json: unknown;
}

export async function freePort(): Promise<number> {
  const server = createTcp().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Whether a local port accepts connections. */
export function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    }).on("error", () => resolve(false));
  });
}

export const binary = process.env.E2E_BINARY ?? join(process.env.CARGO_TARGET_DIR ?? "../target", "debug/wakeful");

async function start(data: string, flags: string[], settings: Record<string, string>): Promise<{ process: ChildProcess; url: string }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const service = spawn(binary, ["serve", "--data", data, "--listen", `127.0.0.1:${port}`, ...flags], {
    stdio: ["ignore", "ignore", "pipe"],
    // Without the caller's own settings. Every test signs up, from the same address.
    env: { PATH: process.env.PATH, WAKEFUL_LOG: "warn", WAKEFUL_LIMITS_SIGNUPS_PER_HOUR: "10000", ...settings },
  });
  let said = "";
  service.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  for (let tries = 0; tries < 200; tries++) {
    if (service.exitCode !== null) throw new Error(`${binary} ended at once: ${said}`);
    const ready = await fetch(`${url}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ready) return { process: service, url };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${binary} was not ready within 10 s: ${said}`);
}

async function startTarget(): Promise<{ target: Target; close: () => void }> {
  const target: Target = { url: "", status: 200, json: undefined };
  const server = createServer((_, response) => {
    const isText = target.json === undefined;
    response.writeHead(target.status, { "content-type": isText ? "text/plain" : "application/json" });
    response.end(isText ? "all is well" : JSON.stringify(target.json));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  target.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { target, close: () => server.close() };
}

interface Worker {
  /** Settings of the service, as environment variables. */
  settings: Record<string, string>;
  /** More flags of `serve`. */
  flags: string[];
  service: Service;
}

interface Fixtures {
  /** Errors in the console that the test provokes. */
  provoked: RegExp | undefined;
  /** A new user, logged in on this page. */
  member: Member;
  watched: undefined;
}

export interface Member {
  email: string;
  /** The API with this user's token. */
  api: Api;
}

let members = 0;

export const test = base.extend<Fixtures, Worker>({
  settings: [{}, { option: true, scope: "worker" }],
  flags: [[], { option: true, scope: "worker" }],
  service: [
    async ({ settings, flags }, use) => {
      const data = mkdtempSync(join(tmpdir(), "wakeful-e2e."));
      const { process: service, url } = await start(data, flags, settings);
      const { target, close } = await startTarget();
      const folder = join(data, "mail");
      const mails = () =>
        readdirSync(folder)
          .sort()
          .map((name) => readFileSync(join(folder, name), "utf8"));
      await use({ url, data, mails, target });
      close();
      service.kill("SIGTERM");
      if (service.exitCode === null) await once(service, "exit");
      rmSync(data, { recursive: true });
    },
    { scope: "worker" },
  ],
  baseURL: ({ service }, use) => use(service.url),
  provoked: [undefined, { option: true }],
  watched: [
    async ({ page, provoked }, use) => {
      const seen: string[] = [];
      watch(page, seen);
      await use(undefined);
      expect(
        seen.filter((text) => !provoked?.test(text)),
        "errors on the page",
      ).toEqual([]);
    },
    { auto: true },
  ],
  member: async ({ page, request, service }, use) => {
    const email = `member${process.pid}.${members++}@example.com`;
    const api = await signUp(request, email);
    await startSession(page, email);
    service.target.status = 200;
    service.target.json = undefined;
    await use({ email, api });
  },
});

/** Expected messages: the browser logs failed requests, and headers it ignores on plain http. */
const known = /^Failed to load resource|^The Cross-Origin-Opener-Policy header has been ignored/;

function watch(page: Page, seen: string[]) {
  page.on("pageerror", (error) => seen.push(error.message));
  page.on("console", (message) => {
    const text = message.text();
    if (message.type() === "error" && !known.test(text)) seen.push(text);
  });
}

export class Api {
  constructor(
    private readonly request: APIRequestContext,
    private readonly token: string,
  ) {}

  async post<T>(path: string, data: object): Promise<T> {
    const headers = { authorization: `Bearer ${this.token}` };
    const answer = await this.request.post(`/api/v1/${path}`, { headers, data });
    expect(answer.status(), await answer.text()).toBe(200);
    return (await answer.json()) as T;
  }

  async get<T>(path: string): Promise<T> {
    const answer = await this.request.get(`/api/v1/${path}`, { headers: { authorization: `Bearer ${this.token}` } });
    expect(answer.status(), await answer.text()).toBe(200);
    return (await answer.json()) as T;
  }

  async monitor(extra: object = {}): Promise<{ monitorid: string; name: string; push_url: string | null }> {
    const body = { type: "api", name: "job", heartbeat_interval: 3600, isactive: true, upside_down_mode: false, ...extra };
    return (await this.post<{ monitor: { monitorid: string; name: string; push_url: string | null } }>("monitor/save", body)).monitor;
  }

  async remove(monitorid: string) {
    const headers = { authorization: `Bearer ${this.token}` };
    const answer = await this.request.delete(`/api/v1/monitor/${monitorid}/delete`, { headers });
    expect(answer.status(), await answer.text()).toBe(200);
  }

  report(monitorid: string, status: string, payload: object = {}) {
    return this.post(`monitor/notify/${monitorid}`, { status, payload });
  }
}

export async function signUp(request: APIRequestContext, email: string): Promise<Api> {
  const answer = await request.post("/api/v1/signup", { data: { email, password: PASSWORD } });
  expect(answer.status(), await answer.text()).toBe(200);
  return new Api(request, ((await answer.json()) as { token: string }).token);
}

/** The API with a new session of an account. */
export async function apiOf(request: APIRequestContext, email: string, password: string): Promise<Api> {
  const answer = await request.post("/api/v1/login", { data: { email, password } });
  expect(answer.status(), await answer.text()).toBe(200);
  return new Api(request, ((await answer.json()) as { token: string }).token);
}

/** Opens the dashboard in a session of this account, without the login page, which takes a second of each test. */
async function startSession(page: Page, email: string) {
  const answer = await page.context().request.post("/api/v1/login", {
    headers: { "x-wakeful-page": "1" },
    data: { email, password: PASSWORD },
  });
  expect(answer.status(), await answer.text()).toBe(200);
  await page.goto("/");
  await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
}

/** Logs in on the login page, at the service's URL or another origin. */
export async function logIn(page: Page, email: string, password = PASSWORD, at = "") {
  await page.goto(`${at}/login`);
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
  await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
}

/** Selects a radio button by clicking its label, as a user does. */
export async function choose(page: Page, name: string | RegExp) {
  const radio = page.getByRole("radio", { name, exact: typeof name === "string" });
  await page.locator("label").filter({ has: radio }).click();
  await expect(radio).toBeChecked();
}

/** Chooses a kind in the gallery of new notifiers. */
export async function chooseKind(within: Page | Locator, name: string) {
  const tiles = within.getByRole("list", { name: "Kinds of notifiers" });
  // The name of a tile begins with that of the kind; its description follows.
  await tiles.getByRole("button", { name: new RegExp(`^${name} `) }).click();
  await expect(within.getByRole("button", { name: "Choose another" })).toBeVisible();
}

/** Logs out and waits for the login page. */
export async function logOut(page: Page) {
  await page.getByRole("button", { name: /Account menu/ }).click();
  await page.getByRole("menuitem", { name: "Log out", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Log in" })).toBeVisible();
}
