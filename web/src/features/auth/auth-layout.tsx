/** The layout of the pages before login: a form beside a decorative wall of heartbeats. */
import { type ReactNode } from "react";
import { useLanguage, useTexts } from "../../shared/i18n";
import { Link } from "../../shared/router";
import type { Form } from "../../shared/ui/form";
import { Logo } from "../../shared/ui/logo";
import { PasswordField, RequiredField } from "../../shared/ui/form-layout";
import { useTitle } from "../../shared/ui/page";
import styles from "./auth.module.css";

interface Props {
  title: string;
  lead?: ReactNode;
  children: ReactNode;
  foot?: ReactNode;
}

export function AuthLayout({ title, lead, children, foot }: Props) {
  const t = useTexts();
  const { language, setLanguage } = useLanguage();
  useTitle(title);
  return (
    <div className={styles.layout}>
      <div className={styles.side}>
        <header className={styles.top}>
          <Link to="/" className={styles.brand}>
            <Logo size={28} />
            Wakeful
          </Link>
          <button type="button" className={styles.language} onClick={() => setLanguage(language === "en" ? "de" : "en")}>
            {t.common.otherLanguage}
          </button>
        </header>
        <main className={styles.main}>
          <h1>{title}</h1>
          {lead !== undefined && <p className={styles.lead}>{lead}</p>}
          {children}
          {foot !== undefined && <footer className={styles.foot}>{foot}</footer>}
        </main>
        <footer className={styles.bottom}>
          <Link to="/contact">{t.auth.contact}</Link>
          <a href="/api/docs/">{t.auth.api}</a>
        </footer>
      </div>
      <Backdrop />
    </div>
  );
}

/** The first field of every form here. */
export function EmailField<V extends { email: string }>({ form }: { form: Form<V> }) {
  const t = useTexts();
  return <RequiredField form={form} field="email" type="email" label={t.auth.email} autoComplete="username" autoFocus size="md" />;
}

interface NewPasswordProps<V> {
  form: Form<V>;
  field: keyof V & string;
  label: string;
  autoFocus?: boolean;
}

/** The password of a new account, or a new one. */
export function NewPasswordField<V extends object>(props: NewPasswordProps<V>) {
  const t = useTexts();
  return <PasswordField {...props} description={t.auth.passwordHelp} autoComplete="new-password" minLength={8} required size="md" />;
}

const ROWS = 16;
const COLUMNS = 34;

/** Which bars are red: two outages of a few heartbeats each. */
function isDown(row: number, column: number): boolean {
  return (row === 4 && column > 19 && column < 24) || (row === 11 && column > 8 && column < 11);
}

function Backdrop() {
  const t = useTexts();
  const bars = [];
  for (let row = 0; row < ROWS; row++) {
    for (let column = 0; column < COLUMNS; column++) {
      const down = isDown(row, column);
      bars.push(
        <rect
          key={`${row}.${column}`}
          className={down ? styles.barDown : styles.barUp}
          x={column * 14}
          y={row * 34 + (down ? 0 : 5)}
          width={6}
          height={down ? 22 : 12}
          rx={2}
        />,
      );
    }
  }
  return (
    <aside className={styles.backdrop} aria-hidden="true">
      <svg viewBox={`0 0 ${COLUMNS * 14 - 8} ${ROWS * 34 - 12}`} preserveAspectRatio="xMinYMid slice">
        {bars}
      </svg>
      <p>{t.auth.motto}</p>
    </aside>
  );
}
