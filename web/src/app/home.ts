/** The page that the web app opens on, and its name. The role `billing` sees nothing that is monitored. */
import { useMay } from "../shared/api/session";
import { useFirstTexts } from "../shared/i18n";

export function useHome(): readonly [path: string, name: string] {
  const { nav } = useFirstTexts();
  return useMay("view") ? ["/", nav.monitors] : ["/billing", nav.billing];
}
