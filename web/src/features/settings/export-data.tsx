/** Everything that is stored about the user, as a file. */
import { Button } from "@mantine/core";
import { useState } from "react";
import { GET, unwrap } from "../../shared/api/client";
import { useTexts } from "../../shared/i18n";
import { useErrorMessage } from "../../shared/ui/error-message";
import { Panel } from "../../shared/ui/page";
import { showToast } from "../../shared/ui/toast";

export function ExportData() {
  const t = useTexts();
  const errorMessage = useErrorMessage();
  const [busy, setBusy] = useState(false);
  const download = async () => {
    setBusy(true);
    try {
      save(await unwrap(GET("/api/v1/user/export")));
    } catch (error) {
      showToast(errorMessage(error), true);
    }
    setBusy(false);
  };
  return (
    <Panel id="export" title={t.settings.exportSection} lead={t.settings.exportLead}>
      <Button variant="default" loading={busy} onClick={() => void download()}>
        {t.settings.exportAction}
      </Button>
    </Panel>
  );
}

function save(data: object) {
  const href = URL.createObjectURL(new Blob([JSON.stringify(data, null, 2)], { type: "application/json" }));
  Object.assign(document.createElement("a"), { href, download: "wakeful-export.json" }).click();
  URL.revokeObjectURL(href);
}
