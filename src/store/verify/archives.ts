import { NOWHERE } from "../../crypto/seal.ts";
import { ok, type Result } from "../../model/result.ts";
import { ARCHIVE, parseArchive, rowOf, segmentOf } from "../activity/archive.ts";
import { entriesOf } from "../activity/segments.ts";
import { checkLines, checkOrigins } from "../checks/log-entries.ts";
import { fault, type Fault } from "../checks/fault.ts";
import { afterOf, type Position, type Slice, type VerifyPorts } from "./stage.ts";
import { tryBucket } from "../buckets/calls.ts";

/** The stage `archives`: each object of the archive of the log opens (activity/archive.ts), and each entry in it. */

/** The most objects of a slice. */
const PAGE_OBJECTS_MAX = 15;

export async function checkArchives({ files, store }: VerifyPorts, { after: [after] }: Position): Promise<Result<Slice>> {
  const page = await tryBucket(() => files.list({ prefix: ARCHIVE, limit: PAGE_OBJECTS_MAX, after: String(after ?? "") }));
  if (!page.ok) return page;
  const faults: Fault[] = [];
  let [rows, bytes] = [0, 0];
  for (const { key } of page.value.objects) {
    const text = await tryBucket(async () => (await files.get(key))?.text());
    if (!text.ok) return text;
    if (text.value === undefined) continue; // past its retention meanwhile
    bytes += text.value.length;
    const opened = parseArchive(text.value);
    const segment = segmentOf(key, text.value);
    if (segment) {
      rows += entriesOf(segment).length;
      const broken = await checkLines(store, segment);
      if (broken.length > 0) faults.push(fault("archive_unreadable", { id: key }, `${broken.length} of its lines do not open`));
    } else if (opened.ok) {
      rows += opened.value.length;
      const day = key.slice(ARCHIVE.length, key.lastIndexOf("/"));
      faults.push(
        ...(await checkOrigins(
          store,
          opened.value.map((row, index) => rowOf(day, NOWHERE, String(index), row)),
        )),
      );
    } else faults.push(fault("archive_unreadable", { id: key }, "the object does not open"));
  }
  return ok({ faults, checked: { rows, bytes }, after: afterOf(page.value) });
}
