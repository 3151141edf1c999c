import { expect, test } from "vitest";
import openapi from "../../../../docs/openapi.json";
import { parseError } from "../api/error";
import { mentionsField, translate } from "./service";
import { service as de } from "./service.de";
import { service as en } from "./service.en";

test("field errors are translated into German, numbers included", () => {
  expect(translate("is required", de)).toBe("Erforderlich.");
  expect(translate("must have at most 255 characters", de)).toBe("Darf höchstens 255 Zeichen lang sein.");
  expect(translate("must be a whole number of seconds from 1 to 2592000", de)).toBe("Geben Sie 1 s bis 30 d ein.");
  expect(translate("its host must be a name or an address", de)).toBe("Der Host ist ungültig. Muss ein Name oder eine Adresse sein.");
});

test("the form shown under a field is translated too, and an unknown message stays unchanged", () => {
  const { fields } = parseError(422, { errors: [{ field: "http.url", message: "must not be empty" }] });
  expect(translate(fields["http.url"] ?? "", de)).toBe("Darf nicht leer sein.");
  expect(translate("Must be a lighthouse.", de)).toBe("Must be a lighthouse.");
});

test("messages about plan limits are translated as a whole, and names stay unchanged", () => {
  expect(translate("The None plan allows 50 active monitors; upgrade to Starter.", de)).toBe(
    "Der Tarif None erlaubt 50 aktive Monitore; der nächste passende Tarif ist Starter.",
  );
  expect(translate("The None plan allows 1 status page; upgrade to Starter.", de)).toBe(
    "Der Tarif None erlaubt 1 Statusseite; der nächste passende Tarif ist Starter.",
  );
  expect(translate("The Starter plan allows 0 custom domains; upgrade to Pro.", de)).toBe(
    "Der Tarif Starter erlaubt keine eigenen Domains; der nächste passende Tarif ist Pro.",
  );
  expect(translate("The notifier is still linked to our users, shop; remove it there first.", de)).toBe(
    "Der Melder wird noch verwendet von: our users, shop. Entfernen Sie ihn dort zuerst.",
  );
});

test("what is wrong with the installation is translated", () => {
  expect(translate("responds and accepts writes", de)).toBe("antwortet und nimmt Änderungen an");
  expect(translate("2 monitors in memory", de)).toBe("2 Monitore im Speicher");
  expect(translate("2 live, 1 silent", de)).toBe("2 aktiv, 1 still");
  expect(translate("no mail server: mails become files", de)).toBe("kein Mailserver: E-Mails werden zu Dateien");
});

/** The service's source, with `{}` for placeholders and without line breaks in long texts. */
const source = Object.values(
  import.meta.glob<string>("../../../../crates/wakeful-{api,core,engine,outbound}/src/**/*.rs", {
    query: "?raw",
    import: "default",
    eager: true,
  }),
)
  .join("\n")
  .replace(/\\\n\s*/g, "")
  .replaceAll('\\"', '"')
  .replace(/\{\w+\}/g, "{}");

test("every sentence in the tables exists in the service", () => {
  const sentences = [en, de].flatMap(({ refusals }) => refusals.map(([sentence]) => sentence));
  expect(sentences.filter((sentence) => !known(sentence))).toEqual([]);
});

/** Some begin with a number, some have an ending that varies, and one is about several kinds of things. */
const known = (sentence: string) =>
  source.includes(`"${sentence.replace("{n} ", "").replace(/^The (notifier|policy|schedule) is still linked/, "The {} is still linked")}`);

test("both languages have the same sentences", () => {
  const sentences = ({ refusals }: typeof en) => refusals.map(([sentence]) => sentence).sort();
  expect(sentences(en)).toEqual(sentences(de));
});

test("every placeholder is used in the text, unless it stands for a field", () => {
  const placeholders = (text: string) => text.replaceAll(/\{[ns]\}/g, "{}").split("{}").length;
  const differing = [en, de].flatMap(({ refusals }) => refusals.filter(([from, to]) => placeholders(from) !== placeholders(to)));
  expect(new Set(differing.map(([sentence]) => sentence))).toEqual(new Set(["is required with {}"]));
});

/** Every name in the requests of the API that is not also a word. */
const fields = Object.entries(openapi.components.schemas)
  .filter(([name]) => /^(Save|Preview|Test|Try)/.test(name))
  .flatMap(([, schema]) => ("properties" in schema ? Object.keys(schema.properties) : []))
  .filter((name) => /[_A-Z0-9]|^is|id$/.test(name));

test("the names of the API’s fields are recognized", () => {
  expect(fields).toEqual(expect.arrayContaining(["heartbeat_interval", "to_email", "expiryMonth", "isactive"]));
  expect(fields.filter((name) => !mentionsField(`must not be more than ${name}`))).toEqual([]);
});

/** The objects in the requests of the API: the settings of a type. */
const objects = Object.entries(openapi.components.schemas)
  .filter(([name]) => name.startsWith("Save"))
  .flatMap(([, schema]) => Object.entries("properties" in schema ? schema.properties : {}))
  .filter(([, field]) => JSON.stringify(field).includes("#/components/schemas/Save"))
  .map(([name]) => name);

test("so are the fields of the objects in them", () => {
  expect(objects).toEqual(expect.arrayContaining(["http", "dns", "email", "webhook"]));
  expect(objects.filter((name) => !mentionsField(`is required with ${name}.field`))).toEqual([]);
});

test("no field of the API reaches a form, whatever the service writes", () => {
  const sentences = [...source.matchAll(/"((?:must|is|has|its|contains|names|cannot) [^"\n]*)"/g)].map(([, sentence]) => sentence ?? "");
  expect(sentences.length).toBeGreaterThan(80);
  for (const language of [en, de]) {
    for (const sentence of sentences) expect(translate(sentence.replaceAll("{}", "7"), language), sentence).not.toSatisfy(mentionsField);
  }
  expect(translate("must be later than expiryMonth", en)).toBe("This value isn’t valid.");
});
