#!/usr/bin/env node
import { existsSync } from "node:fs";
import module from "node:module";
import { isAbsolute, join } from "node:path";

const program = new URL("../dist/item-vault.js", import.meta.url);

if (existsSync(program)) {
  // Node 22 and later keep the compiled code. Not in the folder for temporary files, which is Node's default: another user of the
  // machine could put code there first.
  const { XDG_CACHE_HOME = "", HOME = "" } = process.env;
  const cache = [XDG_CACHE_HOME, HOME && join(HOME, ".cache")].find((folder) => isAbsolute(folder)); // a relative path would lead into the current folder
  if (cache) module.enableCompileCache?.(`${cache}/item-vault`);
  await import(program.href);
} else {
  console.error("The command line is not built yet. Run this in the folder of Item Vault: npm run build");
  process.exitCode = 1;
}
