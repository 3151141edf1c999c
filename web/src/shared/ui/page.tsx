/** A page with its title, and panels within it. */
import { useEffect, type ReactNode } from "react";
import styles from "./page.module.css";

/** Sets the document's title while the view is open. */
export function useTitle(title: string) {
  useEffect(() => {
    document.title = title === "" || title === "Wakeful" ? "Wakeful" : `${title} · Wakeful`;
  }, [title]);
}

interface PageProps {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  narrow?: boolean;
  children: ReactNode;
}

export function Page({ title, lead, actions, narrow = false, children }: PageProps) {
  useTitle(title);
  return (
    <div className={styles.page} data-narrow={narrow || undefined}>
      <header className={styles.head}>
        <div className={styles.titles}>
          <h1>{title}</h1>
          {lead !== undefined && <p className={styles.lead}>{lead}</p>}
        </div>
        {actions && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface PanelProps {
  /** The target of links to this panel. */
  id?: string;
  title?: string;
  lead?: ReactNode;
  actions?: ReactNode;
  flush?: boolean;
  children?: ReactNode;
}

export function Panel({ id, title, lead, actions, flush = false, children }: PanelProps) {
  return (
    <section id={id} className={styles.panel}>
      {title !== undefined && (
        <header className={styles.panelHead}>
          <div>
            <h2>{title}</h2>
            {lead !== undefined && <p className={styles.lead}>{lead}</p>}
          </div>
          {actions}
        </header>
      )}
      {children !== undefined && <div className={flush ? undefined : styles.panelBody}>{children}</div>}
    </section>
  );
}
