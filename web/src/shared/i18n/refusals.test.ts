import { expect, test } from "vitest";
import { parseError } from "../api/error";
import { translate } from "./refusals";
import { refusals } from "./refusals.de";

test("field errors are translated into German, numbers included", () => {
  expect(translate("is required", refusals)).toBe("Erforderlich.");
  expect(translate("must have at most 255 characters", refusals)).toBe("Darf höchstens 255 Zeichen lang sein.");
  expect(translate("must be a whole number of seconds from 1 to 2592000", refusals)).toBe(
    "Muss eine ganze Zahl von 1 bis 2592000 Sekunden sein.",
  );
  expect(translate("its host must be a name or an address", refusals)).toBe("Der Host ist ungültig. Muss ein Name oder eine Adresse sein.");
});

test("the form shown under a field is translated too, and an unknown message stays unchanged", () => {
  const { fields } = parseError(422, { errors: [{ field: "http.url", message: "must not be empty" }] });
  expect(translate(fields["http.url"] ?? "", refusals)).toBe("Darf nicht leer sein.");
  expect(translate("Must be a lighthouse.", refusals)).toBe("Must be a lighthouse.");
});

test("messages about plan limits are translated as a whole, and names stay unchanged", () => {
  expect(translate("The plan None allows 50 active monitors; the next plan with room is Starter.", refusals)).toBe(
    "Der Tarif None erlaubt 50 aktive Monitore; der nächste passende Tarif ist Starter.",
  );
  expect(translate("The notifier is still linked to our users, shop; remove it there first.", refusals)).toBe(
    "Der Melder wird noch verwendet von: our users, shop. Entfernen Sie ihn dort zuerst.",
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
