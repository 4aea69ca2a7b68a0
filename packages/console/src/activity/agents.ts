/** The sender of a request, in words: the browser and the system, or the name of a program. */

/** The first matching pattern counts, because most browsers name others too. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/Edg(?:A|iOS)?\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\/|FxiOS\//, "Firefox"],
  [/Chrome\/|CriOS\/|Chromium\//, "Chrome"],
  [/Version\/.*Safari\//, "Safari"],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS X|Macintosh/, "macOS"],
  [/CrOS/, "ChromeOS"],
  [/Linux|X11/, "Linux"],
];

const first = (rows: readonly (readonly [RegExp, string])[], text: string): string | undefined =>
  rows.find(([pattern]) => pattern.test(text))?.[1];

/** Names a `User-Agent` (RFC 9110 section 10.1.5), for example "Chrome on Linux" or "terraform 1.9"; "unknown program" if it is empty. */
export function nameAgent(userAgent: string): string {
  const browser = userAgent.startsWith("Mozilla/") ? first(BROWSERS, userAgent) : undefined;
  const system = first(SYSTEMS, userAgent);
  if (browser) return system ? `${browser} on ${system}` : browser;
  const [, product, version] = /^([^\s/()]+)(?:\/v?(\d[\w.]*))?/.exec(userAgent) ?? [];
  if (product === undefined) return "unknown program";
  return version === undefined ? product : `${product} ${version}`;
}
