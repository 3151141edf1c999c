import { QueryClient } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";
import { monitorsQuery, type MonitorRow } from "./monitors";

const { GET } = vi.hoisted(() => ({ GET: vi.fn() }));
vi.mock("./client", () => ({ GET, unwrap: <T>(answer: T) => answer }));
vi.mock("../lib/painted", () => ({ painted: () => Promise.resolve() }));

const row = (monitorid: string, name = monitorid) => ({ monitorid, name }) as MonitorRow;

test("the rest of the list follows the first page, and keeps what happened to that meanwhile", async () => {
  const client = new QueryClient();
  GET.mockResolvedValueOnce({ monitors: [row("a"), row("b"), row("c")], next_cursor: "c" });
  GET.mockImplementationOnce(() => {
    client.setQueryData(monitorsQuery.queryKey, [row("a", "renamed"), row("c"), row("e")]);
    return Promise.resolve({ monitors: [row("d"), row("e")] });
  });
  expect(await client.query(monitorsQuery)).toEqual([row("a", "renamed"), row("c"), row("d"), row("e")]);
  for (const [call, query] of [{ limit: 100 }, { cursor: "c" }].entries()) {
    expect(GET).toHaveBeenNthCalledWith(call + 1, "/api/v1/monitors/rows", expect.objectContaining({ params: { query } }));
  }
});

test("a list that is shown is replaced as a whole", async () => {
  const client = new QueryClient();
  client.setQueryData(monitorsQuery.queryKey, [row("a")]);
  GET.mockResolvedValueOnce({ monitors: [row("b")] });
  await client.query({ ...monitorsQuery, staleTime: 0 });
  expect(client.getQueryData(monitorsQuery.queryKey)).toEqual([row("b")]);
});
