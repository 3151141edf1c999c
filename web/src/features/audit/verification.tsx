/** Verifies that no entry of the audit log was changed, removed or added. */
import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useTexts } from "../../shared/i18n";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Panel } from "../../shared/ui/page";
import styles from "./audit.module.css";
import { verify } from "./data";

export function Verification() {
  const { audit } = useTexts();
  const { data, error, isPending, mutate } = useMutation({ mutationFn: verify });
  return (
    <Panel
      title={audit.integrity}
      lead={audit.integrityLead}
      actions={
        <Button variant="default" loading={isPending} onClick={() => mutate()}>
          {audit.verify}
        </Button>
      }
    >
      {error && <ErrorNotice error={error} retry={() => mutate()} />}
      <p role="status" className={styles.result} data-ok={data?.ok}>
        {data && (data.broken_at === undefined ? audit.intact(data.entries) : audit.broken(data.broken_at))}
      </p>
      {data && <p className={styles.head}>{audit.head(data.head)}</p>}
    </Panel>
  );
}
