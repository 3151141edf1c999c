/** In the row of a monitor in maintenance: until when, or its recent checks with those that do not count. */
import type { Cover } from "../../../shared/api/maintenances";
import { useLanguage, useTexts } from "../../../shared/i18n";
import { useNow } from "../../../shared/lib/now";
import { Wrench } from "../../../shared/ui/icons";
import { HeartbeatBars } from "../heartbeat-bars";
import type { Shown } from "../data";
import { untilText, useCoverText, useStandings } from "../planned";
import { BEATS } from "../summary";
import styles from "./acknowledged.module.css";

interface Props {
  cover: Cover;
  /** With recent checks, these are shown. */
  beats?: readonly Shown[];
}

export default function Covered({ cover, beats }: Props) {
  return beats ? <CoveredBars cover={cover} beats={beats} /> : <Label cover={cover} />;
}

function CoveredBars({ cover, beats }: Required<Props>) {
  return <HeartbeatBars beats={useStandings(beats, cover)} room={BEATS} />;
}

/** On a phone, there is room for an icon and the time. */
function Label({ cover }: { cover: Cover }) {
  const { maintenance } = useTexts();
  const { locale } = useLanguage();
  const now = useNow();
  const text = useCoverText(cover);
  return (
    <span className={styles.covered} title={`${maintenance.title}: ${cover.name}`}>
      <Wrench size={12} />
      <span className={styles.whole}>{text}</span>
      {cover.until && (
        <span className={styles.short} aria-hidden="true">
          {untilText(cover.until, now, locale)}
        </span>
      )}
    </span>
  );
}
