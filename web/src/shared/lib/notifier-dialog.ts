/** The dialog that creates a notifier in place. The app provides it, because features do not import each other. */
import { createContext, type ReactNode } from "react";
import type { Notifier, NotifierKind } from "../api/notifiers";

export interface NotifierDialogProps {
  kind?: NotifierKind;
  /** Whether new monitors should use it. */
  isdefault?: boolean;
  close: () => void;
  created: (notifier: Notifier) => void;
}

/** Renders the open dialog. */
export const NotifierDialogContext = createContext<(props: NotifierDialogProps) => ReactNode>(() => null);
