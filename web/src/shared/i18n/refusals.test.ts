import { expect, test } from "vitest";
import { parseError } from "../api/error";
import { translate } from "./refusals";
import { refusals } from "./refusals.de";

test("field errors are translated into German, numbers included", () => {
  expect(translate("is required", refusals)).toBe("Das wird gebraucht.");
  expect(translate("must have at most 255 characters", refusals)).toBe("Höchstens 255 Zeichen.");
  expect(translate("must be a whole number of seconds from 1 to 2592000", refusals)).toBe("Ganze Sekunden, von 1 bis 2592000.");
  expect(translate("its host must be a name or an address", refusals)).toBe("Der Host darin stimmt nicht. Ein Name oder eine Adresse.");
});

test("the form shown under a field is translated too, and an unknown message stays unchanged", () => {
  const { fields } = parseError(422, { errors: [{ field: "http.url", message: "must not be empty" }] });
  expect(translate(fields["http.url"] ?? "", refusals)).toBe("Das darf nicht leer sein.");
  expect(translate("Must be a lighthouse.", refusals)).toBe("Must be a lighthouse.");
});

test("messages about plan limits are translated as a whole, and names stay unchanged", () => {
  expect(translate("The plan None allows 50 active monitors; the next plan with room is Starter.", refusals)).toBe(
    "Der Tarif None erlaubt 50 aktive Monitore; Platz hat der Tarif Starter.",
  );
  expect(translate("The notifier is still linked to our users, shop; remove it there first.", refusals)).toBe(
    "Der Melder ist noch verknüpft mit: our users, shop. Lösen Sie ihn dort zuerst.",
  );
});

/** The service's source, with `{}` for placeholders and without line breaks in long texts. */
const source = Object.values(
  import.meta.glob<string>("../../../../crates/wakeful-{api,core,engine}/src/**/*.rs", { query: "?raw", import: "default", eager: true }),
)
  .join("\n")
  .replace(/\\\n\s*/g, "")
  .replace(/\{\w+\}/g, "{}");

test("every sentence in the table exists in the service", () => {
  expect(refusals.map(([sentence]) => sentence).filter((sentence) => !source.includes(`"${sentence.replace("{n} ", "")}"`))).toEqual([]);
});

test("every placeholder is used in the German text", () => {
  const placeholders = (text: string) => text.replaceAll("{n}", "{}").split("{}").length;
  expect(refusals.filter(([sentence, translation]) => placeholders(sentence) !== placeholders(translation))).toEqual([]);
});
