/** Creates a notifier without leaving the form that needs one. */
import { useState } from "react";
import type { OfferedKind } from "../../shared/api/closed-sets";
import type { NotifierDialogProps } from "../../shared/lib/notifier-dialog";
import { useMe } from "../../shared/api/session";
import { useTexts } from "../../shared/i18n";
import { Dialog } from "../../shared/ui/dialog";
import type { Notifier } from "./data";
import { hasSecret, NotifierFields, Secret, useNotifierForm } from "./form";
import { Gallery } from "./gallery";
import { initial } from "./values";

export default function NotifierDialog({ kind, isdefault = false, close, created }: NotifierDialogProps) {
  const t = useTexts();
  const [chosen, setChosen] = useState<OfferedKind | null>(kind ?? null);
  const [signed, setSigned] = useState<Notifier | null>(null);
  return (
    <Dialog title={signed ? t.notifiers.createdTitle(signed.name) : t.notifiers.new} close={close} size="xl" closeOnClickOutside={false}>
      {signed ? (
        <Secret notifier={signed} done={close} />
      ) : chosen ? (
        <NewNotifier
          key={chosen}
          kind={chosen}
          isdefault={isdefault}
          chooseKind={() => setChosen(null)}
          close={close}
          created={created}
          showSecret={setSigned}
        />
      ) : (
        <Gallery choose={setChosen} />
      )}
    </Dialog>
  );
}

interface Props extends Required<NotifierDialogProps> {
  chooseKind: () => void;
  showSecret: (notifier: Notifier) => void;
}

function NewNotifier({ kind, isdefault, chooseKind, close, created, showSecret }: Props) {
  const { email } = useMe();
  const start = { ...initial(kind, email), isdefault, "email.to_email": email };
  const { form, taken } = useNotifierForm(undefined, start, (saved, values) => {
    created(saved);
    if (hasSecret(saved, values)) showSecret(saved);
    else close();
  });
  return <NotifierFields form={form} taken={taken} cancel={close} chooseKind={chooseKind} />;
}
