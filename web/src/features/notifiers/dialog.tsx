/** Creates a notifier without leaving the form that needs one. */
import { useState } from "react";
import type { NotifierDialogProps } from "../../shared/lib/notifier-dialog";
import { useMe } from "../../shared/api/session";
import { useTexts } from "../../shared/i18n";
import { Dialog } from "../../shared/ui/dialog";
import type { Notifier } from "./data";
import { hasSecret, NotifierFields, Secret, useNotifierForm } from "./form";
import { initial } from "./values";

export default function NotifierDialog({ kind = "email", isdefault = false, close, created }: NotifierDialogProps) {
  const t = useTexts();
  const { email } = useMe();
  const [signed, setSigned] = useState<Notifier | null>(null);
  const { form, taken } = useNotifierForm(undefined, { ...initial(kind, email), isdefault, "email.to_email": email }, (saved, values) => {
    created(saved);
    if (hasSecret(saved, values)) setSigned(saved);
    else close();
  });
  return (
    <Dialog title={signed ? t.notifiers.createdTitle(signed.name) : t.notifiers.new} close={close} size="xl" closeOnClickOutside={false}>
      {signed ? <Secret notifier={signed} done={close} /> : <NotifierFields form={form} taken={taken} cancel={close} />}
    </Dialog>
  );
}
