/** A duration as text; when it is complete, the field shows what was understood. */
import { TextInput, type TextInputProps } from "@mantine/core";
import { formatDuration, parseDuration } from "../lib/duration";

interface Props extends Omit<TextInputProps, "value" | "onChange"> {
  value: string;
  /** What no duration means. */
  placeholder: string;
  change: (value: string) => void;
}

export function DurationInput({ value, change, ...others }: Props) {
  return (
    <TextInput
      {...others}
      value={value}
      autoComplete="off"
      onChange={({ currentTarget }) => change(currentTarget.value)}
      onBlur={() => {
        const seconds = parseDuration(value);
        if (seconds !== null) change(durationText(seconds));
      }}
    />
  );
}

/** Seconds as such a field shows them; empty for none. */
export function durationText(seconds: number): string {
  return seconds === 0 ? "" : formatDuration(seconds);
}

/** The seconds in such a field: none if it is empty, null if it is not a duration. */
export function durationOf(text: string): number | null {
  return text.trim() === "" ? 0 : parseDuration(text);
}
