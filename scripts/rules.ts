/**
 * `npm run rules` prints each number of the contract with the test files that name it, and whether each file of tests proves rules through
 * the front door or a mechanism of the code. A rewrite may delete a mechanism's tests with its code, and never those of a rule.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { isMechanism, testsOf } from "../test/support/rules.ts";
import { loadContract } from "./contract.ts";

const paths = execFileSync("git", ["ls-files", "test/*.test.ts"], { encoding: "utf8" }).trim().split("\n");
const tests = new Map(paths.map((path) => [path, readFileSync(path, "utf8")]));
for (const [number, files] of testsOf(loadContract(), tests)) console.log(`${number}\t${files.join(" ") || "NO TEST"}`);
for (const [path, text] of tests) console.log(`${isMechanism(text) ? "mechanism" : "rule"}\t${path}`);
