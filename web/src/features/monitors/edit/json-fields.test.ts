import { expect, test } from "vitest";
import { jsonFields } from "./json-fields";

const shown = (text: string, truncated?: boolean) => jsonFields(text, truncated).map(({ path, value }) => `${path}=${value}`);

test("the fields of a document have their paths", () => {
  expect(shown(`{"a": {"b c": 1, "it's": true}, "list": [{"n": null}, 2, 3, 4], "none": [], "empty": {}, "last": "\\u00e9\\""}`)).toEqual([
    "$.a['b c']=1",
    "$.a['it\\'s']=true",
    "$.list[0].n=null",
    "$.list[1]=2",
    "$.list[2]=3",
    '$.last=é"',
  ]);
  expect(shown(" 5\n")).toEqual(["$=5"]);
  expect(shown(JSON.stringify(Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`k${n}`, n]))))).toHaveLength(60);
});

test("numbers are as they are written, and the last of two fields with one name counts", () => {
  expect(shown(`{"id": 12345678901234567890, "price": 1.10, "id": 98765432109876543210}`)).toEqual([
    "$.id=98765432109876543210",
    "$.price=1.10",
  ]);
});

test("what is no JSON has no fields, cut off or not", () => {
  for (const text of [
    "",
    "<html>",
    "{'a': 1}",
    '{"a": 1,}',
    '{"a" 1}',
    '{"a": 1} {',
    '{"a": 1}}',
    '["\\x"]',
    '{"a": "b"',
    "[1",
    "01",
    "}",
  ]) {
    expect(shown(text), text).toEqual([]);
  }
  for (const text of ["<html>", "{'a': 1", '{"a": 1,}', '{"a" 1, "b"', '{"a": yes, "b"', '["\\x", 1', "}", "[1, 2}, 3", '{"a": 1} {"b"']) {
    expect(shown(text, true), text).toEqual([]);
  }
});

test("of a document that was cut off, the fields before the cut are offered, wherever it is", () => {
  const text = `{"status": "ok", "n": -12.5e3, "on": true, "items": [{"id": 1, "name": "a\\"b"}, [2]], "x": null}`;
  const all = shown(text);
  expect(all).toHaveLength(7);
  expect(shown(text, true)).toEqual(all);
  for (let length = 0; length < text.length; length++) {
    const found = shown(text.slice(0, length), true);
    expect(all.slice(0, found.length), text.slice(0, length)).toEqual(found);
  }
  const before = (cut: string) => shown(text.slice(0, text.indexOf(cut) + cut.length), true).length;
  expect([before('"ok'), before('"ok"'), before("-12"), before("-12."), before("-12.5e3,"), before("tru"), before("true")]).toEqual([
    0, 1, 1, 1, 2, 2, 3,
  ]);
  expect([before('"id": 1'), before('"id": 1,'), before('b"'), before("[2"), before("[2]")]).toEqual([3, 4, 5, 5, 6]);
  expect(shown(`[${"[".repeat(4_000)}`, true)).toEqual([]);
});
