/** Saves the form. A monitor that someone else has changed meanwhile is not overwritten: their changes are shown first. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../../../shared/api/error";
import { parseDuration } from "../../../shared/lib/duration";
import type { Form } from "../../../shared/ui/form";
import { monitorQuery, save, type Monitor, type SaveMonitor } from "../data";
import { defaultGrace } from "../types/push";
import { changesOf, conflictsOf, type Conflict } from "./changes";
import { bodyOf, suggestedName, valuesOf, type Values } from "./values";

export function useSave(stored: Monitor | undefined) {
  const client = useQueryClient();
  /** The version that the values in the form are based on. */
  const [base, setBase] = useState(stored);
  const [conflicts, setConflicts] = useState<readonly Conflict[]>([]);

  /** Returns null if there are changes of someone else to review first. */
  const saveValues = async (values: Values, set: Form<Values>["set"], on = base): Promise<Monitor | null> => {
    try {
      return await save(client, requestOf(values, on));
    } catch (error) {
      if (!on || !(error instanceof ApiError) || !error.has("changed_meanwhile")) throw unnamed(values, error);
    }
    const fresh = await client.query({ ...monitorQuery(on.monitorid), staleTime: 0 });
    const found = conflictsOf(valuesOf(on), valuesOf(fresh), values);
    setBase(fresh);
    setConflicts(found);
    if (found.length === 0) return saveValues(values, set, fresh);
    for (const { field, theirs, both } of found) if (!both) set(field, theirs as Values[typeof field]);
    return null;
  };
  return { saveValues, conflicts };
}

/** The service keeps a field that is not sent, so what was cleared is set to its default. */
function clearedOf(before: SaveMonitor, { type, heartbeat_interval }: Values): SaveMonitor {
  return type === "api" && before.grace !== undefined ? { grace: defaultGrace(parseDuration(heartbeat_interval) ?? 0) } : {};
}

function requestOf(values: Values, base: Monitor | undefined) {
  const name = values.name.trim() === "" ? suggestedName(values) : values.name;
  const body = bodyOf({ ...values, name });
  if (!base) return body;
  const before = bodyOf(valuesOf(base));
  return { ...changesOf(before, { ...clearedOf(before, values), ...body }), monitorid: base.monitorid, expected_revision: base.revision };
}

/** Drops the error about a missing name if other fields are invalid: the name defaults to the host. */
function unnamed(values: Values, error: unknown): unknown {
  if (values.name.trim() !== "" || !(error instanceof ApiError)) return error;
  const others = Object.fromEntries(Object.entries(error.fields).filter(([field]) => field !== "name"));
  return Object.keys(others).length === 0 ? error : new ApiError(error.status, error.code, error.message, others);
}
