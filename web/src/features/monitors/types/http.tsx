/** HTTP: a page or an API responds. */
import { NumberInput, Select, Switch, Textarea, TextInput } from "@mantine/core";
import {
  find,
  valuesOfSet,
  type ClientAuth,
  type HttpAuthentication,
  type HttpMethod,
  type HttpVersion,
} from "../../../shared/api/closed-sets";
import { useTexts } from "../../../shared/i18n";
import { flag, text, type Form } from "../../../shared/ui/form";
import { FieldPair, PasswordField } from "../../../shared/ui/form-layout";
import type { Monitor, SaveMonitor } from "../data";
import styles from "../edit/edit.module.css";
import { certificateOf, ClientCertificate, holderOf, type CertificateValues } from "./client-certificate";
import { choice, number } from "./fields";
import type { TypeForm } from "./type-form";
import { hasScheme, hostOf, withScheme } from "./url";

export interface HttpValues extends CertificateValues<"http"> {
  "http.url": string;
  "http.method": HttpMethod;
  "http.keyword": string;
  "http.accepted_status_codes": string;
  "http.headers": string;
  "http.body": string;
  "http.authentication_type": HttpAuthentication;
  "http.username": string;
  "http.password": string;
  "http.token": string;
  "http.oauth2.token_url": string;
  "http.oauth2.client_id": string;
  "http.oauth2.client_secret": string;
  "http.oauth2.scope": string;
  "http.oauth2.audience": string;
  "http.oauth2.client_auth": ClientAuth;
  "http.ca": string;
  "http.cookies": boolean;
  "http.version": HttpVersion;
  "http.cache_buster": boolean;
  /** Bytes; empty for the default of the type. */
  "http.max_body": number | "";
  "http.proxy": string;
  "http.max_redirects": number | "";
  "http.ignore_tls_error": boolean;
  "http.certificate_expiry_notification": boolean;
}

const methods = valuesOfSet<HttpMethod>({ GET: true, HEAD: true, POST: true, PUT: true, PATCH: true, DELETE: true, OPTIONS: true });
const authentications = valuesOfSet<HttpAuthentication>({
  none: true,
  basic: true,
  bearer: true,
  digest: true,
  ntlm: true,
  oauth2: true,
});

const versions = valuesOfSet<HttpVersion>({ auto: true, "1.1": true, "2": true });
const clientAuths = valuesOfSet<ClientAuth>({ basic: true, post: true });

/** How many bytes of a body are read unless set. The service keeps a number that is not sent, so a cleared one is sent as this. */
const DEFAULT_BODY = { http: 1 << 20, http_keyword: 10 << 20 };

export const http: TypeForm<HttpValues> = {
  defaults: {
    "http.url": "",
    "http.method": "GET",
    "http.keyword": "",
    "http.accepted_status_codes": "200-299",
    "http.headers": "",
    "http.body": "",
    "http.authentication_type": "none",
    "http.username": "",
    "http.password": "",
    "http.token": "",
    "http.oauth2.token_url": "",
    "http.oauth2.client_id": "",
    "http.oauth2.client_secret": "",
    "http.oauth2.scope": "",
    "http.oauth2.audience": "",
    "http.oauth2.client_auth": "basic",
    "http.ca": "",
    "http.cookies": false,
    "http.version": "auto",
    "http.cache_buster": false,
    "http.max_body": "",
    "http.proxy": "",
    "http.client_certificate": "",
    "http.client_key": "",
    "http.stored_certificate": "",
    "http.removes_certificate": false,
    "http.max_redirects": 10,
    "http.ignore_tls_error": false,
    "http.certificate_expiry_notification": true,
  },
  valuesOf,
  bodyOf: (values) => ({ http: requestOf(values, "http") }),
  suggestedName: (values) => hostOf(withScheme(values["http.url"])),
  labels: (t) => ({
    "http.url": t.form.url,
    "http.method": t.form.method,
    "http.keyword": t.form.keyword,
    "http.accepted_status_codes": t.form.codes,
    "http.headers": t.form.headers,
    "http.body": t.form.body,
    "http.authentication_type": t.form.authentication,
    "http.username": t.form.username,
    "http.password": t.auth.password,
    "http.token": t.form.token,
    "http.oauth2.token_url": t.form.tokenUrl,
    "http.oauth2.client_id": t.form.clientId,
    "http.oauth2.client_secret": t.form.clientSecret,
    "http.oauth2.scope": t.form.scope,
    "http.oauth2.audience": t.form.audience,
    "http.oauth2.client_auth": t.form.clientAuth,
    "http.ca": t.form.authorities,
    "http.cookies": t.form.cookies,
    "http.version": t.form.httpVersion,
    "http.cache_buster": t.form.cacheBuster,
    "http.max_body": t.form.maxBody,
    "http.proxy": t.form.proxy,
    "http.client_certificate": t.form.clientCertificate,
    "http.client_key": t.form.clientKey,
    "http.removes_certificate": t.form.removeCertificate,
    "http.max_redirects": t.form.redirects,
    "http.ignore_tls_error": t.form.ignoreTls,
    "http.certificate_expiry_notification": t.form.certificate,
  }),
  connects: true,
  Target: Url,
  Advanced: HttpAdvanced,
  advanced: [
    "http.method",
    "http.headers",
    "http.body",
    "http.accepted_status_codes",
    "http.authentication_type",
    "http.username",
    "http.password",
    "http.token",
    "http.oauth2.token_url",
    "http.oauth2.client_id",
    "http.oauth2.client_secret",
    "http.oauth2.scope",
    "http.oauth2.audience",
    "http.oauth2.client_auth",
    "http.ca",
    "http.cookies",
    "http.version",
    "http.cache_buster",
    "http.max_body",
    "http.proxy",
    "http.client_certificate",
    "http.client_key",
    "http.max_redirects",
  ],
};

