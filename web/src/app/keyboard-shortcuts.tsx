/** The list of keyboard shortcuts. */
import { useTexts } from "../shared/i18n";
import { useExtraTexts } from "../shared/i18n/extra";
import { Dialog } from "../shared/ui/dialog";
import styles from "./shell.module.css";

export default function KeyboardShortcuts({ close }: { close: () => void }) {
  const t = useTexts();
  const { keys } = useExtraTexts();
  return (
    <Dialog title={t.nav.keys} close={close}>
      <dl className={styles.keys}>
        {keys.map(([key, meaning]) => (
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
