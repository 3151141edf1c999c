/** An API key in a list: what it may do, until when, and its last use. */
import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import type { ApiKey } from "../api/api-keys";
import { useTexts } from "../i18n";
import { useNow } from "../lib/now";
import styles from "./api-key-row.module.css";
import { Badge } from "./badge";
import { Trash } from "./icons";
import { filterText } from "./monitor-filter";
import { Ago, Day } from "./time";

interface Props {
  apikey: ApiKey;
  /** What the scope `full` includes, which depends on the holder. */
  fullScope: string;
  /** Shown below the name. */
  holder?: ReactNode;
  removeLabel: string;
  /** Without it, there is no button. */
  remove?: () => void;
}

export function ApiKeyRow({ apikey, fullScope, holder, removeLabel, remove }: Props) {
  const t = useTexts();
  const now = useNow();
  const { name, prefix, scope, monitor_filter, created, last_used, last_address, expires } = apikey;
  const expired = typeof expires === "string" && Date.parse(expires) <= now;
  return (
    <li className={styles.row}>
      <div className={styles.words}>
        <strong>{name}</strong>
        {holder}
        <span className={styles.details}>
          <code>{prefix}…</code> · {scope === "full" ? fullScope : t.apiKeys.scopes[scope]}
          {monitor_filter && ` (${filterText(t, monitor_filter)})`} · {t.apiKeys.created} <Ago at={created} /> ·{" "}
          {last_used ? (
            <>
              {t.apiKeys.lastUsed} <Ago at={last_used} />
              {last_address !== "" && ` ${t.apiKeys.fromAddress(last_address)}`}
            </>
          ) : (
            t.apiKeys.neverUsed
          )}
          {expires &&
            (expired ? (
              <>
                {" "}
                <Badge tone="wait">
                  <span>
                    {t.apiKeys.expired} <Day at={expires} />
                  </span>
                </Badge>
              </>
            ) : (
              <>
                {" · "}
                {t.apiKeys.expiresAt} <Day at={expires} />
              </>
            ))}
        </span>
      </div>
      {remove && (
        <Button variant="subtle" color="red" size="xs" leftSection={<Trash />} aria-label={removeLabel} onClick={remove}>
          {t.common.remove}
        </Button>
      )}
    </li>
  );
}
