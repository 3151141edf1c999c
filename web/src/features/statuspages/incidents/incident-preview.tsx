/** An incident as visitors will read it, beside its form. */
import type { Statuspage } from "../../../shared/api/statuspages";
import { useTexts } from "../../../shared/i18n";
import { Panel } from "../../../shared/ui/page";
import { ComponentBadge } from "../labels";
import { RenderedText } from "../rendered-text";
import { componentNames } from "./component-fields";
import styles from "./incidents.module.css";
import type { Values } from "./values";

export function IncidentPreview({ values, pages }: { values: Values; pages: readonly Statuspage[] }) {
  const { incidents: texts } = useTexts();
  const { title, status, body, components, templateid } = values;
  const names = componentNames(pages);
  return (
    <Panel title={texts.rendered}>
      <article className={styles.preview} aria-label={texts.rendered}>
        <h3>{title.trim() || texts.titleField}</h3>
        {components.length > 0 && (
          <ul className={styles.affected}>
            {components.map(({ componentid, status: shown }) => (
              <li key={componentid}>
                <span>{names.get(componentid) ?? componentid}</span>
                <ComponentBadge status={shown} />
              </li>
            ))}
          </ul>
        )}
        <p>
          <b>{texts.statuses[status]}</b>
        </p>
        {body.trim() === "" ? (
          <p className={styles.quiet}>{templateid === null ? texts.noText : texts.fromTemplate}</p>
        ) : (
          <RenderedText text={body} />
        )}
      </article>
    </Panel>
  );
}
