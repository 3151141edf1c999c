/**
 * The page as visitors would see it, in a frame that runs no scripts. The content security policy allows no inline
 * styles, so the style sheet is constructed.
 */
import { Select, Switch } from "@mantine/core";
import { keepPreviousData, useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { find } from "../../shared/api/closed-sets";
import { previewStatuspage, type PreviewStatuspage } from "../../shared/api/statuspages";
import { useTexts } from "../../shared/i18n";
import { useErrorMessage } from "../../shared/ui/error-message";
import { Loading } from "../../shared/ui/loading";
import { Panel } from "../../shared/ui/page";
import { SegmentedControl } from "../../shared/ui/segmented-control";
import styles from "./statuspages.module.css";
import { bodyOf, type Values } from "./values";

const DELAY = 300;

export type Show = "front" | "incident" | "locked";
type Language = Values["language"];

interface Options {
  show: Show;
  scheme: "light" | "dark" | null;
  language: Language | null;
  /** Whether the first component is shown as down. */
  outage: boolean;
}

type Rendered = Pick<UseQueryResult<Awaited<ReturnType<typeof previewStatuspage>>>, "data" | "error">;

interface PreviewState extends Rendered {
  options: Options;
  set: (part: Partial<Options>) => void;
}

/** The values with the first component down, whatever its monitors say. */
function withOutage(values: Values): Values {
  const [first, ...others] = values.sections;
  const [component, ...rest] = first?.components ?? [];
  if (!first || !component) return values;
  const down = { ...component, monitors: [], tag: "", own_status: "major_outage" as const };
  return { ...values, sections: [{ ...first, components: [down, ...rest] }, ...others] };
}

/** The value, shortly after its last change. */
export function useSettled<T>(value: T): T {
  const [settled, settle] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => settle(value), DELAY);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** The page as the service renders it; the last one until the next has arrived. */
export function useRendered(sent: PreviewStatuspage, show: Show, enabled: boolean): Rendered {
  return useQuery({
    queryKey: ["statuspage-preview", sent, show],
    queryFn: ({ signal }) => previewStatuspage(sent, show, signal),
    enabled,
    placeholderData: keepPreviousData,
    staleTime: 10_000,
    gcTime: 0,
    retry: false,
  });
}

/** The preview of the values, shortly after the last change. */
export function usePreview(values: Values, pageid: string | undefined, enabled: boolean): PreviewState {
  const [options, setOptions] = useState<Options>({ show: "front", scheme: null, language: null, outage: false });
  const settled = useSettled(values);
  const { show, scheme, language, outage } = options;
  const body = bodyOf(outage ? withOutage(settled) : settled);
  const { appearance } = body;
  // Who can see the page, and where, does not change it, and a password may not have been chosen yet.
  const sent = {
    ...body,
    access: undefined,
    password: undefined,
    domains: undefined,
    rules: undefined,
    pageid,
    ...(scheme && { appearance: { ...appearance, scheme } }),
    ...(language && { language }),
  };
  const { data, error } = useRendered(sent, show, enabled && settled.name.trim() !== "");
  return { data, error, options, set: (part) => setOptions((old) => ({ ...old, ...part })) };
}

const widths = ["desktop", "phone"] as const;
const schemes = ["page", "light", "dark"] as const;
const shows = ["front", "incident", "locked"] as const satisfies readonly Show[];

interface Props {
  preview: PreviewState;
  languages: readonly Language[];
  /** Whether the user may see it. */
  enabled: boolean;
}

export function Preview({ preview: { data, error, options, set }, languages, enabled }: Props) {
  const { statuspages } = useTexts();
  const { preview: texts } = statuspages;
  const [width, setWidth] = useState<(typeof widths)[number]>("desktop");
  const choices = [...new Set(languages)];
  if (!enabled) return null;
  return (
    <Panel title={texts.title}>
      <div className={styles.switches}>
        <SegmentedControl
          label={texts.width}
          choices={widths.map((each) => [each, texts.widths[each]] as const)}
          chosen={width}
          choose={setWidth}
        />
        <SegmentedControl
          label={statuspages.appearance.scheme}
          choices={schemes.map((each) => [each, texts.schemes[each]] as const)}
          chosen={options.scheme ?? "page"}
          choose={(each) => set({ scheme: each === "page" ? null : each })}
        />
        <Select
          aria-label={texts.show}
          size="xs"
          data={shows.map((value) => ({ value, label: texts.shows[value] }))}
          allowDeselect={false}
          value={options.show}
          onChange={(value) => set({ show: find(shows, value) ?? "front" })}
        />
        <Switch
          size="xs"
          label={texts.outage}
          checked={options.outage}
          onChange={({ currentTarget }) => set({ outage: currentTarget.checked })}
        />
        {choices.length > 1 && (
          <Select
            aria-label={statuspages.appearance.language}
            size="xs"
            data={choices.map((value) => ({ value, label: statuspages.appearance.languages[value] }))}
            allowDeselect={false}
            value={options.language ?? choices[0] ?? null}
            onChange={(value) => set({ language: find(choices, value) ?? null })}
          />
        )}
      </div>
      <RenderedPage rendered={{ data, error }} phone={width === "phone"} />
    </Panel>
  );
}

/** What the service has rendered, or why it could not. */
export function RenderedPage({ rendered: { data, error }, phone = false }: { rendered: Rendered; phone?: boolean }) {
  const { title } = useTexts().statuspages.preview;
  const errorMessage = useErrorMessage();
  return (
    <>
      {error && <p className={styles.warning}>{errorMessage(error)}</p>}
      {data ? <Frame html={data.html} css={data.css} title={title} phone={phone} /> : !error && <Loading />}
    </>
  );
}

/** A document in standards mode, which the page is put into. */
const EMPTY = '<!doctype html><html lang="en"><title>Preview</title><body></body></html>';

function Frame({ html, css, title, phone }: { html: string; css: string; title: string; phone: boolean }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [ready, setReady] = useState(false);
  useEffect(() => {
    const inside = frame.current?.contentDocument;
    if (ready && inside) show(inside, html, css);
  }, [ready, html, css]);
  return (
    <iframe
      ref={frame}
      className={styles.frame}
      data-phone={phone || undefined}
      title={title}
      sandbox="allow-same-origin"
      srcDoc={EMPTY}
      onLoad={() => setReady(true)}
    />
  );
}

function show(inside: Document, html: string, css: string) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  for (const [to, from] of [
    [inside.documentElement, parsed.documentElement],
    [inside.body, parsed.body],
  ] as const) {
    for (const { name, value } of from.attributes) to.setAttribute(name, value);
  }
  for (const script of parsed.body.querySelectorAll("script")) script.remove();
  inside.body.replaceChildren(...[...parsed.body.childNodes].map((node) => inside.importNode(node, true)));
  // A link would open inside the frame, and a form would be sent from it.
  for (const link of inside.querySelectorAll("a")) link.removeAttribute("href");
  for (const field of inside.querySelectorAll("input, button")) field.setAttribute("disabled", "");
  const Sheet = inside.defaultView?.CSSStyleSheet;
  if (!Sheet) return;
  const sheet = new Sheet();
  sheet.replaceSync(css);
  inside.adoptedStyleSheets = [sheet];
}
