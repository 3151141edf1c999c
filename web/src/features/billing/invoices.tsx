/** The list of invoices. */
import { useQuery } from "@tanstack/react-query";
import type { InvoiceState } from "../../shared/api/closed-sets";
import { useLanguage, useTexts } from "../../shared/i18n";
import { Badge, type Tone } from "../../shared/ui/badge";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Loading } from "../../shared/ui/loading";
import { Panel } from "../../shared/ui/page";
import styles from "./billing.module.css";
import { money } from "./card";
import { invoicesQuery, plansQuery, type Invoice } from "./data";

export function Invoices() {
  const t = useTexts();
  const { data, error, refetch } = useQuery(invoicesQuery);
  return (
    <Panel title={t.billing.invoices} flush>
      {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data?.length === 0 && <p className={styles.nothing}>{t.billing.noInvoices}</p>}
      {data && data.length > 0 && (
        <div className={styles.scroll} tabIndex={0} role="group" aria-label={t.billing.invoices}>
          <table className={styles.table}>
            <thead>
              <tr>
                <th scope="col">{t.billing.invoice}</th>
                <th scope="col">{t.billing.date}</th>
                <th scope="col">{t.billing.what}</th>
                <th scope="col" className={styles.right}>
                  {t.billing.amount}
                </th>
                <th scope="col">
                  <span className="sr-only">{t.billing.state}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {data.map((invoice) => (
                <Row key={invoice.invoiceid} invoice={invoice} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}

const tones: Record<InvoiceState, Tone> = { paid: "up", open: "wait", void: "rest" };

function Row({ invoice }: { invoice: Invoice }) {
  const t = useTexts();
  const { locale } = useLanguage();
  const { data: known } = useQuery(plansQuery);
  const day = (at: string) => new Intl.DateTimeFormat(locale, { dateStyle: "medium" }).format(Date.parse(at));
  const name = known?.find((plan) => plan.planid === invoice.plan)?.name ?? invoice.plan;
  return (
    <tr>
      <td className="num">{invoice.number}</td>
      <td className="num">{day(invoice.created)}</td>
      <td>
        {name}, {day(invoice.period_from)} – {day(invoice.period_until)}
        {invoice.note !== "" && <span className={styles.small}>{invoice.note}</span>}
      </td>
      <td className={`${styles.right ?? ""} num`}>{money(invoice.amount, invoice.currency, locale)}</td>
      <td className={styles.right}>
        <Badge tone={tones[invoice.state]}>{t.billing.invoiceStates[invoice.state]}</Badge>
      </td>
    </tr>
  );
}
