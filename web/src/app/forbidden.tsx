/** Shown in place of a page that the user's role does not include, or that needs a second factor. */
import { Button } from "@mantine/core";
import { useMe, type Permission, type Role } from "../shared/api/session";
import { useLanguage, useTexts } from "../shared/i18n";
import { Link } from "../shared/router";
import { EmptyState } from "../shared/ui/empty-state";
import { useTitle } from "../shared/ui/page";
import { useHome } from "./home";

/** The permissions that pages need, with the roles to ask for; higher roles have them too. No role administers the installation. */
const ROLES = {
  view: ["viewer"],
  respond: ["responder"],
  edit: ["editor"],
  bills: ["admin", "billing"],
  audit: ["admin"],
  operate: [],
} as const satisfies Partial<Record<Permission, readonly Role[]>>;
export type PagePermission = keyof typeof ROLES;

export default function Forbidden({ permission }: { permission: PagePermission }) {
  const t = useTexts();
  const { forbidden } = t;
  const { locale } = useLanguage();
  const [home, name] = useHome();
  const { role, mfa_setup_required } = useMe();
  const roles = new Intl.ListFormat(locale, { type: "disjunction" }).format(ROLES[permission].map((each: Role) => t.team.roles[each]));
  const [title, help] =
    permission === "operate"
      ? [forbidden.admins, forbidden.adminsHelp]
      : mfa_setup_required
        ? [t.mfa.required, t.mfa.requiredHelp]
        : [forbidden.title(roles), forbidden.help(t.team.roles[role])];
  useTitle(title);
  return (
    <EmptyState title={title} page>
      <p>{help}</p>
      <Button component={Link} to={home}>
        {name}
      </Button>
    </EmptyState>
  );
}
