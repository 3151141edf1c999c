/**
 * The page that the web app opens on, and its name. The role `billing` sees nothing that is monitored, and users who have to
 * set up a second factor see nothing but what they need for that.
 */
import { useMay, useMe } from "../shared/api/session";
import { useFirstTexts } from "../shared/i18n";

export function useHome(): readonly [path: string, name: string] {
  const { nav } = useFirstTexts();
  const { mfa_setup_required } = useMe();
  const views = useMay("view");
  if (mfa_setup_required) return ["/settings", nav.settings];
  return views ? ["/", nav.monitors] : ["/billing", nav.billing];
}
