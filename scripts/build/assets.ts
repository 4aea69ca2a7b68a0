import type { Document } from "../../openapi/types.ts";
import { writeFolder } from "./write.ts";
export function buildAssets(document: Document): void {
  writeFolder("dist/assets", {
    "openapi.json": `${JSON.stringify(document, null, 1)}\n`,
    _headers: "/*\n  X-Content-Type-Options: nosniff\n",
    "docs/index.html": "<!doctype html>hi",
    "docs/style.css": "",
  });
}
