/** The members of the team, with their roles. */
import { queryOptions } from "@tanstack/react-query";
import { GET, unwrap } from "./client";

export const teamQuery = queryOptions({
  queryKey: ["team"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/team/members", { signal })).then((answer) => answer.members),
});
