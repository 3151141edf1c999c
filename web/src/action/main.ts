/**
 * The page of an action link: one alert and one large button, without a login. It is opened on phones, at night and over
 * bad connections, so it has no framework. Opening it changes nothing, because mail scanners and link previews open links.
 */
import "../shared/ui/tokens.css";
import "./action.css";
import { applyScheme, onSystemChange } from "../shared/ui/color-scheme";
import { chosen, localeOf } from "../shared/i18n/language";
import { readStored, store } from "../shared/lib/storage";
import { act, LinkError, messageOf, readAlert, type Failure, type Order } from "./api";
import { element } from "./element";
import { durationOf, isLasting, isUnacknowledged, responseOf, stateOf, type LinkedAlert } from "./state";
import { textsOf } from "./texts";

const SNOOZE_HOURS = [1, 4];
/** The name that was entered last, for the next link. */
const NAME_KEY = "wakeful.action-name";

applyScheme();
onSystemChange(applyScheme);
const language = chosen();
const locale = localeOf(language, navigator.languages);
const t = textsOf[language];
document.documentElement.lang = language;

const token = window.location.pathname.split("/")[2] ?? "";
/** Announces what has happened; it stays in the document while the rest is replaced. */
const status = element("p", { class: "status", role: "status" });
const content = element("div", { class: "content" });
const main = element("main", {}, content, status);
document.getElementById("root")?.append(header(), main, element("footer", {}, element("a", { href: "/alerts" }, t.open)));
void open();

function header(): HTMLElement {
  return element("header", {}, element("img", { src: "/favicon.svg", alt: "", width: "28", height: "28" }), "Wakeful");
}

async function open() {
  content.replaceChildren(element("p", { class: "quiet" }, t.loading));
  try {
    show(await readAlert(token));
  } catch (error) {
    const failure = failureOf(error);
    if (failure === "invalid") showInvalid();
    else showUnread(failure);
  }
}

function showInvalid() {
  document.title = `${t.invalid} · Wakeful`;
  content.replaceChildren(element("h1", {}, t.invalid), element("p", { class: "quiet" }, t.invalidHelp));
}

function showUnread(failure: Exclude<Failure, "invalid">) {
  const again = element("button", { type: "button", class: "large" }, t.retry);
  again.addEventListener("click", () => void open());
  content.replaceChildren(element("h1", {}, t.alert), element("p", { class: "error", role: "alert" }, messageOf(failure, t)), again);
}

function show(alert: LinkedAlert) {
  const now = Date.now();
  const state = stateOf(alert);
  const response = responseOf(alert, t, now, locale);
  document.title = `${alert.name} · Wakeful`;
  const form = element("form", { novalidate: "" });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(form, { action: "acknowledge" });
  });
  if (!alert.person) form.append(...nameField());
  if (isUnacknowledged(state)) {
    form.append(element("button", { type: "submit", class: "large" }, t.acknowledge), element("p", { class: "quiet" }, t.acknowledgeHelp));
  }
  if (alert.person) form.append(element("p", { class: "quiet" }, t.as(alert.person)));
  form.append(more(form, isLasting(state)));
  content.replaceChildren(
    element(
      "p",
      { class: "labels" },
      element("span", { class: "badge", "data-state": state }, t.states[state]),
      element("span", { class: "quiet" }, t.severities[alert.severity]),
    ),
    element("h1", { tabindex: "-1" }, alert.name),
    element("p", { class: "cause" }, alert.cause),
    element("p", { class: "quiet" }, durationOf(alert, t, now, locale)),
    ...(response === "" ? [] : [element("p", { class: "response" }, response)]),
    form,
  );
}

function nameField(): HTMLElement[] {
  const input = element("input", {
    id: "name",
    name: "name",
    autocomplete: "name",
    maxlength: "255",
    required: "",
    "aria-describedby": "name-help",
    value: readStored(NAME_KEY) ?? "",
  });
  return [element("label", { for: "name" }, t.name), element("p", { id: "name-help", class: "quiet" }, t.nameHelp), input];
}

/** What is needed less often; only a comment after the alert is over. */
function more(form: HTMLFormElement, lasting: boolean): HTMLElement {
  const button = (label: string, order: () => Order) => {
    const made = element("button", { type: "button" }, label);
    made.addEventListener("click", () => void send(form, order()));
    return made;
  };
  const comment = element("textarea", { id: "comment", rows: "3", maxlength: "4000" });
  const offered = element("div", { class: "content" });
  if (lasting) {
    const spans = SNOOZE_HOURS.map((hours) => button(t.snooze(hours), () => ({ action: "snooze", seconds: hours * 3600 })));
    const resolve = button(t.resolve, () => ({ action: "resolve" }));
    offered.append(element("div", { class: "buttons" }, ...spans, resolve), element("p", { class: "quiet" }, t.resolveHelp));
  }
  offered.append(
    element("label", { for: "comment" }, t.comment),
    comment,
    button(t.send, () => ({ action: "comment", text: comment.value.trim() })),
  );
  return element("details", {}, element("summary", {}, t.more), offered);
}

async function send(form: HTMLFormElement, order: Order) {
  const field = form.querySelector<HTMLInputElement>("#name");
  const name = field?.value.trim() ?? "";
  if (field && name === "") return refuse(form, "name");
  if (order.action === "comment" && order.text === "") return form.querySelector<HTMLElement>("#comment")?.focus();
  const buttons = form.querySelectorAll("button");
  buttons.forEach((button) => (button.disabled = true));
  try {
    const alert = await act(token, { ...order, ...(name !== "" && { name }) });
    if (name !== "") store(NAME_KEY, name);
    done(alert, order.action === "comment" ? t.commented : responseOf(alert, t, Date.now(), locale));
  } catch (error) {
    buttons.forEach((button) => (button.disabled = false));
    const failure = failureOf(error);
    if (failure === "invalid") showInvalid();
    else if (failure === "over" || failure === "changed") await outdated(failure);
    else refuse(form, failure);
  }
}

/** Shows the alert as it is now, and moves the focus to it: the button that had it is gone. */
function done(alert: LinkedAlert, said: string) {
  show(alert);
  status.textContent = said;
  content.querySelector("h1")?.focus();
}

/** The alert is not as it was shown. */
async function outdated(failure: "over" | "changed") {
  await open();
  status.textContent = messageOf(failure, t);
}

function refuse(form: HTMLFormElement, failure: Exclude<Failure, "invalid">) {
  form.querySelector(".error")?.remove();
  const field = form.querySelector<HTMLInputElement>("#name");
  const error = element("p", { class: "error", role: "alert", id: "error" }, messageOf(failure, t));
  if (failure === "name" && field) {
    field.after(error);
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", "error");
    field.focus();
  } else form.prepend(error);
}

function failureOf(error: unknown): Failure {
  return error instanceof LinkError ? error.failure : "failed";
}
