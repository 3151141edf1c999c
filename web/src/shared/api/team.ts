/** The users of the team. */
import { queryOptions } from "@tanstack/react-query";
import { GET, take } from "./client";

export const team = queryOptions({
  queryKey: ["team"],
  queryFn: ({ signal }) => take(GET("/api/v1/team/get", { signal })).then((answer) => answer.message),
});
