import { expect, test } from "vitest";
import { groupsOf, search, type Command, type Group } from "./commands";

const command = (group: Group, label: string, hint = ""): Command => ({
  id: `${group} ${label}`,
  group,
  label,
  hint,
  icon: null,
  run: () => undefined,
});

const commands = [
  command("monitors", "shop api", "api.example.com"),
  command("monitors", "API gateway"),
  command("monitors", "rapid", "api.example.com"),
  command("settings", "API keys"),
  command("pages", "Alerts"),
];

const labels = (query: string) => search(commands, query).map(({ label }) => label);

test("labels that start with the query come first, then words, then anything else", () => {
  expect(labels("api")).toEqual(["API gateway", "shop api", "rapid", "API keys"]);
});

test("every word must be found in the label or the hint", () => {
  expect(labels("shop example")).toEqual(["shop api"]);
  expect(labels("shop gateway")).toEqual([]);
});

test("the number of results of each group is limited", () => {
  const many = Array.from({ length: 2000 }, (_, index) => command("monitors", `job ${index}`));
  expect(search(many, "")).toHaveLength(5);
  expect(search(many, "job")).toHaveLength(8);
});

test("groups keep the positions of their commands", () => {
  expect(groupsOf(search(commands, "api")).map(([group, members]) => [group, members.map(([, index]) => index)])).toEqual([
    ["monitors", [0, 1, 2]],
    ["settings", [3]],
  ]);
});
