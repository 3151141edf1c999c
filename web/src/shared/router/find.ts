/** Finds the route of a path. */
export type Params = Readonly<Record<string, string | undefined>>;

export interface Found<R> {
  route: R;
  params: Params;
}

/** The first of the routes that matches, with the values of its parameters. */
export function finder<R extends { path: string }>(routes: readonly R[]): (pathname: string) => Found<R> | undefined {
  const patterns = routes.map((route) => [route, pattern(route.path)] as const);
  return (pathname) => {
    for (const [route, matcher] of patterns) {
      const match = matcher.exec(pathname);
      if (match) return { route, params: decoded(match.groups ?? {}) };
    }
    return undefined;
  };
}

/** Letter case and a slash at the end make no difference. */
function pattern(path: string): RegExp {
  return new RegExp(`^${path.replace(/\/$/, "").replace(/:(\w+)/g, "(?<$1>[^/]+)")}/?$`, "i");
}

function decoded(groups: Record<string, string>): Params {
  return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decode(value)]));
}

/** A part of a URL as text; unchanged if it is malformed. */
export function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
