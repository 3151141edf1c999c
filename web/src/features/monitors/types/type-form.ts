/**
 * What the form needs to know about one monitor type. Each type is a file in this
 * folder and a line in index.ts; `V` are its own fields, with the names that the
 * service uses in its errors.
 */
import type { ReactNode } from "react";
import type { Texts } from "../../../shared/i18n";
import type { Form } from "../../../shared/ui/form";
import type { Monitor, SaveMonitor } from "../data";

type Fields<V> = (props: { form: Form<V> }) => ReactNode;

export interface TypeForm<V extends object> {
  defaults: V;
  /** The fields of a saved monitor; those it does not have keep their defaults. */
  valuesOf(monitor: Monitor): Partial<V>;
  /** The fields of the request; the service has defaults for empty numbers. */
  bodyOf(values: V): Partial<SaveMonitor>;
  suggestedName(values: V): string;
  /** The labels of its fields. */
  labels(t: Texts): { [K in keyof V & string]?: string };
  /** Whether its checks connect to a target, for which there are settings. */
  connects?: true;
  Target: Fields<V>;
  /** Rarely used fields, in the collapsed section. */
  Advanced?: Fields<V>;
  /** The names of the fields of `Advanced`: an error in one of them opens the section. */
  advanced?: readonly string[];
  /** The names of the fields that are durations. */
  durations?: readonly string[];
  /** The fields of a type that waits for reports instead of being checked. */
  Passive?: Fields<V>;
}
