/**
 * Renders /api/openapi.json: calls grouped by tag, each with its parameters, bodies,
 * responses and an example. The details of a call are created when it is opened.
 */

/** How deep an example descends into nested schemas. */
const EXAMPLE_DEPTH = 4;

const dark = window.matchMedia("(prefers-color-scheme: dark)");

/** The scheme chosen in the web app, else that of the system. */
function applyScheme() {
  const chosen = localStorage.getItem("wakeful.scheme");
  const scheme = chosen === "light" || chosen === "dark" ? chosen : dark.matches ? "dark" : "light";
  document.documentElement.dataset.scheme = scheme;
}

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null));
  return node;
}

/** A description, in which backticks mark code. */
function prose(text, attributes = {}) {
  const parts = text.split("`").map((part, index) => (index % 2 === 1 ? element("code", {}, part) : part));
  return element("p", attributes, ...parts);
}

// Schemas

/** Follows a reference, and combines a schema with the alternative that is not null. */
function resolve(spec, schema) {
  if (!schema) return {};
  if (schema.$ref) {
    const { $ref, ...own } = schema;
    const name = $ref.split("/").pop();
    return { ...resolve(spec, spec.components.schemas[name]), ...own, name };
  }
  const one = alternatives(schema);
  if (one.length !== 1) return schema;
  const { oneOf: _, ...own } = schema;
  return { ...resolve(spec, one[0]), ...own };
}

function alternatives(schema) {
  return (schema.oneOf ?? schema.anyOf ?? []).filter((option) => option.type !== "null");
}

function typeOf(spec, schema) {
  const options = alternatives(schema);
  if (options.length > 0) return options.map((option) => typeOf(spec, resolve(spec, option))).join(" or ");
  if (schema.enum) return schema.enum.filter((value) => value !== null).join(" | ");
  const type = [schema.type].flat().find((name) => name !== "null") ?? "any";
  if (type === "array") return `array of ${typeOf(spec, resolve(spec, schema.items))}`;
  return schema.format && !/^(u?int|double|float)/.test(schema.format) ? `${type}, ${schema.format}` : type;
}

function limits(schema) {
  const range = (min, max, unit) => {
    if (min === undefined && max === undefined) return [];
    if (max === undefined) return min > 0 ? [`at least ${min}${unit}`] : [];
    return [min === undefined ? `at most ${max}${unit}` : `${min} to ${max}${unit}`];
  };
  return [
    ...range(schema.minimum, schema.maximum, ""),
    ...range(schema.minLength, schema.maxLength, " characters"),
    ...range(schema.minItems, schema.maxItems, " items"),
  ];
}

/** The schema whose fields are listed below a value: its own, or those of its items. */
function objectIn(spec, schema) {
  if (schema.properties) return schema;
  return schema.items ? objectIn(spec, resolve(spec, schema.items)) : null;
}

/** `above` has the names of the enclosing schemas, since a schema may contain itself. */
function fields(spec, schema, above = []) {
  const required = schema.required ?? [];
  const items = Object.entries(schema.properties).map(([name, value]) =>
    field(spec, { name, required: required.includes(name) }, resolve(spec, value), above),
  );
  return element("ul", { class: "fields" }, ...items);
}

function field(spec, { name, required }, schema, above) {
  const inner = objectIn(spec, schema);
  return element(
    "li",
    {},
    element("code", { class: "name" }, name),
    element("span", { class: "type" }, [typeOf(spec, schema), ...limits(schema)].join(", ")),
    required ? element("span", { class: "required" }, "required") : null,
    schema.description ? prose(schema.description, { class: "note" }) : null,
    inner && !above.includes(inner.name) ? fields(spec, inner, [...above, inner.name]) : null,
  );
}

function bodyOf(spec, schema) {
  const inner = objectIn(spec, schema);
  if (inner) return fields(spec, inner, [inner.name]);
  const options = alternatives(schema).map((option) => resolve(spec, option));
  if (options.length === 0) return element("p", {}, typeOf(spec, schema));
  return element(
    "div",
    {},
    ...options.flatMap((option, index) => [element("p", {}, index === 0 ? "Either:" : "Or:"), bodyOf(spec, option)]),
  );
}

// Examples

