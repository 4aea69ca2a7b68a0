import { describe, expect, it } from "vitest";
import { explainRestore, explainRetention, restorableUntil } from "../../packages/console/src/ui/retention.ts";
import { formatTime } from "../../packages/console/src/ui/time.ts";

describe("the retention of deleted Items", () => {
  it.each([
    [30, "Deleted items can be restored for 30 days."],
    [1, "Deleted items can be restored for 1 day."],
    [0.5, "Deleted items can be restored for 0.5 days."],
    [0, "This service keeps no deleted items: a deletion is permanent."],
  ])("of %d days is told as %j", (deletedRetentionDays, text) => expect(explainRetention({ deletedRetentionDays })).toBe(text));

  it.each([
    [30, "You can restore it under Deleted items for 30 days."],
    [0, "This deletes it permanently: the service keeps no deleted items."],
  ])("of %d days is told before a deletion as %j", (deletedRetentionDays, text) =>
    expect(explainRestore({ deletedRetentionDays })).toBe(text),
  );

  it("ends so long after the deletion", () =>
    expect(restorableUntil("2026-11-22T10:00:00.000Z", { deletedRetentionDays: 1.5 })).toBe(
      formatTime("2026-11-23T22:00:00.000Z"),
    ));
});
