/** Links to pages or views that belong together, as tabs. */
import { Link } from "../router";
import styles from "./link-tabs.module.css";

interface Props {
  label: string;
  tabs: readonly (readonly [to: string, text: string])[];
  /** The address of the one that is shown. */
  current: string;
}

export function LinkTabs({ label, tabs, current }: Props) {
  return (
    <nav className={styles.tabs} aria-label={label}>
      {tabs.map(([to, text]) => (
        <Link key={to} to={to} aria-current={to === current ? "page" : undefined}>
          {text}
        </Link>
      ))}
    </nav>
  );
}
