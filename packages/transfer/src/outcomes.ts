import type { Outcome } from "./write-item.ts";

/** The outcomes of Items, in words that follow a number. */
export const OUTCOMES: Readonly<Record<Outcome | "failed", string>> = {
  created: "created",
  completed: "completed after an interrupted import",
  present: "already there",
  differs: "already there with different content (not changed)",
  deleted: "imported before and deleted since: not created again",
  failed: "failed",
};
