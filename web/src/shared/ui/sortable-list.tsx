/**
 * A list whose order can be changed: by dragging the handle of an item with a mouse or a finger, or with the arrow keys
 * while it is focused.
 */
import { useRef, useState, type KeyboardEvent, type PointerEvent, type ReactNode } from "react";
import { moved } from "../lib/moved";
import { useTexts } from "../i18n";
import { UpDown } from "./icons";
import styles from "./sortable-list.module.css";

interface Props<T> {
  label: string;
  items: readonly T[];
  /** Stays the same when the item moves. */
  keyOf: (item: T) => string;
  nameOf: (item: T, place: number) => string;
  change: (items: T[]) => void;
  /** False if the order cannot be changed: then there are no handles. */
  enabled?: boolean;
  children: (item: T, place: number) => ReactNode;
}

export function SortableList<T>({ label, items, keyOf, nameOf, change, enabled = true, children }: Props<T>) {
  const { sortable } = useTexts();
  const list = useRef<HTMLOListElement>(null);
  const [dragged, setDragged] = useState<string | null>(null);
  const [news, setNews] = useState("");

  const move = (item: T, from: number, to: number) => {
    if (to < 0 || to >= items.length || to === from) return;
    change(moved(items, from, to));
    setNews(sortable.moved(nameOf(item, to), to + 1, items.length));
  };
  const onKeyDown = (event: KeyboardEvent, item: T, place: number) => {
    const step = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    if (step === 0) return;
    event.preventDefault();
    move(item, place, place + step);
  };
  const onPointerMove = (event: PointerEvent, item: T, place: number) => {
    if (dragged !== keyOf(item)) return;
    const boxes = [...(list.current?.children ?? [])].map((child) => child.getBoundingClientRect());
    // It moves once the pointer has passed the middle of its neighbor.
    const [above, below] = [boxes[place - 1], boxes[place + 1]];
    if (above && event.clientY < above.top + above.height / 2) move(item, place, place - 1);
    else if (below && event.clientY > below.top + below.height / 2) move(item, place, place + 1);
  };
  return (
    <>
      <ol ref={list} className={styles.list} aria-label={label}>
        {items.map((item, place) => (
          <li key={keyOf(item)} className={styles.item} data-dragged={dragged === keyOf(item) || undefined}>
            {enabled && items.length > 1 && (
              <button
                type="button"
                className={styles.handle}
                aria-label={sortable.handle(nameOf(item, place), place + 1, items.length)}
                title={sortable.help}
                onKeyDown={(event) => onKeyDown(event, item, place)}
                onPointerDown={(event) => {
                  event.currentTarget.setPointerCapture(event.pointerId);
                  setDragged(keyOf(item));
                }}
                onPointerMove={(event) => onPointerMove(event, item, place)}
                onPointerUp={() => setDragged(null)}
                onPointerCancel={() => setDragged(null)}
              >
                <UpDown />
              </button>
            )}
            <div className={styles.content}>{children(item, place)}</div>
          </li>
        ))}
      </ol>
      <p className="sr-only" role="status">
        {news}
      </p>
    </>
  );
}
