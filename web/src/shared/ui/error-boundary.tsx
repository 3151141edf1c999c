/** Replaces content that crashed, until another page is opened. */
import { Component, type ReactNode } from "react";
import type { Location } from "../router/router";

interface Props {
  location: Location;
  fallback: (error: unknown) => ReactNode;
  children: ReactNode;
}

interface State {
  crash: { error: unknown } | null;
}

export class ErrorBoundary extends Component<Props, State> {
  override state: State = { crash: null };

  static getDerivedStateFromError(error: unknown): State {
    return { crash: { error } };
  }

  override componentDidUpdate({ location }: Props) {
    if (this.state.crash && location !== this.props.location) this.setState({ crash: null });
  }

  override render() {
    return this.state.crash ? this.props.fallback(this.state.crash.error) : this.props.children;
  }
}
