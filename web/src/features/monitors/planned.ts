/** The maintenance that covers a monitor, in words, and the recent checks that do not count because of it. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { maintenancesQuery, type Cover, type Maintenance } from "../../shared/api/maintenances";
import { useNow } from "../../shared/lib/now";
import { useLanguage, useTexts } from "../../shared/i18n";
import type { Shown } from "./data";

/** `14:00`, with the date unless it is today. */
export function untilText(until: string, now: number, locale: string): string {
  const at = new Date(until);
  const isToday = at.toDateString() === new Date(now).toDateString();
  const date = isToday ? {} : ({ day: "numeric", month: "short" } as const);
  return new Intl.DateTimeFormat(locale, { ...date, hour: "2-digit", minute: "2-digit" }).format(at);
}

/** `In maintenance until 14:00`. */
export function useCoverText({ until }: Cover): string {
  const { maintenance } = useTexts();
  const { locale } = useLanguage();
  const now = useNow();
  return maintenance.covered(until ? untilText(until, now, locale) : null);
}

/**
 * What heartbeats without a standing count as: summaries and live events do not have it. Those since the start of the
 * window that covers the monitor do not count, unless it is a mute.
 */
export function withStandings<B extends Shown>(
  beats: readonly B[],
  window: Pick<Maintenance, "counts" | "current"> | undefined,
): readonly B[] {
  if (window?.counts !== "excluded" || !window.current) return beats;
  const from = Date.parse(window.current.from);
  return beats.map((beat) => (beat.standing === undefined && Date.parse(beat.at) >= from ? { ...beat, standing: "maintenance" } : beat));
}

export function useStandings<B extends Shown>(beats: readonly B[], cover: Cover | null | undefined): readonly B[] {
  const { data } = useQuery({ ...maintenancesQuery, enabled: !!cover });
  const id = cover?.maintenanceid;
  return useMemo(
    () =>
      withStandings(
        beats,
        data?.find(({ maintenanceid }) => maintenanceid === id),
      ),
    [beats, data, id],
  );
}
