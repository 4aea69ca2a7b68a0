/**
 * `npm run types` writes what is generated: packages/client/src/schema.ts, the types of the API's document, and schema.sql, the schema of D1. With
 * `--check` it writes nothing, and fails if a file differs from its source.
 */
import { existsSync, readFileSync } from "node:fs";
import { document } from "../src/api/openapi/document.ts";
import { schemaText } from "./build/schema.ts";
import { typesOf } from "./build/types.ts";
import { writeFile } from "./build/write.ts";

const FILES = { "packages/client/src/schema.ts": typesOf(document), "schema.sql": schemaText() };

for (const [file, text] of Object.entries(FILES)) {
  if (!process.argv.includes("--check")) {
    writeFile(file, text);
  } else if (!existsSync(file) || readFileSync(file, "utf8") !== text) {
    console.error(`${file} is not up to date: npm run types`);
    process.exitCode = 1;
  }
}
