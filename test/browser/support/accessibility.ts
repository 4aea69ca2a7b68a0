import { readFileSync } from "node:fs";
import type { AxeResults, Result } from "axe-core";
import type { Page } from "playwright-core";

/** The short script is read and compiled in half of the time. */
const SOURCE = readFileSync("node_modules/axe-core/axe.min.js", "utf8");

/** WCAG 2.2 at level AA, and axe's best practices. */
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** The rules whose answer depends on colours and sizes. The others depend on the document only. */
const LOOK = ["color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable"];

const RULES = { all: { type: "tag", values: TAGS }, look: { type: "rule", values: LOOK } } as const;

/** The elements of one violated rule that are printed. */
const PRINTED = 5;

/**
 * The violations of accessibility that axe finds on the page as it is now, as text; empty without any. Of a page with a modal dialog, only
 * the dialog is checked, because the rest of the page cannot be reached. `rules`: `look` for a view that
 * has been checked with all rules in another colour scheme or size (with LONG_RUN, all are checked again). The page's policy does not
 * matter, because DevTools evaluates the script.
 */
export async function checkAccessibility(page: Page, rules: keyof typeof RULES = "all"): Promise<string> {
  const runOnly = RULES[process.env["LONG_RUN"] === "1" ? "all" : rules];
  // Without `preload`, axe does not request and parse the stylesheets again, a third of its time. Two rules need it: css-orientation-lock, for
  // which harness.test.ts reads the stylesheets, and no-autoplay-audio, but the policy of the pages forbids media.
  const options = JSON.stringify({ runOnly, resultTypes: ["violations"], preload: false });
  const present = await page.evaluate<boolean>("typeof axe !== 'undefined'");
  if (!present) await page.evaluate(SOURCE);
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(document.querySelector("dialog:modal") ?? document, ${options})`,
  );
  return violations.map(presentViolation).join("\n\n");
}

/** A button whose background still changes has the text of one colour scheme on the background of the other. */
const TRANSITIONS_ENDED = `Promise.allSettled(
  document.getAnimations().filter((one) => one instanceof CSSTransition).map(({ finished }) => finished),
).then(() => undefined)`;

/** The page as most people see it, and as it differs most from that. */
const LOOKS = [
  { rules: "all", colorScheme: "light", width: 1280, height: 800 },
  { rules: "look", colorScheme: "dark", width: 390, height: 780 },
] as const;

/**
 * The violations of accessibility on the page as it is now, first light and on a wide screen, then dark and on a phone, and whether it
 * scrolls sideways; empty without any. The page keeps the first look. Loading it twice would take longer than all checks.
 */
export async function checkLooks(page: Page): Promise<string> {
  const found: string[] = [];
  for (const { rules, colorScheme, width, height } of LOOKS) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    await page.evaluate(TRANSITIONS_ENDED);
    found.push(await checkAccessibility(page, rules));
    if (await page.evaluate<boolean>("document.documentElement.scrollWidth > innerWidth"))
      found.push(`It scrolls sideways: ${width}`);
  }
  const [{ colorScheme, ...size }] = LOOKS;
  await page.setViewportSize({ width: size.width, height: size.height });
  await page.emulateMedia({ colorScheme });
  return found.filter((text) => text !== "").join("\n\n");
}

function presentViolation({ id, impact, help, nodes }: Result): string {
  const shown = nodes.slice(0, PRINTED).map(({ target, html, failureSummary = "" }) => {
    const reason = failureSummary.split("\n").slice(1).join("; ").trim();
    return `  ${target.join(" ")}\n    ${html}\n    ${reason}`;
  });
  const rest = nodes.length > PRINTED ? [`  and ${nodes.length - PRINTED} more`] : [];
  return [`${id} (${impact ?? "no impact"}): ${help}`, ...shown, ...rest].join("\n");
}
