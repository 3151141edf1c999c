import { expect, test } from "vitest";
import openapi from "../../../../docs/openapi.json";
import { en } from "../../shared/i18n/en";
import { typeName, types } from "./data";
import { typeOf } from "./edit/values";
import { viewOf } from "./list/view";

test("every type of the service is offered", () => {
  expect([...types].sort()).toEqual([...openapi.components.schemas.KnownMonitorType.enum].sort());
});

test("a type that only a newer service has is shown by its name", () => {
  expect(types.map((type) => typeName(type, en))).not.toContain("http_keyword");
  expect(typeName("grpc", en)).toBe("grpc");
});

test("an unknown type in a link is ignored", () => {
  expect(typeOf("grpc")).toBe("http");
  expect(viewOf(new URLSearchParams("type=grpc&status=lost"))).toMatchObject({ type: null, state: null });
});
