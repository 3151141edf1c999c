import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { POST, unwrap } from "../../shared/api/client";
import { signedOut, useMe } from "../../shared/api/session";
import { useTexts } from "../../shared/i18n";
import { Confirm } from "../../shared/ui/confirm";
import { Panel } from "../../shared/ui/page";

/** Deletes the user's own account. */
export function DeleteAccount() {
  const t = useTexts();
  const client = useQueryClient();
  const { email } = useMe();
  const [confirming, setConfirming] = useState(false);
  return (
    <Panel id="delete-account" title={t.settings.deleteSection} lead={t.settings.deleteSectionLead}>
      <Button variant="light" color="red" onClick={() => setConfirming(true)}>
        {t.settings.deleteAccount}
      </Button>
      {confirming && (
        <Confirm
          title={t.settings.deleteTitle}
          action={t.settings.deleteAccount}
          typed={email}
          close={() => setConfirming(false)}
          run={async () => {
            await unwrap(POST("/api/v1/user/delete"));
            signedOut(client);
          }}
        >
          {t.settings.deleteHelp}
        </Confirm>
      )}
    </Panel>
  );
}
