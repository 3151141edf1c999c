/** A person, a team or the like in a list, with its menu. */
import type { ReactNode } from "react";
import { useTexts } from "../i18n";
import { ActionMenu } from "./action-menu";
import { More } from "./icons";
import styles from "./list-row.module.css";

interface Props {
  name: string;
  /** An initial or an icon. */
  face: ReactNode;
  badges?: ReactNode;
  /** The items of the menu. */
  menu?: ReactNode;
  /** The line below the name. */
  children: ReactNode;
}

export function ListRow({ name, face, badges, menu, children }: Props) {
  const t = useTexts();
  return (
    <li className={styles.row}>
      <span className={styles.face} aria-hidden="true">
        {face}
      </span>
      <div className={styles.words}>
        <span className={styles.title}>
          <span className={styles.name} title={name}>
            {name}
          </span>
          {badges}
        </span>
        <span className={styles.details}>{children}</span>
      </div>
      {menu && (
        <ActionMenu
          width={200}
          button={
            <button type="button" className={styles.more} aria-label={t.team.actions(name)}>
              <More />
            </button>
          }
        >
          {menu}
        </ActionMenu>
      )}
    </li>
  );
}
