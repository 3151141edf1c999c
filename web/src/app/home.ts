/** The page that the web app opens on, and its name. The role `billing` sees nothing that is monitored. */
import { useMay } from "../shared/api/session";
import { useTexts } from "../shared/i18n";

export function useHome(): readonly [path: string, name: string] {
  const { nav } = useTexts();
  return useMay("view") ? ["/", nav.monitors] : ["/billing", nav.billing];
}
