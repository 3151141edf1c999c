/** Asks for confirmation before all sessions of the user end. */
import { useQueryClient } from "@tanstack/react-query";
import { logOut } from "../shared/api/session";
import { useTexts } from "../shared/i18n";
import { Confirm } from "../shared/ui/confirm";

export default function LogoutEverywhere({ close }: { close: () => void }) {
  const t = useTexts();
  const client = useQueryClient();
  return (
    <Confirm title={t.settings.logOutAllTitle} action={t.nav.logOutAll} close={close} run={() => logOut(client, true)}>
      {t.settings.logOutAllHelp}
    </Confirm>
  );
}