function valuesOf({ type, http }: Monitor): Partial<HttpValues> {
  if (!http) return {};
  const defaultBody = DEFAULT_BODY[type === "http_keyword" ? type : "http"];
  return {
    "http.url": http.url,
    "http.method": http.method,
    "http.keyword": http.keyword,
    "http.accepted_status_codes": http.accepted_status_codes.join(", "),
    "http.headers": http.headers,
    "http.body": http.body,
    "http.authentication_type": find(authentications, http.authentication_type.toLowerCase()) ?? "none",
    "http.username": http.username,
    ...(http.oauth2 && {
      "http.oauth2.token_url": http.oauth2.token_url,
      "http.oauth2.client_id": http.oauth2.client_id,
      "http.oauth2.scope": http.oauth2.scope,
      "http.oauth2.audience": http.oauth2.audience,
      "http.oauth2.client_auth": http.oauth2.client_auth,
    }),
    "http.ca": http.ca,
    "http.cookies": http.cookies,
    "http.version": http.version,
    "http.cache_buster": http.cache_buster,
    "http.max_body": http.max_body === defaultBody ? "" : http.max_body,
    "http.proxy": http.proxy,
    "http.stored_certificate": holderOf(http.client_certificate),
    "http.max_redirects": http.max_redirects,
    "http.ignore_tls_error": http.ignore_tls_error,
    "http.certificate_expiry_notification": http.certificate_expiry_notification,
  };
}

export function requestOf(values: HttpValues, type: keyof typeof DEFAULT_BODY): NonNullable<SaveMonitor["http"]> {
  const kind = values["http.authentication_type"];
  const authenticates = usesPassword(kind);
  return {
    url: withScheme(values["http.url"]),
    method: values["http.method"],
    keyword: values["http.keyword"],
    accepted_status_codes: values["http.accepted_status_codes"],
    headers: values["http.headers"],
    body: values["http.body"],
    authentication_type: values["http.authentication_type"],
    ...(authenticates && { username: values["http.username"] }),
    // The service never returns passwords; an empty field leaves the stored one unchanged.
    ...(authenticates && values["http.password"] !== "" && { password: values["http.password"] }),
    // The same for other secrets.
    ...(kind === "bearer" && values["http.token"] !== "" && { token: values["http.token"] }),
    ...(kind === "oauth2" && {
      oauth2: {
        token_url: values["http.oauth2.token_url"].trim(),
        client_id: values["http.oauth2.client_id"],
        scope: values["http.oauth2.scope"],
        audience: values["http.oauth2.audience"].trim(),
        client_auth: values["http.oauth2.client_auth"],
        ...(values["http.oauth2.client_secret"] !== "" && { client_secret: values["http.oauth2.client_secret"] }),
      },
    }),
    ca: values["http.ca"].trim(),
    cookies: values["http.cookies"],
    version: values["http.version"],
    cache_buster: values["http.cache_buster"],
    max_body: values["http.max_body"] === "" ? DEFAULT_BODY[type] : values["http.max_body"],
    proxy: values["http.proxy"].trim(),
    ...certificateOf({
      certificate: values["http.client_certificate"],
      key: values["http.client_key"],
      removes: values["http.removes_certificate"],
    }),
    max_redirects: values["http.max_redirects"] === "" ? 10 : values["http.max_redirects"],
    ignore_tls_error: values["http.ignore_tls_error"],
    certificate_expiry_notification: values["http.certificate_expiry_notification"],
  };
}

/** Whether a login has a user name and a password. */
function usesPassword(kind: HttpAuthentication): boolean {
  return kind === "basic" || kind === "digest" || kind === "ntlm";
}

export function Url({ form }: { form: Form<HttpValues> }) {
  const t = useTexts();
  const typed = form.values["http.url"].trim();
  return (
    <TextInput
      {...text(form, "http.url")}
      label={t.form.url}
      description={typed === "" || hasScheme(typed) ? t.form.urlHelp : t.form.urlAs(withScheme(typed))}
      placeholder="https://example.com/health"
      inputMode="url"
      autoCapitalize="off"
      spellCheck={false}
      autoFocus={typed === ""}
    />
  );
}

