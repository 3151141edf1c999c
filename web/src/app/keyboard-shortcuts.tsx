/** The list of keyboard shortcuts. */
import { allowed, useMe, type Permission } from "../shared/api/session";
import { useTexts } from "../shared/i18n";
import { Dialog } from "../shared/ui/dialog";
import styles from "./shell.module.css";

/** The permission that a key needs; the others work for everyone. */
const NEEDS: Partial<Record<string, Permission>> = {
  "/": "view",
  j: "view",
  k: "view",
  Enter: "view",
  n: "edit",
  i: "respond",
  x: "edit",
  X: "edit",
  Esc: "edit",
};

export function works(key: string, permissions: readonly Permission[]): boolean {
  const needed = NEEDS[key];
  return needed === undefined || permissions.includes(needed);
}

export default function KeyboardShortcuts({ close }: { close: () => void }) {
  const t = useTexts();
  const { keys } = t;
  const permissions = allowed(useMe());
  return (
    <Dialog title={t.nav.keys} close={close}>
      <dl className={styles.keys}>
        {keys
          .filter(([key]) => works(key, permissions))
          .map(([key, meaning]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
      </dl>
    </Dialog>
  );
}
