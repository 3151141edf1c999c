/** Shown for a page that does not exist and for one of another team alike. */
import { Button } from "@mantine/core";
import { Link } from "../router";
import { EmptyState } from "./empty-state";
import { useTitle } from "./page";
import { useFirstTexts } from "../i18n";

/** `instead` is a link to offer: its URL and label. */
export function NotFound({ instead: [to, name] }: { instead: readonly [string, string] }) {
  const t = useFirstTexts();
  useTitle(t.errors.notFound);
  return (
    <EmptyState title={t.errors.notFound} page>
      <p>{t.errors.notFoundHelp}</p>
      <Button component={Link} to={to}>
        {name}
      </Button>
    </EmptyState>
  );
}