function HttpAdvanced({ form }: { form: Form<HttpValues> }) {
  const t = useTexts();
  return (
    <>
      <TextInput {...text(form, "http.keyword")} label={t.form.keywordOptional} description={t.form.keywordHelp} />
      <HttpFields form={form} />
    </>
  );
}

/** The request, the login, and what counts as up. */
export function HttpFields({ form }: { form: Form<HttpValues> }) {
  const t = useTexts();
  const { values } = form;
  return (
    <>
      <FieldPair>
        <Select {...choice(form, "http.method", methods)} label={t.form.method} description={t.form.methodHelp} data={methods} />
        <TextInput {...text(form, "http.accepted_status_codes")} label={t.form.codes} description={t.form.codesHelp} />
      </FieldPair>
      <Textarea
        {...text(form, "http.headers")}
        label={t.form.headers}
        description={t.form.headersHelp}
        placeholder={"Accept: application/json"}
        rows={3}
        spellCheck={false}
        classNames={{ input: styles.code ?? "" }}
      />
      {values["http.method"] !== "GET" && values["http.method"] !== "HEAD" && (
        <Textarea
          {...text(form, "http.body")}
          label={t.form.body}
          description={t.form.bodyHelp}
          rows={4}
          spellCheck={false}
          classNames={{ input: styles.code ?? "" }}
        />
      )}
      <Login form={form} />
      <ClientCertificate form={form} of="http" />
      <Textarea
        {...text(form, "http.ca")}
        label={t.form.authorities}
        description={t.form.authoritiesHelp}
        placeholder="-----BEGIN CERTIFICATE-----"
        autosize
        minRows={2}
        maxRows={6}
        spellCheck={false}
        autoComplete="off"
        classNames={{ input: styles.code ?? "" }}
      />
      <TextInput
        {...text(form, "http.proxy")}
        label={t.form.proxy}
        description={t.form.proxyHelp}
        placeholder="http://proxy.example:3128"
        autoComplete="off"
        spellCheck={false}
      />
      <FieldPair>
        <Select
          {...choice(form, "http.version", versions)}
          label={t.form.httpVersion}
          description={t.form.httpVersionHelp}
          data={versions.map((value) => ({ value, label: value === "auto" ? t.form.httpVersionAny : `HTTP/${value}` }))}
        />
        <NumberInput {...number(form, "http.max_body")} label={t.form.maxBody} description={t.form.maxBodyHelp} placeholder={t.form.auto} />
      </FieldPair>
      <NumberInput {...number(form, "http.max_redirects")} label={t.form.redirects} description={t.form.redirectsHelp} />
      <Switch {...flag(form, "http.cookies")} label={t.form.cookies} description={t.form.cookiesHelp} />
      <Switch {...flag(form, "http.cache_buster")} label={t.form.cacheBuster} description={t.form.cacheBusterHelp} />
      <Switch {...flag(form, "http.certificate_expiry_notification")} label={t.form.certificate} description={t.form.certificateHelp} />
      <Switch {...flag(form, "http.ignore_tls_error")} label={t.form.ignoreTls} description={t.form.ignoreTlsHelp} />
    </>
  );
}

function Login({ form }: { form: Form<HttpValues> }) {
  const t = useTexts();
  const authentication = form.values["http.authentication_type"];
  return (
    <>
      <Select
        {...choice(form, "http.authentication_type", authentications)}
        label={t.form.authentication}
        description={t.form.authenticationHelp}
        data={authentications.map((value) => ({ value, label: t.form.authentications[value] }))}
      />
      {authentication === "bearer" && (
        <PasswordField form={form} field="http.token" label={t.form.token} description={t.form.tokenHelp} autoComplete="off" />
      )}
      {authentication === "oauth2" && (
        <>
          <TextInput {...text(form, "http.oauth2.token_url")} label={t.form.tokenUrl} inputMode="url" />
          <FieldPair>
            <TextInput {...text(form, "http.oauth2.client_id")} label={t.form.clientId} autoComplete="off" />
            <PasswordField
              form={form}
              field="http.oauth2.client_secret"
              label={t.form.clientSecret}
              description={t.form.passwordHelp}
              autoComplete="off"
            />
          </FieldPair>
          <FieldPair>
            <TextInput {...text(form, "http.oauth2.scope")} label={t.form.scope} />
            <TextInput {...text(form, "http.oauth2.audience")} label={t.form.audience} />
          </FieldPair>
          <Select
            {...choice(form, "http.oauth2.client_auth", clientAuths)}
            label={t.form.clientAuth}
            description={t.form.clientAuthHelp}
            data={clientAuths.map((value) => ({ value, label: t.form.clientAuths[value] }))}
          />
        </>
      )}
      {usesPassword(authentication) && (
        <FieldPair>
          <TextInput
            {...text(form, "http.username")}
            label={t.form.username}
            description={authentication === "ntlm" ? t.form.ntlmHelp : t.form.usernameHelp}
            autoComplete="off"
          />
          <PasswordField
            form={form}
            field="http.password"
            label={t.auth.password}
            description={t.form.passwordHelp}
            autoComplete="new-password"
          />
        </FieldPair>
      )}
    </>
  );
}
