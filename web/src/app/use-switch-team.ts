/** Returns a function that shows another team, on its first page, unless changes would be lost. */
import { useQueryClient } from "@tanstack/react-query";
import type { Team } from "../shared/api/teams";
import { switchTeam } from "../shared/api/teams";
import { useTexts } from "../shared/i18n";
import { isUnsaved } from "../shared/lib/unsaved";
import { useNavigate } from "../shared/router";
import { useErrorMessage } from "../shared/ui/error-message";
import { showToast } from "../shared/ui/toast";

export function useSwitchTeam(): (team: Pick<Team, "groupid" | "name">) => Promise<void> {
  const { teams } = useTexts();
  const client = useQueryClient();
  const navigate = useNavigate();
  const errorMessage = useErrorMessage();
  return async ({ groupid, name }) => {
    if (isUnsaved()) return showToast(teams.unsaved, true);
    try {
      await switchTeam(client, groupid);
      // Leads on to the page of the role.
      await navigate("/");
      showToast(teams.switched(name));
    } catch (error) {
      showToast(errorMessage(error), true);
    }
  };
}
