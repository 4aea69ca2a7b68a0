import axe, { type AxeResults, type Result } from "axe-core";
import type { Page } from "playwright-core";

/** WCAG 2.2 at level AA, and axe's best practices. */
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const OPTIONS = JSON.stringify({ runOnly: { type: "tag", values: TAGS }, resultTypes: ["violations"] });

/** The elements of one violated rule that are printed. */
const PRINTED = 5;

/**
 * The violations of accessibility that axe finds on the page as it is now, as text; empty without any. The page's policy does not
 * matter, because DevTools evaluates the script.
 */
export async function checkAccessibility(page: Page): Promise<string> {
  const present = await page.evaluate<boolean>("typeof axe !== 'undefined'");
  if (!present) await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${OPTIONS})`);
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
