/** Lines to copy: badges, feeds and the JSON of a page. */
import { Select } from "@mantine/core";
import { useState } from "react";
import type { Statuspage } from "../../shared/api/statuspages";
import { useTexts } from "../../shared/i18n";
import { CopyLine } from "../../shared/ui/copy-line";
import page from "../../shared/ui/form-page.module.css";
import { Panel } from "../../shared/ui/page";
import styles from "./statuspages.module.css";

export function Embedding({ page: { url, name, sections, published } }: { page: Statuspage }) {
  const { embedding: texts } = useTexts().statuspages;
  const [chosen, choose] = useState("");
  const components = sections.flatMap((section) => section.components);
  const component = components.find(({ componentid }) => componentid === chosen);
  const base = component ? `${url}/component/${component.alias || component.componentid}/badge` : `${url}/badge`;
  const about = component ? component.name || (component.monitors[0]?.name ?? name) : name;
  const badge = (kind: string) => `[![${about.replaceAll(/[[\]]/g, "")}](${base}/${kind}.svg)](${url})`;
  return (
    <>
      <Panel title={texts.badges} lead={published ? texts.badgesLead : texts.unpublished}>
        <div className={page.fields}>
          <Select
            className={styles.short}
            label={texts.about}
            data={[
              { value: "", label: texts.wholePage },
              ...components.map((one) => ({ value: one.componentid, label: one.name || (one.monitors[0]?.name ?? one.componentid) })),
            ]}
            searchable
            allowDeselect={false}
            value={chosen}
            onChange={(value) => choose(value ?? "")}
          />
          <CopyLine label={texts.status} value={badge("status")} wrap />
          <CopyLine label={texts.uptime} value={badge("uptime/30d")} wrap />
        </div>
      </Panel>
      <Panel title={texts.feeds}>
        <div className={page.fields}>
          <CopyLine label="Atom" value={`${url}/feed.atom`} />
          <CopyLine label={texts.calendar} value={`${url}/maintenance.ics`} />
          <CopyLine label="JSON" value={`${url}/index.json`} />
        </div>
      </Panel>
    </>
  );
}
