/** The pages of maintenance windows: the list, one window, and its form. */
import { useLocation, useParams } from "../../shared/router";
import { WindowPage } from "./detail";
import { WindowEditor } from "./edit";
import { WindowList } from "./list";

export function Component() {
  const { id } = useParams();
  const { pathname } = useLocation();
  if (/\/(new|edit)$/.test(pathname)) return <WindowEditor id={id} />;
  return id === undefined ? <WindowList /> : <WindowPage id={id} />;
}
