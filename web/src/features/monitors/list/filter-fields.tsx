/** The search and the selects above the list. They look like the fields of forms, whose components the first screen does without. */
import type { ComponentProps } from "react";
import { Search, UpDown } from "../../../shared/ui/icons";
import styles from "./filter-fields.module.css";

export function SearchField({ className, ...props }: ComponentProps<"input">) {
  return (
    <div className={`${styles.field} ${className}`}>
      <span className={styles.before}>
        <Search />
      </span>
      <input type="search" {...props} />
      <span className={styles.after}>
        <kbd className={styles.hint}>/</kbd>
      </span>
    </div>
  );
}

interface PickerProps extends ComponentProps<"select"> {
  options: readonly { value: string; label: string }[];
}

export function Picker({ className, options, ...props }: PickerProps) {
  return (
    <div className={`${styles.field} ${className}`}>
      <select {...props}>
        {options.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <span className={styles.after}>
        <UpDown />
      </span>
    </div>
  );
}
