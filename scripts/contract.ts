import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Returns the text of the contract, which is in two files. */
export const loadContract = (): string =>
  ["contract", "contract-operators"]
    .map((name) => readFileSync(join(import.meta.dirname, `../docs/${name}.md`), "utf8"))
    .join("\n");
