/** The keys and what they do. */
import { Modal } from "@mantine/core";
import { useTexts } from "../shared/text";
import styles from "./shell.module.css";

export default function Help({ close }: { close: () => void }) {
  const t = useTexts();
  return (
    <Modal opened onClose={close} title={t.nav.keys} closeButtonProps={{ "aria-label": t.common.close }}>
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
    </Modal>
  );
}
