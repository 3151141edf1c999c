/** The logo of a page, that of the dark scheme, and the icon in the tabs of browsers. Each is stored when it is chosen. */
import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useId, useRef, useState } from "react";
import { valuesOfSet, type StatuspageImage } from "../../shared/api/closed-sets";
import { deleteImage, setImage, type Statuspage } from "../../shared/api/statuspages";
import { useTexts } from "../../shared/i18n";
import { FormError } from "../../shared/ui/error-notice";
import { useErrorMessage } from "../../shared/ui/error-message";
import { Panel } from "../../shared/ui/page";
import { showToast } from "../../shared/ui/toast";
import styles from "./statuspages.module.css";

const kinds = valuesOfSet<StatuspageImage>({ logo: true, logo_dark: true, favicon: true });
const MAX_BYTES = 256 * 1024;
const TYPES = ["image/png", "image/jpeg", "image/webp", "image/svg+xml"];

export function Images({ page, edits }: { page: Statuspage; edits: boolean }) {
  const { images: texts } = useTexts().statuspages;
  return (
    <Panel title={texts.title} lead={texts.lead}>
      <ul className={styles.images}>
        {kinds.map((kind) => (
          <ImageRow key={kind} page={page} kind={kind} edits={edits} />
        ))}
      </ul>
    </Panel>
  );
}

/** Where the app can load it from: on its own host, and only from pages that everyone can see. */
function sourceOf({ slug, published, access, appearance }: Statuspage, kind: StatuspageImage): string | undefined {
  const version = appearance[kind]?.split("?")[1];
  return version !== undefined && published && access === "public" ? `/status/${slug}/image/${kind}?${version}` : undefined;
}

function ImageRow({ page, kind, edits }: { page: Statuspage; kind: StatuspageImage; edits: boolean }) {
  const t = useTexts();
  const { images: texts } = t.statuspages;
  const client = useQueryClient();
  const errorMessage = useErrorMessage();
  const input = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const label = useId();
  const { pageid } = page;
  const isStored = Boolean(page.appearance[kind]);
  // What was chosen here is shown from the file, as an unpublished page shows no images.
  const [chosen, setChosen] = useState<string | null>(null);
  const source = chosen ?? sourceOf(page, kind);
  const run = async (act: () => Promise<void>) => {
    setBusy(true);
    setFault(null);
    await act()
      .catch((error: unknown) => setFault(errorMessage(error)))
      .finally(() => setBusy(false));
  };
  const upload = (file: File) => {
    if (file.size > MAX_BYTES) setFault(texts.large);
    else if (!TYPES.includes(file.type)) setFault(texts.type);
    else
      void run(async () => {
        const data = base64(await file.arrayBuffer());
        await setImage(client, pageid, kind, data);
        setChosen(`data:${file.type};base64,${data}`);
        showToast(texts.saved);
      });
  };
  return (
    <li className={styles.image}>
      <span className={styles.picture} data-dark={kind === "logo_dark" || undefined}>
        {isStored && source ? <img src={source} alt="" /> : <span className={styles.quiet}>{isStored ? texts.stored : texts.none}</span>}
      </span>
      <div className={styles.names}>
        <b id={label}>{texts.names[kind]}</b>
        <span className={styles.quiet}>{texts.help[kind]}</span>
        <FormError text={fault} />
      </div>
      {edits && (
        <div className={styles.imageActions} role="group" aria-labelledby={label}>
          <input
            ref={input}
            type="file"
            hidden
            data-kind={kind}
            accept={TYPES.join(",")}
            onChange={({ currentTarget }) => {
              const [file] = currentTarget.files ?? [];
              if (file) upload(file);
              // The same file can be chosen again.
              currentTarget.value = "";
            }}
          />
          <Button variant="default" size="xs" loading={busy} onClick={() => input.current?.click()}>
            {isStored ? texts.replace : texts.choose}
          </Button>
          {isStored && (
            <Button
              variant="subtle"
              color="red"
              size="xs"
              disabled={busy}
              onClick={() =>
                void run(async () => {
                  await deleteImage(client, pageid, kind);
                  showToast(texts.deleted);
                })
              }
            >
              {t.common.remove}
            </Button>
          )}
        </div>
      )}
    </li>
  );
}

/** In pieces: a call with too many arguments fails. */
function base64(data: ArrayBuffer): string {
  const bytes = new Uint8Array(data);
  let binary = "";
  for (let at = 0; at < bytes.length; at += 4096) binary += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return btoa(binary);
}
