/** Lets somebody take over for a while. */
import { Select, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { addOverride, type Schedule } from "../../../shared/api/schedules";
import { useMe } from "../../../shared/api/session";
import { teamQuery } from "../../../shared/api/team";
import { knownZone, localOf, localText } from "../../../shared/lib/zone";
import { useTexts } from "../../../shared/i18n";
import { Dialog } from "../../../shared/ui/dialog";
import { text, useForm } from "../../../shared/ui/form";
import { FieldPair, FormLayout } from "../../../shared/ui/form-layout";
import { showToast } from "../../../shared/ui/toast";
import type { Span } from "./shifts";

export type Suggestion = Span;

const HOUR = 3_600_000;

interface Props {
  schedule: Schedule;
  /** A gap to be covered; otherwise the next eight hours are suggested. */
  suggested?: Suggestion | undefined;
  close: () => void;
}

export function OverrideDialog({ schedule, suggested, close }: Props) {
  const t = useTexts();
  const { oncall } = t;
  const client = useQueryClient();
  const me = useMe();
  const { data: members = [] } = useQuery(teamQuery);
  const zone = knownZone(schedule.time_zone);
  const [start] = useState(() => {
    const now = Math.ceil(Date.now() / HOUR) * HOUR;
    const { from, to } = suggested ?? { from: now, to: now + 8 * HOUR };
    return { userid: me.userid, starts: localText(localOf(from, zone)), ends: localText(localOf(to, zone)) };
  });
  const form = useForm(
    start,
    async (values) => {
      await addOverride(client, schedule.scheduleid, values);
      showToast(oncall.overridden);
      close();
    },
    ({ starts, ends }) => (starts !== "" && ends !== "" && ends <= starts ? { ends: oncall.endBeforeStart } : {}),
  );
  const people = members.filter(({ suspended }) => !suspended).map(({ userid, name, email }) => ({ value: userid, label: name || email }));
  return (
    <Dialog title={oncall.overrideTitle(schedule.name)} close={close}>
      <FormLayout form={form} action={oncall.overrideSave} cancel={close}>
        <Select
          name="userid"
          label={oncall.who}
          data={people}
          searchable
          allowDeselect={false}
          value={form.values.userid}
          error={form.errors.userid}
          onChange={(value) => value !== null && form.set("userid", value)}
        />
        <FieldPair>
          <TextInput type="datetime-local" {...text(form, "starts")} label={oncall.overrideFrom} description={schedule.time_zone} />
          <TextInput type="datetime-local" {...text(form, "ends")} label={oncall.overrideTo} description={schedule.time_zone} />
        </FieldPair>
      </FormLayout>
    </Dialog>
  );
}
