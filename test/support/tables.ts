import type { Kind } from "../../src/store/tables/table.ts";

/** For each kind of column a value that it may have. */
export const VALUES_OF_KINDS: Readonly<Record<Kind, string | number>> = {
  id: "018f0000-0000-7000-8000-000000000001",
  "root key": "k1",
  content: "018f0000-0000-7000-8000-000000000002",
  text: "text",
  index: "A".repeat(24),
  sealed: "AQE=",
  keys: "018f0000-0000-7000-8000-000000000003 001 AQEA AQEA",
  lines: "{}",
  time: 1_700_000_000_000,
  number: 1,
};
