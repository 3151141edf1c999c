/** The installation's own audit log. */
import { useTexts } from "../../shared/i18n";
import { AuditEntries, type Entry } from "../../shared/ui/audit-entry";
import { auditQuery } from "./data";
import { SearchList } from "./search-list";

export function Log() {
  const { audit } = useTexts();
  return (
    <SearchList<Entry> search={audit.search} query={auditQuery}>
      {(entries) => <AuditEntries entries={entries} />}
    </SearchList>
  );
}
