/** The form of each monitor type. A new type is a file and a line here; the compiler asks for the line. */
import type { Type } from "../data";
import { dns } from "./dns";
import { domain } from "./domain";
import { group } from "./group";
import { http } from "./http";
import { httpKeyword } from "./http-keyword";
import { ping } from "./ping";
import { push } from "./push";
import { tcp } from "./tcp";
import { tls } from "./tls";
import type { TypeForm } from "./type-form";

const forms = { http, http_keyword: httpKeyword, ping, tcp, dns, tls, domain, api: push, group } satisfies Record<Type, object>;

type Intersection<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer I) => void ? I : never;

/** The fields of all types. They stay in the form while it is open, so switching the type loses nothing. */
export type TypeValues = Intersection<(typeof forms)[Type]["defaults"]>;

export function defaults(): TypeValues {
  return Object.assign({}, ...Object.values(forms).map((form) => form.defaults)) as TypeValues;
}

export function formOf(type: Type): Omit<TypeForm<TypeValues>, "defaults"> {
  return forms[type];
}
