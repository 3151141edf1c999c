/** The browser and system of a User-Agent header. Other clients are named by its first word. */
const browsers: [RegExp, string][] = [
  [/\bEdgA?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/Chrome\/|\bCriOS\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];

const systems: [RegExp, string][] = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS X|Macintosh/, "macOS"],
  [/CrOS/, "ChromeOS"],
  [/Linux|X11/, "Linux"],
];

function first(list: [RegExp, string][], agent: string): string {
  return list.find(([mark]) => mark.test(agent))?.[1] ?? "";
}

export function parseUserAgent(agent: string): { browser: string; system: string } {
  const browser = first(browsers, agent);
  return browser === "" ? { browser: agent.split(/[\s/(]/)[0] ?? "", system: "" } : { browser, system: first(systems, agent) };
}
