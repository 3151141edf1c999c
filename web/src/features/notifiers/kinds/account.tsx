/** The service's own mail to the address of the user's account. */
import { TextInput } from "@mantine/core";
import { useTexts } from "../../../shared/i18n";
import type { Form } from "../../../shared/ui/form";
import { VerifyAddress } from "../../../shared/ui/verify-address";
import type { KindForm } from "./kind-form";

interface AccountValues {
  /** Shown and not sent: the service uses the current address. */
  "account.email": string;
}

export const account: KindForm<AccountValues> = {
  type: "account",
  defaults: { "account.email": "" },
  valuesOf: ({ account }) => ({ "account.email": account?.email ?? "" }),
  bodyOf: () => ({}),
  suggestedName: (values) => values["account.email"],
  Receiver: Address,
};

function Address({ form }: { form: Form<AccountValues> }) {
  const t = useTexts();
  return (
    <>
      <TextInput label={t.notifiers.to} description={t.notifiers.accountHelp} value={form.values["account.email"]} readOnly />
      <VerifyAddress />
    </>
  );
}