const samples = {
  uuid: "01997b1e-5c0a-7c3e-9d52-3f1a8b6e4d20",
  "date-time": "2026-01-31T12:00:00Z",
  email: "ann@example.com",
  uri: "https://example.com",
};

function sample(spec, raw, depth = 0) {
  const schema = resolve(spec, raw);
  const options = alternatives(schema);
  if (options.length > 0) return sample(spec, options[0], depth);
  if (schema.enum) return schema.enum[0];
  const type = [schema.type].flat().find((name) => name !== "null");
  if (type === "object") return sampleObject(spec, schema, depth);
  if (type === "array") return depth < EXAMPLE_DEPTH && schema.items ? [sample(spec, schema.items, depth + 1)] : [];
  if (type === "boolean") return true;
  if (type === "integer" || type === "number") return Math.max(schema.minimum ?? 1, 1);
  return samples[schema.format] ?? "text";
}

function sampleObject(spec, schema, depth) {
  if (depth >= EXAMPLE_DEPTH) return {};
  const properties = Object.entries(schema.properties ?? {});
  return Object.fromEntries(properties.map(([name, value]) => [name, sample(spec, value, depth + 1)]));
}

function jsonOf(content) {
  return content?.["application/json"]?.schema;
}

function curl(spec, { method, path, operation }) {
  const url = window.location.origin + path.replaceAll("{", "$").replaceAll("}", "");
  const lines = [`curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}"${url}"`];
  if (operation.security?.length) lines.push('-H "Authorization: Bearer $TOKEN"');
  const body = jsonOf(operation.requestBody?.content);
  if (body) lines.push("-H 'Content-Type: application/json'", `-d '${JSON.stringify(sample(spec, body), null, 2)}'`);
  return lines.join(" \\\n  ");
}

/** Text to copy. Browsers give no access to the clipboard over plain http. */
function example(label, text) {
  const box = element("div", { class: "example" }, element("pre", { tabindex: "0", role: "group", "aria-label": label }, text));
  if (!navigator.clipboard) return box;
  const button = element("button", { type: "button", "aria-label": `Copy ${label}` }, "Copy");
  button.addEventListener("click", () => {
    void navigator.clipboard.writeText(text).then(() => (button.textContent = "Copied"));
  });
  box.append(button);
  return box;
}

// Calls

function operations(spec) {
  return Object.entries(spec.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId,
      path,
      method,
      operation,
      tag: operation.tags?.[0] ?? "Other",
      words: [method, path, operation.summary, operation.description, operation.tags?.[0]].join(" ").toLowerCase(),
    })),
  );
}

function section(title, ...children) {
  return [element("h4", {}, title), ...children];
}

function parameters(spec, operation) {
  const all = operation.parameters ?? [];
  if (all.length === 0) return [];
  const items = all.map((one) => {
    const schema = { ...resolve(spec, one.schema), description: one.description };
    return field(spec, { name: one.name, required: one.required }, schema, []);
  });
  return section("Parameters", element("ul", { class: "fields" }, ...items));
}

function requestBody(spec, operation) {
  const schema = jsonOf(operation.requestBody?.content);
  return schema ? section("Request body", bodyOf(spec, resolve(spec, schema))) : [];
}

function success(spec, operation) {
  const [status, response] = Object.entries(operation.responses).find(([code]) => code.startsWith("2")) ?? [];
  if (!response) return [];
  const schema = jsonOf(response.content);
  const others = Object.keys(response.content ?? {}).filter((type) => type !== "application/json");
  return section(
    `Response ${status}`,
    prose(others.length > 0 ? `${response.description} (${others.join(", ")})` : response.description),
    ...(schema ? [bodyOf(spec, resolve(spec, schema)), example("example response", JSON.stringify(sample(spec, schema), null, 2))] : []),
  );
}

function errors(operation) {
  const failed = Object.entries(operation.responses).filter(([code]) => !code.startsWith("2"));
  const items = failed.map(([code, { description }]) =>
    element("li", {}, element("code", { class: "name" }, code), prose(description, { class: "note" })),
  );
  return items.length > 0 ? section("Errors", element("ul", { class: "fields" }, ...items)) : [];
}

