/** Loads a page, a dialog or a menu that is not on the first screen, with the texts and styles that the first screen does without. */
import { loadTexts } from "../i18n";

export function later<M>(load: () => Promise<M>): () => Promise<M> {
  return async () => (await Promise.all([load(), loadTexts(), import("./mantine-more.css")]))[0];
}
