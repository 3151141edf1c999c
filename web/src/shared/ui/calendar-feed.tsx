/** The URL of a calendar, which is shown once; a new one replaces it. */
import { Button } from "@mantine/core";
import { useState } from "react";
import { useTexts } from "../i18n";
import { Confirm } from "./confirm";
import { CopyLine } from "./copy-line";
import styles from "./fields.module.css";
import { useRun } from "./use-run";

interface Props {
  help: string;
  /** Whether there is one already. */
  exists: boolean;
  create: () => Promise<string>;
}

export function CalendarFeed({ help, exists, create }: Props) {
  const { feed } = useTexts();
  const [url, setUrl] = useState<string | null>(null);
  const [renewing, setRenewing] = useState(false);
  const [busy, run] = useRun();
  const show = async () => setUrl(await create());
  return (
    <div className={styles.feed}>
      <p className={styles.help}>{help}</p>
      {url !== null && (
        <>
          <CopyLine label={feed.url} value={url} wrap />
          <p>{feed.once}</p>
        </>
      )}
      {url === null && exists && <p>{feed.exists}</p>}
      <Button variant="default" loading={busy} onClick={() => (exists || url !== null ? setRenewing(true) : run(show))}>
        {exists || url !== null ? feed.renew : feed.create}
      </Button>
      {renewing && (
        <Confirm title={feed.renewTitle} action={feed.renew} close={() => setRenewing(false)} run={show}>
          {feed.renewHelp}
        </Confirm>
      )}
    </div>
  );
}
