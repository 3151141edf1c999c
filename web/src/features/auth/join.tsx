/**
 * Accepts an invitation. The token of the link is removed from the address bar, and stays in the tab's storage, so that
 * the page can be opened again after a login.
 */
import { Button, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { POST, unwrap } from "../../shared/api/client";
import { ApiError } from "../../shared/api/error";
import type { components } from "../../shared/api/schema";
import { logOut, meQuery, showTeam } from "../../shared/api/session";
import { clearSessionExpiry } from "../../shared/api/session-expiry";
import { useTexts } from "../../shared/i18n";
import { Link, useLocation, useNavigate } from "../../shared/router";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { text, useForm } from "../../shared/ui/form";
import { FormLayout } from "../../shared/ui/form-layout";
import { Loading } from "../../shared/ui/loading";
import { showToast } from "../../shared/ui/toast";
import { AuthLayout, NewPasswordField } from "./auth-layout";

type Opened = components["schemas"]["InvitationOpened"];
type Accepted = components["schemas"]["AcceptInvitation"];

const STORAGE_KEY = "wakeful.invitation";

export function Component() {
  const t = useTexts();
  const token = useToken();
  const { data: me, isPending: isMePending } = useQuery(meQuery);
  const { data, error, refetch } = useQuery({
    // What it returns depends on the user.
    queryKey: ["invitation", token, me?.userid ?? null],
    queryFn: ({ signal }) => unwrap(POST("/api/v1/invitation/read", { body: { token }, signal })),
    enabled: token !== "" && !isMePending,
    staleTime: Infinity,
  });
  if (token === "") return <Broken text={t.join.incomplete} />;
  if (error instanceof ApiError && error.has("bad_invitation")) return <Broken text={t.service.codes.bad_invitation} />;
  if (!data) {
    return (
      <AuthLayout title={t.join.loading}>{error ? <ErrorNotice error={error} retry={() => void refetch()} /> : <Loading />}</AuthLayout>
    );
  }
  const role = t.team.roles[data.role];
  return (
    <AuthLayout title={t.join.title(data.team)} lead={data.invited_by ? t.join.lead(data.invited_by, role) : t.join.leadAlone(role)}>
      <p>{t.team.roleHelp[data.role]}</p>
      {data.account === "yours" ? (
        <AcceptForm token={token} invitation={data} />
      ) : me ? (
        <OtherAccount invited={data.email} own={me.email} />
      ) : data.account === "new" ? (
        <SignUpForm token={token} invitation={data} />
      ) : (
        <>
          <p>{t.join.exists(data.email)}</p>
          <Button component={Link} to="/login?next=/join" size="md">
            {t.auth.login.action}
          </Button>
        </>
      )}
    </AuthLayout>
  );
}

/** The token of the link that was opened, or of the one from before the login or a reload; empty if there is none. */
function useToken(): string {
  const { hash } = useLocation();
  const navigate = useNavigate();
  const opened = new URLSearchParams(hash.slice(1)).get("token") ?? "";
  useEffect(() => {
    if (opened === "") return;
    sessionStorage.setItem(STORAGE_KEY, opened);
    void navigate("/join", { replace: true });
  }, [opened, navigate]);
  return opened || (sessionStorage.getItem(STORAGE_KEY) ?? "");
}

interface FormProps {
  token: string;
  invitation: Opened;
}

/** Returns a function that accepts the invitation, and shows the team in this tab. */
function useAccept({ token, invitation: { team } }: FormProps) {
  const t = useTexts();
  const client = useQueryClient();
  const navigate = useNavigate();
  return async (account: Omit<Accepted, "token">) => {
    const { user } = await unwrap(POST("/api/v1/invitation/accept", { body: { token, ...account } }));
    sessionStorage.removeItem(STORAGE_KEY);
    await showTeam(client, user.groupid);
    clearSessionExpiry();
    await navigate("/", { replace: true });
    showToast(t.join.joined(team));
  };
}

function AcceptForm(props: FormProps) {
  const t = useTexts();
  const accept = useAccept(props);
  const form = useForm({}, accept);
  return <FormLayout form={form} action={t.join.accept} />;
}

function SignUpForm(props: FormProps) {
  const t = useTexts();
  const accept = useAccept(props);
  const form = useForm({ name: "", password: "" }, ({ name, password }) => accept(name.trim() === "" ? { password } : { password, name }));
  return (
    <FormLayout form={form} action={t.join.signUp}>
      <p>{t.join.new}</p>
      {/* For password managers, too. */}
      <TextInput label={t.auth.email} type="email" value={props.invitation.email} autoComplete="username" readOnly size="md" />
      <NewPasswordField form={form} field="password" label={t.auth.password} autoFocus />
      <TextInput {...text(form, "name")} label={t.auth.signup.name} autoComplete="name" size="md" />
    </FormLayout>
  );
}

function OtherAccount({ invited, own }: { invited: string; own: string }) {
  const t = useTexts();
  const client = useQueryClient();
  const form = useForm({}, () => logOut(client, false));
  return (
    <FormLayout form={form} action={t.join.logOut} after={<Link to="/">{t.auth.verify.next}</Link>}>
      <p>{t.join.other(invited, own)}</p>
    </FormLayout>
  );
}

function Broken({ text }: { text: string | undefined }) {
  const t = useTexts();
  useEffect(() => sessionStorage.removeItem(STORAGE_KEY), []);
  return (
    <AuthLayout title={t.join.broken} lead={text}>
      <Link to="/">{t.auth.verify.next}</Link>
    </AuthLayout>
  );
}
