/** The dialog that creates a notifier in place. The app provides it, because features do not import each other. */
import { createContext, type ReactNode } from "react";
import type { OfferedKind } from "../api/closed-sets";
import type { Notifier } from "../api/notifiers";

export interface NotifierDialogProps {
  /** Without it, the gallery of kinds is shown first. */
  kind?: OfferedKind;
  /** Whether new monitors should use it. */
  isdefault?: boolean;
  close: () => void;
  created: (notifier: Notifier) => void;
}

/** Renders the open dialog. */
export const NotifierDialogContext = createContext<(props: NotifierDialogProps) => ReactNode>(() => null);
