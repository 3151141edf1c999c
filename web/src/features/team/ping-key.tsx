/** The team's ping key, with which jobs report by the names of their monitors. */
import { Button } from "@mantine/core";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { GET, POST, unwrap } from "../../shared/api/client";
import { useTexts } from "../../shared/i18n";
import { Confirm } from "../../shared/ui/confirm";
import { CopyLine } from "../../shared/ui/copy-line";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Panel } from "../../shared/ui/page";
import { showToast } from "../../shared/ui/toast";

const pingKeyQuery = queryOptions({
  queryKey: ["ping-key"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/team/pingkey", { signal })),
  retry: false,
});

/** The key is read, and created if there is none, when somebody wants to see it. */
export function PingKeyPanel() {
  const t = useTexts();
  const client = useQueryClient();
  const [isShown, setShown] = useState(false);
  const [isReplacing, setReplacing] = useState(false);
  const { data, error, refetch, isFetching } = useQuery({ ...pingKeyQuery, enabled: isShown });
  return (
    <Panel
      title={t.pingKey.title}
      lead={t.pingKey.lead}
      actions={
        data ? (
          <Button variant="default" onClick={() => setReplacing(true)}>
            {t.pingKey.rotate}
          </Button>
        ) : (
          <Button variant="default" loading={isFetching} onClick={() => setShown(true)}>
            {t.pingKey.show}
          </Button>
        )
      }
    >
      {error && <ErrorNotice error={error} retry={() => void refetch()} />}
      {data && <CopyLine label={t.pingKey.url} value={`${data.ping_url}/${t.pingKey.slug}`} wrap />}
      {isReplacing && (
        <Confirm
          title={t.pingKey.rotateTitle}
          action={t.pingKey.rotate}
          close={() => setReplacing(false)}
          run={async () => {
            client.setQueryData(pingKeyQuery.queryKey, await unwrap(POST("/api/v1/team/pingkey/rotate", {})));
            showToast(t.pingKey.rotated);
          }}
        >
          {t.pingKey.rotateHelp}
        </Confirm>
      )}
    </Panel>
  );
}
