import { configureGlobal } from "fast-check";
import { isLong } from "./runs.ts";

// `npm test` has the same cases on every day. The long runs have others each time, and print the seed of a failure.
if (!isLong) configureGlobal({ seed: 1 });
