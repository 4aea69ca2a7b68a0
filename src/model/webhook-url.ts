import { fits, LIMITS } from "./limits.ts";
import { PUBLIC_HOST_RULES } from "./public-host.ts";

/** The URLs that a webhook may have (contract 17.3). */

/** The rules, in order, and what is wrong with a URL that breaks one. */
const RULES: readonly (readonly [isBroken: (url: URL) => boolean, fault: string])[] = [
  [({ username, password }) => username !== "" || password !== "", "contains a user name or password"],
  [({ href }) => href.includes("#"), "has a fragment"],
];

/** Those that do not hold for the origin of `WEBHOOK_TEST_ORIGIN`. */
const PUBLIC_RULES: typeof RULES = [
  [({ protocol }) => protocol !== "https:", "does not begin with https://"],
  [({ port }) => port !== "", "has a port other than 443"],
  ...PUBLIC_HOST_RULES,
];

/**
 * What is wrong with the URL of a webhook; `undefined` when it is allowed. In: the text as the admin wrote it; the origin that is
 * allowed for tests, if one is set. Out: never a part of the URL, which may contain a secret.
 */
export function webhookUrlFault(text: string, testOrigin: string | undefined): string | undefined {
  if (!fits(text, LIMITS.webhookUrl)) return `is longer than ${LIMITS.webhookUrl} bytes`;
  // `URL` would drop some of the other characters, and what it parses would not be what was written.
  if (!/^[\x21-\x7e]+$/.test(text) || text.includes("\\") || !URL.canParse(text)) return "is not a URL";
  const url = new URL(text);
  const rules = url.origin === testOrigin ? RULES : [...RULES, ...PUBLIC_RULES];
  return rules.find(([isBroken]) => isBroken(url))?.[1];
}
