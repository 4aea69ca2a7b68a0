import { readFileSync } from "node:fs";
import type { AxeResults, Result } from "axe-core";
import type { Page } from "playwright-core";

/** The short script is read and compiled in half of the time. */
const SOURCE = readFileSync("node_modules/axe-core/axe.min.js", "utf8");

/** WCAG 2.2 at level AA, and axe's best practices. */
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** The rules whose answer depends on colours and sizes. The others depend on the document only. */
const LOOK = ["color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable", "css-orientation-lock"];

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
  const options = JSON.stringify({ runOnly, resultTypes: ["violations"] });
  const present = await page.evaluate<boolean>("typeof axe !== 'undefined'");
  if (!present) await page.evaluate(SOURCE);
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(document.querySelector("dialog:modal") ?? document, ${options})`,
  );
  return violations.map(presentViolation).join("\n\n");
}

function presentViolation({ id, impact, help, nodes }: Result): string {
  const shown = nodes.slice(0, PRINTED).map(({ target, html, failureSummary = "" }) => {
    const reason = failureSummary.split("\n").slice(1).join("; ").trim();
    return `  ${target.join(" ")}\n    ${html}\n    ${reason}`;
  });
  const rest = nodes.length > PRINTED ? [`  and ${nodes.length - PRINTED} more`] : [];
  return [`${id} (${impact ?? "no impact"}): ${help}`, ...shown, ...rest].join("\n");
}
