/** The field for the tags that limit a member or an API key to some monitors. */
import { TagsInput } from "@mantine/core";
import { useTexts } from "../i18n";
import type { Form } from "./form";

const MAX_TAGS = 20;

export function MonitorFilterField({ form }: { form: Form<{ tags: string[] }> }) {
  const t = useTexts();
  return (
    <TagsInput
      name="tags"
      label={t.monitorFilter.tags}
      description={t.monitorFilter.tagsHelp}
      error={form.errors["tags"]}
      maxTags={MAX_TAGS}
      value={form.values.tags}
      onChange={(tags) => form.set("tags", tags)}
    />
  );
}
