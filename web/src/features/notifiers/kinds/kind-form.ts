/**
 * What the form needs to know about one kind of notifier; index.ts lists them. `V` are its own fields, with the names that the
 * service uses in its errors.
 */
import type { ReactNode } from "react";
import type { NotifierType } from "../../../shared/api/closed-sets";
import type { Form } from "../../../shared/ui/form";
import type { Notifier, SaveNotifier } from "../data";

/** `was` is the stored notifier that is edited. */
type Fields<V> = (props: { form: Form<V>; was?: Notifier | undefined }) => ReactNode;

export interface KindForm<V extends object> {
  /** The type that the service knows it by. */
  type: NotifierType;
  defaults: V;
  valuesOf(notifier: Notifier): Partial<V>;
  bodyOf(values: V): Partial<SaveNotifier>;
  /** The default name: the first recipient, or the host. */
  suggestedName(values: V): string;
  Receiver: Fields<V>;
  /** A second panel. */
  Server?: Fields<V>;
  /** Whether receivers can verify the signature, so that its secret is shown. */
  signed?: boolean;
}
