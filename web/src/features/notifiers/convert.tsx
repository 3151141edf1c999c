/** Offers to convert a webhook with the built-in template of a service into a notifier of that service. */
import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ServiceType } from "../../shared/api/closed-sets";
import { useTexts } from "../../shared/i18n";
import { Confirm } from "../../shared/ui/confirm";
import { Panel } from "../../shared/ui/page";
import { showToast } from "../../shared/ui/toast";
import { save, type Notifier } from "./data";

export function Convert({ notifier: { notifierid }, type }: { notifier: Notifier; type: ServiceType }) {
  const { notifiers, notifierKinds: texts } = useTexts();
  const client = useQueryClient();
  const [confirming, setConfirming] = useState(false);
  const name = notifiers.kinds[type];
  return (
    <Panel title={name} lead={texts.convertLead(name)}>
      <Button variant="default" onClick={() => setConfirming(true)}>
        {texts.convert(name)}
      </Button>
      {confirming && (
        <Confirm
          title={texts.convertTitle(name)}
          action={texts.convert(name)}
          color="blue"
          close={() => setConfirming(false)}
          run={async () => {
            await save(client, { notifierid, type, [type]: {} });
            showToast(texts.converted(name));
          }}
        >
          {texts.convertHelp}
        </Confirm>
      )}
    </Panel>
  );
}
