/** A page with an update that has not been posted, beside its form. */
import { Select } from "@mantine/core";
import { useState } from "react";
import { find, type StatuspageLanguage } from "../../../shared/api/closed-sets";
import type { Incident } from "../../../shared/api/incidents";
import type { Statuspage } from "../../../shared/api/statuspages";
import { useTexts } from "../../../shared/i18n";
import page from "../../../shared/ui/form-page.module.css";
import { Panel } from "../../../shared/ui/page";
import { SegmentedControl } from "../../../shared/ui/segmented-control";
import { RenderedPage, useRendered, useSettled } from "../preview";
import pageStyles from "../statuspages.module.css";
import { pagesOf } from "./recipients";
import { previewBody, type UpdateValues } from "./values";

const shows = ["front", "incident"] as const;

interface Props {
  incident: Incident;
  values: UpdateValues;
  pages: readonly Statuspage[];
}

export function UpdatePreview({ incident, values, pages }: Props) {
  const { statuspages, incidents } = useTexts();
  const { preview: texts } = statuspages;
  const [pageid, choosePage] = useState<string | null>(null);
  const [show, setShow] = useState<(typeof shows)[number]>("front");
  const [language, setLanguage] = useState<StatuspageLanguage | null>(null);
  const settled = useSettled(values);
  const ids = pagesOf(pages, incident.shown_on, settled.components);
  const offered = pages.filter((one) => ids.includes(one.pageid));
  const chosen = offered.find((one) => one.pageid === pageid) ?? offered[0];
  const languages = chosen ? [...new Set([chosen.language, ...chosen.languages])] : [];
  const shown = languages.find((each) => each === language) ?? chosen?.language;
  const sent = { pageid: chosen?.pageid, language: shown, incident: previewBody(incident, settled) };
  const rendered = useRendered(sent, show, chosen !== undefined);
  if (!chosen) return null;
  return (
    <aside className={page.beside}>
      <Panel title={texts.title}>
        <div className={pageStyles.switches}>
          <SegmentedControl
            label={texts.show}
            choices={shows.map((each) => [each, each === "front" ? texts.shows.front : incidents.kinds[incident.kind]] as const)}
            chosen={show}
            choose={setShow}
          />
          {offered.length > 1 && (
            <Select
              aria-label={texts.page}
              size="xs"
              data={offered.map((one) => ({ value: one.pageid, label: one.name }))}
              allowDeselect={false}
              value={chosen.pageid}
              onChange={choosePage}
            />
          )}
          {languages.length > 1 && (
            <Select
              aria-label={statuspages.appearance.language}
              size="xs"
              data={languages.map((value) => ({ value, label: statuspages.appearance.languages[value] }))}
              allowDeselect={false}
              value={shown ?? null}
              onChange={(value) => setLanguage(find(languages, value) ?? null)}
            />
          )}
        </div>
        <RenderedPage rendered={rendered} />
      </Panel>
    </aside>
  );
}
