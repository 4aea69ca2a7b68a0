import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The licences of the libraries whose code is in a bundle: most of them ask that copies carry their text. */

const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/;

/** Returns the text of a file with the licence of each package among them. */
export function licencesOf(inputs: readonly string[]): string {
  const folders = new Set(inputs.flatMap((path) => PACKAGE.exec(path)?.[0] ?? []));
  return [...folders].toSorted().map(licenceOf).join("\n");
}

/** Throws when a package has no licence: its code may not be given to others then. */
function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<string, string>;
  if (!license) throw new Error(`${folder} states no licence`);
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(\.\w+)?$/i.test(entry));
  const text = file === undefined ? "" : `\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  return `${name} ${version}, licence ${license}\n${text}`;
}
