/** Lines to copy: badges, a frame, a banner, feeds and the JSON of a page. */
import { Select, TagsInput } from "@mantine/core";
import { useState } from "react";
import { find } from "../../shared/api/closed-sets";
import type { Statuspage } from "../../shared/api/statuspages";
import { useTexts } from "../../shared/i18n";
import { CopyLine } from "../../shared/ui/copy-line";
import { FieldPair } from "../../shared/ui/form-layout";
import page from "../../shared/ui/form-page.module.css";
import { Panel } from "../../shared/ui/page";
import { badgeKinds, badgeLine, badgeStyles, badgeUrl, formats, frameLine, scriptLine, type BadgeKind, type BadgeStyle } from "./badges";
import type { PageForm } from "./edit";
import styles from "./statuspages.module.css";

export function Embedding({ page: stored, form }: { page: Statuspage; form: PageForm }) {
  const { embedding: texts } = useTexts().statuspages;
  const { url, name, sections, published, slug, access } = stored;
  const [chosen, choose] = useState("");
  const [kind, setKind] = useState<BadgeKind>("status");
  const [style, setStyle] = useState<BadgeStyle>("flat");
  const components = sections.flatMap((section) => section.components);
  const component = components.find(({ componentid }) => componentid === chosen);
  const nameOf = (one: (typeof components)[number]) => one.name || (one.monitors[0]?.name ?? one.componentid);
  const about = component ? nameOf(component) : name;
  const id = component && (component.alias || component.componentid);
  const kinds = badgeKinds(stored, component !== undefined);
  const shown = find(kinds, kind) ?? "status";
  const badge = badgeUrl(url, id, shown, style);
  return (
    <>
      <Panel title={texts.badges} lead={published ? texts.badgesLead : texts.unpublished}>
        <div className={page.fields}>
          <FieldPair wide>
            <Select
              label={texts.about}
              data={[{ value: "", label: texts.wholePage }, ...components.map((one) => ({ value: one.componentid, label: nameOf(one) }))]}
              searchable
              allowDeselect={false}
              value={chosen}
              onChange={(value) => choose(value ?? "")}
            />
            <Select
              label={texts.what}
              data={kinds.map((value) => ({ value, label: texts.kinds[value] }))}
              allowDeselect={false}
              value={shown}
              onChange={(value) => setKind(find(kinds, value) ?? "status")}
            />
          </FieldPair>
          <Select
            className={styles.short}
            label={texts.style}
            data={badgeStyles.map((value) => ({ value, label: value }))}
            allowDeselect={false}
            value={style}
            onChange={(value) => setStyle(find(badgeStyles, value) ?? "flat")}
          />
          {published && access === "public" && (
            // The app loads images of its own host only.
            <img className={styles.badge} src={badgeUrl(`/status/${slug}`, id, shown, style)} alt={texts.example} />
          )}
          {formats.map((format) => (
            <CopyLine key={format} label={texts.formats[format]} value={badgeLine(format, badge, url, about)} wrap />
          ))}
        </div>
      </Panel>
      <Panel title={texts.embed} lead={texts.embedLead}>
        <div className={page.fields}>
          <CopyLine label={texts.frame} value={frameLine(url, name)} wrap />
          {component && <CopyLine label={texts.frameOf(about)} value={frameLine(url, about, component.componentid)} wrap />}
          <CopyLine label={texts.script} value={scriptLine(url)} wrap />
          <TagsInput
            name="embed_origins"
            label={texts.origins}
            description={texts.originsHelp}
            data={[]}
            splitChars={[",", " "]}
            maxTags={50}
            value={form.values.embed_origins}
            error={form.errors.embed_origins}
            onChange={(value) => form.set("embed_origins", value)}
          />
        </div>
      </Panel>
      <Panel title={texts.feeds}>
        <div className={page.fields}>
          <CopyLine label="Atom" value={`${url}/feed.atom`} />
          <CopyLine label="RSS" value={`${url}/feed.rss`} />
          <CopyLine label="JSON Feed" value={`${url}/feed.json`} />
          <CopyLine label={texts.calendar} value={`${url}/maintenance.ics`} />
          <CopyLine label="JSON" value={`${url}/index.json`} />
          <CopyLine label={texts.statuspageJson} value={`${url}/api/v2/summary.json`} />
        </div>
      </Panel>
    </>
  );
}
