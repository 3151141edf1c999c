/** The column headers: select all, and sort by a column. */
import { useFirstTexts } from "../../../shared/i18n";
import { SortArrow } from "../../../shared/ui/icons";
import { May } from "../../../shared/ui/may";
import styles from "./list.module.css";
import { directionOf, sortedBy, type Sort, type View } from "./view";

interface Props {
  view: View;
  change: (next: Partial<View>) => void;
  /** How many of the listed monitors are selected: all, some or none. */
  picked: "all" | "some" | "none";
  pickAll: (all: boolean) => void;
}

export function ColumnHeaders({ view, change, picked, pickAll }: Props) {
  const t = useFirstTexts();
  const { columns } = t.monitors;
  const sorting = { view, change };
  return (
    <div className={styles.columns} role="row" aria-rowindex={1}>
      <May do="edit">
        <span role="columnheader">
          <label className={styles.select}>
            <input
              type="checkbox"
              checked={picked === "all"}
              ref={(box) => {
                if (box) box.indeterminate = picked === "some";
              }}
              onChange={() => pickAll(picked !== "all")}
            />
            <span className="sr-only">{t.monitors.selectAll}</span>
          </label>
        </span>
      </May>
      <SortHeader {...sorting} sort="status" label={t.monitors.sorts.status} className={styles.statusHeader} />
      <SortHeader {...sorting} sort="name" label={columns.name} />
      <span role="columnheader" className={styles.tagsColumn}>
        {columns.tags}
      </span>
      <span role="columnheader" className={styles.barsColumn}>
        {columns.beats}
      </span>
      <span role="columnheader" className={styles.uptime}>
        <span>{columns.uptime}</span>
        <span>24 h / 30 d</span>
      </span>
      <SortHeader {...sorting} sort="load_time" label={columns.load} className={styles.load} />
      <SortHeader {...sorting} sort="check" label={columns.check} className={styles.checkColumn} />
      <May do="respond">
        <span role="columnheader">
          <span className="sr-only">{t.monitors.moreActions}</span>
        </span>
      </May>
    </div>
  );
}

interface SortHeaderProps extends Pick<Props, "view" | "change"> {
  sort: Sort;
  label: string;
  className?: string | undefined;
}

function SortHeader({ view, change, sort, label, className }: SortHeaderProps) {
  const direction = directionOf(view, sort);
  return (
    <span role="columnheader" aria-sort={direction} className={className}>
      <button type="button" className={styles.sort} data-direction={direction} onClick={() => change(sortedBy(view, sort))}>
        <span>{label}</span>
        <SortArrow size={10} />
      </button>
    </span>
  );
}
