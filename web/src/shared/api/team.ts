/** The members of the team, with their roles. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { GET, unwrap } from "./client";

export const teamQuery = queryOptions({
  queryKey: ["team"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/team/members", { signal })).then((answer) => answer.members),
});

/** The name of a member by ID; `otherwise` of a user who is no longer one. */
export function useMemberName(): (userid: string, otherwise?: string | null) => string {
  const { data = [] } = useQuery(teamQuery);
  return (userid, otherwise) => {
    const member = data.find((one) => one.userid === userid);
    return member ? member.name || member.email : (otherwise ?? userid);
  };
}
