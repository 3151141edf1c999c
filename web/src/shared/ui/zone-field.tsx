/** A time zone of a form. */
import { Select } from "@mantine/core";
import { useState } from "react";
import { zones } from "../lib/zone";
import type { Form } from "./form";

/** How many are offered at once; the others are found by name. */
const MAX_OPTIONS = 100;

interface Props {
  form: Form<{ time_zone: string }>;
  label: string;
  help: string;
  /** Of a field within an object: the name that the service uses in its errors. */
  name?: string;
}

export function ZoneField({ form, label, help, name = "time_zone" }: Props) {
  const { time_zone } = form.values;
  const [names] = useState(() => zones(time_zone));
  return (
    <Select
      name={name}
      label={label}
      description={help}
      data={names}
      limit={MAX_OPTIONS}
      searchable
      allowDeselect={false}
      value={time_zone}
      error={form.errors[name]}
      onChange={(value) => value !== null && form.set("time_zone", value)}
    />
  );
}
