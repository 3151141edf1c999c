/** Which team a tab shows. */
import { QueryClient } from "@tanstack/react-query";
import { beforeEach, expect, test, vi } from "vitest";
import { allowed, meQuery, onTeamLost, showTeam, type Permission } from "./session";
import { setTabTeam, tabTeam } from "./tab-team";

const stored = new Map<string, string>();
vi.stubGlobal("sessionStorage", {
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, value: string) => stored.set(key, value),
  removeItem: (key: string) => stored.delete(key),
});

/** The teams of the user; the session is in the first. */
let teams: string[];
const asked: (string | undefined)[] = [];
vi.stubGlobal("fetch", (_: string, { headers }: { headers: Record<string, string> }) => {
  const team = headers["X-Wakeful-Team"];
  asked.push(team);
  const [own] = teams;
  if (own === undefined) return Promise.resolve(Response.json({ user: null, first_signup: false }));
  if (team !== undefined && !teams.includes(team)) return Promise.resolve(Response.json({ code: "not_found" }, { status: 404 }));
  return Promise.resolve(Response.json({ user: { userid: "ann", groupid: team ?? own, role: "owner" }, first_signup: false }));
});

const lost = vi.fn();
onTeamLost(lost);
let client: QueryClient;

beforeEach(() => {
  stored.clear();
  asked.length = 0;
  lost.mockClear();
  client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
});

test("a new tab shows the team of the session, and stays in it", async () => {
  teams = ["home", "shop"];
  await client.query(meQuery);
  expect(tabTeam()).toBe("home");
  // Another tab has switched the session.
  teams = ["shop", "home"];
  await client.query({ ...meQuery, staleTime: 0 });
  expect(asked).toEqual([undefined, "home"]);
  expect(client.getQueryData(meQuery.queryKey)).toMatchObject({ groupid: "home" });
  expect(lost).not.toHaveBeenCalled();
});

test("a tab that is loaded again shows its own team", async () => {
  teams = ["home", "shop"];
  setTabTeam("shop");
  expect(await client.query(meQuery)).toMatchObject({ groupid: "shop" });
});

test("a tab whose team is gone shows that of the session, and nothing of the other", async () => {
  teams = ["home", "shop"];
  setTabTeam("shop");
  await client.query(meQuery);
  client.setQueryData(["monitors"], ["till"]);
  teams = ["home"];
  expect(await client.query({ ...meQuery, staleTime: 0 })).toMatchObject({ groupid: "home" });
  expect(tabTeam()).toBe("home");
  expect(client.getQueryData(["monitors"])).toBeUndefined();
  expect(lost).toHaveBeenCalledOnce();
});

test("another team is shown with an empty cache", async () => {
  teams = ["home", "shop"];
  await client.query(meQuery);
  client.setQueryData(["monitors"], ["backup"]);
  await showTeam(client, "shop");
  expect(client.getQueryData(meQuery.queryKey)).toMatchObject({ groupid: "shop" });
  expect(client.getQueryData(["monitors"])).toBeUndefined();
  expect(lost).not.toHaveBeenCalled();
});

test("a guest has no team", async () => {
  teams = [];
  expect(await client.query(meQuery)).toBeNull();
  expect(tabTeam()).toBeNull();
});

test("the members of a suspended team may look, and change nothing", () => {
  const permissions: Permission[] = ["view", "report", "respond", "edit", "people", "audit", "bills", "pay", "own"];
  expect(allowed({ permissions, team_suspended: false })).toEqual(permissions);
  expect(allowed({ permissions, team_suspended: true })).toEqual(["view", "audit", "bills"]);
});
