import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { logOut } from "../../shared/api/session";
import { useTexts } from "../../shared/text";
import { Confirm } from "../../shared/ui/confirm";
import { Panel } from "../../shared/ui/parts";

export function Sessions() {
  const t = useTexts();
  const client = useQueryClient();
  const [asked, setAsked] = useState(false);
  return (
    <Panel title={t.settings.sessions} lead={t.settings.sessionsLead}>
      <Button variant="default" onClick={() => setAsked(true)}>
        {t.nav.logOutAll}
      </Button>
      {asked && (
        <Confirm
          title={t.settings.logOutAllTitle}
          action={t.nav.logOutAll}
          close={() => setAsked(false)}
          run={() => logOut(client, true)}
        >
          {t.settings.logOutAllHelp}
        </Confirm>
      )}
    </Panel>
  );
}
