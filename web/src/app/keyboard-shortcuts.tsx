/** The list of keyboard shortcuts. */
import { useTexts } from "../shared/i18n";
import { Dialog } from "../shared/ui/dialog";
import styles from "./shell.module.css";

export default function KeyboardShortcuts({ close }: { close: () => void }) {
  const t = useTexts();
  return (
    <Dialog title={t.nav.keys} close={close}>
      <dl className={styles.keys}>
        {t.keys.map(([key, meaning]) => (
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
