/**
 * `npm run types` writes client/src/schema.ts, the types of the API's document. With `--check` it writes nothing, and fails when the
 * file is not what the document gives.
 */
import { existsSync, readFileSync } from "node:fs";
import { document } from "../openapi/document.ts";
import { typesOf } from "./build/types.ts";
import { writeFile } from "./build/write.ts";

const FILE = "client/src/schema.ts";

const text = typesOf(document);
if (!process.argv.includes("--check")) {
  writeFile(FILE, text);
} else if (!existsSync(FILE) || readFileSync(FILE, "utf8") !== text) {
  console.error(`${FILE} is not up to date: npm run types`);
  process.exit(1);
}
