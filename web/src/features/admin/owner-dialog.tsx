/** Chooses the owner of a team that has none who can act. */
import { NativeSelect } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTexts } from "../../shared/i18n";
import { Confirm } from "../../shared/ui/confirm";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Loading } from "../../shared/ui/loading";
import { appointOwner, membersQuery, type Team } from "./data";

export function OwnerDialog({ team, close }: { team: Team; close: () => void }) {
  const { admin } = useTexts();
  const client = useQueryClient();
  const { data = [], error, isPending } = useQuery(membersQuery(team.groupid));
  const [chosen, setChosen] = useState("");
  const userid = chosen || (data[0]?.userid ?? "");
  return (
    <Confirm
      title={admin.appointTitle(team.name)}
      action={admin.appoint}
      color="blue"
      close={close}
      run={() => appointOwner(client, team, userid)}
    >
      <p>{admin.appointHelp}</p>
      {isPending && <Loading />}
      {error && <ErrorNotice error={error} />}
      {data.length > 0 && (
        <NativeSelect
          label={admin.member}
          data={data.map(({ userid: value, email: label }) => ({ value, label }))}
          value={userid}
          onChange={({ currentTarget }) => setChosen(currentTarget.value)}
        />
      )}
    </Confirm>
  );
}
