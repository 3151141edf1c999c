/** What is shown in place of a view that broke or does not exist. */
import { Button } from "@mantine/core";
import { useRouteError } from "react-router";
import { useTexts } from "../shared/text";
import { Nowhere } from "../shared/ui/nowhere";
import { Empty } from "../shared/ui/parts";

export function Failed() {
  const t = useTexts();
  const error = useRouteError();
  // After an update of the service the old page's files are gone; a reload gets the new ones.
  const stale = error instanceof TypeError && /import/i.test(error.message);
  return (
    <Empty title={stale ? t.trouble.stale : t.trouble.broken}>
      <p>{stale ? t.trouble.staleHelp : t.trouble.brokenHelp}</p>
      <Button onClick={() => window.location.reload()}>{t.common.reload}</Button>
    </Empty>
  );
}

export function Missing() {
  const t = useTexts();
  return <Nowhere instead={["/", t.nav.monitors]} />;
}
