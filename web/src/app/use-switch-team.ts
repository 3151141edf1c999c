/** Returns a function that shows another team, on its first page, unless changes would be lost. */
import { useQueryClient } from "@tanstack/react-query";
import { switchTeam, type Team } from "../shared/api/teams";
import { useTexts } from "../shared/i18n";
import { isUnsaved } from "../shared/lib/unsaved";
import { useNavigate } from "../shared/router";
import { useErrorMessage } from "../shared/ui/error-message";
import { showToast } from "../shared/ui/toast";

export function useSwitchTeam(): (team: Pick<Team, "groupid" | "name">, message?: string) => Promise<void> {
  const { teams } = useTexts();
  const client = useQueryClient();
  const navigate = useNavigate();
  const errorMessage = useErrorMessage();
  return async ({ groupid, name }, message = teams.switched(name)) => {
    if (isUnsaved()) return showToast(teams.unsaved, true);
    try {
      await switchTeam(client, groupid);
      // Leads on to the page of the role.
      await navigate("/");
      showToast(message);
      // The item that was chosen is gone with the other team.
      requestAnimationFrame(() => document.getElementById("content")?.focus({ preventScroll: true }));
    } catch (error) {
      showToast(errorMessage(error), true);
    }
  };
}
