/** The users of the team. */
import { queryOptions } from "@tanstack/react-query";
import { GET, unwrap } from "./client";

export const team = queryOptions({
  queryKey: ["team"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/team/get", { signal })).then((answer) => answer.message),
});
