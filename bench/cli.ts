/**
 * `npm run bench:cli`: how long the command line takes to start, beside a Node that does nothing, and how fast `run` masks an output,
 * beside copying it. All in one run, in turn.
 */
import { spawnSync } from "node:child_process";
import { createMasker } from "../packages/cli/src/run/mask.ts";
import { buildPackages } from "../scripts/build/packages.ts";
import { ENVIRONMENT } from "./environment.ts";

const STARTS = 31;
const VALUES = 100;
const MEGABYTES = 200;

/** The target: a start takes at most so many times that of `node -e 0`. */
const START_RATIO_MAX = 2;

function millisecondsOf(args: readonly string[]): number {
  const begin = performance.now();
  spawnSync(process.execPath, args);
  return performance.now() - begin;
}

const median = (figures: readonly number[]): number => figures.toSorted((one, other) => one - other)[figures.length >> 1]!;

function measureStart(): number {
  const nothing: number[] = [];
  const version: number[] = [];
  for (let count = 0; count < STARTS; count++) {
    nothing.push(millisecondsOf(["-e", "0"]));
    version.push(millisecondsOf(["packages/cli/bin/item-vault.js", "--version"]));
  }
  const ratio = median(version) / median(nothing);
  console.log(
    `start: ${median(version).toFixed(0)} ms, ${ratio.toFixed(2)} × node -e 0 (${median(nothing).toFixed(0)} ms; at most ${START_RATIO_MAX})`,
  );
  return ratio;
}

/** Seconds for the output, in chunks of 64 KiB. */
function secondsFor(use: (chunk: Uint8Array) => Uint8Array): number {
  const line = "2026-11-22T06:30:00Z INFO GET /v1/vaults answered 200 in 12 ms, secret of the request: none\n";
  const chunk = Buffer.from(line.repeat(700)).subarray(0, 65_536);
  const begin = performance.now();
  for (let bytes = 0; bytes < MEGABYTES * 1e6; bytes += chunk.length) use(chunk);
  return (performance.now() - begin) / 1000;
}

function measureMasking(): void {
  const values = Array.from({ length: VALUES }, (_, index) => `s3cr3t ${index} ${"x".repeat(index % 40)}`);
  const masker = createMasker(values);
  const masked = secondsFor((chunk) => masker.push(chunk));
  const copied = secondsFor((chunk) => Buffer.from(chunk));
  const speed = (MEGABYTES / masked).toFixed(0);
  console.log(`masking ${VALUES} values: ${speed} MB/s, ${(masked / copied).toFixed(1)} × the time of copying`);
}

await buildPackages();
console.log(ENVIRONMENT);
const ratio = measureStart();
measureMasking();
if (ratio > START_RATIO_MAX) process.exitCode = 1;
