/** An address of nothing, or of what belongs to another team: the same words for both. */
import { Button } from "@mantine/core";
import { Link } from "react-router";
import { EmptyState } from "./empty-state";
import { useTitle } from "./page";
import { useTexts } from "../i18n";

/** Where to go instead: an address and its name. */
export function NotFound({ instead: [to, name] }: { instead: readonly [string, string] }) {
  const t = useTexts();
  useTitle(t.errors.notFound);
  return (
    <EmptyState title={t.errors.notFound}>
      <p>{t.errors.notFoundHelp}</p>
      <Button component={Link} to={to}>
        {name}
      </Button>
    </EmptyState>
  );
}