function details(spec, call) {
  const { operation } = call;
  return element(
    "div",
    { class: "body" },
    operation.description ? prose(operation.description) : null,
    prose(operation.security?.length ? "Requires authorization." : "Needs no authorization.", { class: "note" }),
    ...parameters(spec, operation),
    ...requestBody(spec, operation),
    ...section("Example", example("example request", curl(spec, call))),
    ...success(spec, operation),
    ...errors(operation),
  );
}

function panel(spec, call) {
  const node = element(
    "details",
    { class: "operation", id: call.id },
    element(
      "summary",
      {},
      element("span", { class: "method", "data-method": call.method }, call.method.toUpperCase()),
      element("h3", {}, element("code", {}, call.path)),
      prose(call.operation.summary ?? ""),
    ),
  );
  const fill = () => node.open && node.append(details(spec, call));
  node.addEventListener("toggle", () => node.children.length === 1 && fill());
  return node;
}

function introduction(spec) {
  return element(
    "div",
    { class: "lead" },
    prose(spec.info.description),
    prose("Authorize with `Authorization: Bearer …`, the token that `POST /api/v1/login` returns, or with `X-API-Key` and `X-Enc-Key`."),
  );
}

function groupByTag(calls) {
  const groups = new Map();
  for (const call of calls) groups.set(call.tag, [...(groups.get(call.tag) ?? []), call]);
  return [...groups].sort(([one], [other]) => one.localeCompare(other));
}

/** The path without the part that all calls have in common. */
function shortPath(path) {
  return path.replace(/^\/api\/(v1\/)?/, "");
}

function link(call) {
  const method = element("span", { class: "method", "data-method": call.method }, call.method.toUpperCase());
  return element("li", { "data-call": call.id }, element("a", { href: `#${call.id}` }, method, ` ${shortPath(call.path)}`));
}

function render(spec) {
  const calls = operations(spec);
  const [reference, contents] = ["reference", "contents"].map((id) => document.getElementById(id));
  reference.replaceChildren(introduction(spec));
  for (const [tag, group] of groupByTag(calls)) {
    reference.append(element("section", {}, element("h2", {}, tag), ...group.map((call) => panel(spec, call))));
    contents.append(element("div", {}, element("p", {}, tag), element("ul", {}, ...group.map(link))));
  }
  return calls;
}

// Search and navigation

/** Shows the calls that contain every word; a group without any is hidden. */
function search(calls, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = new Set(calls.filter((call) => words.every((word) => call.words.includes(word))).map(({ id }) => id));
  for (const node of document.querySelectorAll("details.operation")) node.hidden = !matching.has(node.id);
  for (const node of document.querySelectorAll("[data-call]")) node.hidden = !matching.has(node.dataset.call);
  for (const group of document.querySelectorAll("#reference section, #contents div")) {
    group.hidden = !group.querySelector("details:not([hidden]), li:not([hidden])");
  }
  document.getElementById("found").textContent = words.length === 0 ? "" : `${matching.size} of ${calls.length} calls`;
}

/** Opens the call that the URL names, and moves the focus to it. */
function openLinked() {
  const id = decodeURIComponent(window.location.hash.slice(1));
  const node = document.getElementById(id);
  for (const anchor of document.querySelectorAll("#contents a")) {
    if (anchor.hash === `#${id}`) anchor.setAttribute("aria-current", "true");
    else anchor.removeAttribute("aria-current");
  }
  if (!(node instanceof HTMLDetailsElement)) return;
  node.open = true;
  node.hidden = false;
  node.scrollIntoView();
  node.querySelector("summary").focus({ preventScroll: true });
}

function focusSearch(event) {
  if (event.key !== "/" || event.target instanceof HTMLInputElement) return;
  event.preventDefault();
  document.getElementById("search").focus();
}

async function start() {
  applyScheme();
  dark.addEventListener("change", applyScheme);
  const response = await fetch("/api/openapi.json");
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const calls = render(await response.json());
  const input = document.getElementById("search");
  input.addEventListener("input", () => search(calls, input.value));
  document.addEventListener("keydown", focusSearch);
  window.addEventListener("hashchange", openLinked);
  openLinked();
}

start().catch(() => {
  document.getElementById("reference").replaceChildren(prose("The reference couldn’t be loaded. Reload the page to try again."));
});
