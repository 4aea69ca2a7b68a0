import { byteStream } from "../../support/faults.ts";
import { bytesOf, freshItem, lengthOf } from "../../support/files.ts";
import { fetchRaw, type Reply } from "../../support/service.ts";
import { createFaultPlan, faultyDatabase, type FaultPlan, type FaultRates } from "./fault-plan.ts";
import { faultyBucket } from "./faulty-bucket.ts";
import { faultyCoordinators, type FaultyCoordinators } from "./faulty-coordinators.ts";
import { isRefusedAlone } from "./recorder.ts";

/**
 * Writes and reads Files under injected faults of R2, D1 and the coordinators. Each File has one writer, which sends one
 * write after the other. So a reader may get the last acknowledged content, or a later one of unknown outcome.
 */

/** One write to a File: an upload, a new content or a deletion. The times are ticks of one clock. */
interface FileWrite {
  /** In base64; absent when the write deletes the File. */
  readonly content: string | undefined;
  readonly start: number;
  readonly end: number;
  /** Whether the write took effect; `undefined` when that is unknown. */
  readonly effect: boolean | undefined;
}

/** Whether a read from `start` to `end` may return a content; `undefined` stands for a 404. */
export function isAllowed(writes: readonly FileWrite[], content: string | undefined, start: number, end: number): boolean {
  const last = writes.findLastIndex((write) => write.effect === true && write.end < start);
  return writes.slice(Math.max(last, 0)).some((one) => one.effect !== false && one.start < end && one.content === content);
}

const SIZES = [0, 1, 16_384, 400_000, 400_000];

/** Whether the answer says that a write took effect. A 409 `overtaken` says it, but does not name the File. */
function effectOf({ status, headers }: Reply): boolean | undefined {
  if (status === 200 || status === 204) return true;
  return status === 409 || (status === 503 && !headers.has("Retry-After")) ? undefined : false;
}

export async function runFiles({
  seed,
  clients,
  steps,
  rates,
}: {
  seed: number;
  clients: number;
  steps: number;
  rates: FaultRates;
}) {
  const plan = createFaultPlan(seed, rates);
  const fixture = await freshItem();
  const names = [fixture.vault, `${fixture.vault} again`];
  const coordinators = faultyCoordinators(plan, names);
  const written = await writeFiles({ fixture, plan, coordinators, clients, steps });
  await coordinators.release();
  return { fixture, names, ...written };
}

interface FileLoad {
  readonly fixture: Awaited<ReturnType<typeof freshItem>>;
  readonly plan: FaultPlan;
  readonly coordinators: FaultyCoordinators;
  readonly clients: number;
  readonly steps: number;
}

/** Writes and reads Files of one Item. Out: descriptions of the wrong answers, and how the reads ended. */
export async function writeFiles({ fixture, plan, coordinators, clients, steps }: FileLoad) {
  const files = new Map<string, FileWrite[]>();
  /** Contents of uploads with an unknown outcome. */
  const unknownUploads = new Set<string>();
  /** The results of the reads. They are checked at the end, when the outcomes of all writes are known. */
  const reads: { file: string; content: string | undefined; start: number; end: number }[] = [];
  const errors: string[] = [];
  const readCounts = { complete: 0, truncated: 0, missing: 0, refused: 0 };
  let tick = 0;
  let contents = 0;

  /** A content that differs from all others, except for contents of 0 and 1 bytes. */
  function newContent(random: () => number): Uint8Array {
    const salt = ++contents;
    const content = new Uint8Array(SIZES[Math.floor(random() * SIZES.length)]!);
    for (let index = 0; index < content.length; index++) content[index] = (index * salt) >> (index & 7);
    return content;
  }

  async function write(file: string | undefined, content: Uint8Array | undefined, random: () => number, env: Partial<Env>) {
    const [method, path] = !file
      ? ["POST", `${fixture.files}?name=f`]
      : content
        ? ["PUT", `${fixture.files}/${file}/content`]
        : ["DELETE", `${fixture.files}/${file}`];
    const [withLength, keyed] = [random() < 0.5, random() < 0.5];
    const start = ++tick;
    const send = () => {
      const body = content && (withLength ? content : byteStream(content));
      const headers = { ...(body && lengthOf(body)), ...(keyed ? { "Idempotency-Key": `write-${start}` } : {}) };
      return fixture.call(method, path, { body, headers, env });
    };
    let reply = await send();
    let effect = effectOf(reply);
    for (let retries = keyed ? 3 : 0; retries > 0 && reply.status === 503; retries--) {
      reply = await send();
      const retryEffect = effectOf(reply);
      effect = retryEffect === false && effect === undefined ? undefined : retryEffect;
    }
    const allowed = [200, 204, 409, 503, 507].includes(reply.status) || isRefusedAlone(reply, plan.poisoned);
    if (!allowed) errors.push(`${method}: ${reply.status} ${reply.text}`);
    const id: string | undefined = file ?? reply.body?.id;
    const base64 = content?.toBase64();
    if (id) files.set(id, [...(files.get(id) ?? []), { content: base64, start, end: ++tick, effect }]);
    else if (effect === undefined) unknownUploads.add(base64!);
    return { id, deleted: !content && effect !== false };
  }

  async function read(file: string, env: Partial<Env>): Promise<void> {
    const start = ++tick;
    const headers = { Authorization: `Bearer ${fixture.token}` };
    const response = await fetchRaw("GET", `${fixture.files}/${file}/content`, { headers, env });
    const bytes = await bytesOf(response).catch(() => undefined);
    const kind = bytes === undefined ? "truncated" : response.ok ? "complete" : response.status === 404 ? "missing" : "refused";
    readCounts[kind]++;
    if (kind === "truncated" || kind === "refused") return;
    reads.push({ file, content: kind === "complete" ? bytes!.toBase64() : undefined, start, end: ++tick });
  }

  async function work(name: string): Promise<void> {
    const random = plan.randomFor(name);
    const bindings = {
      DB: faultyDatabase(plan, { name }),
      FILES: faultyBucket(plan, name),
      COORDINATOR: coordinators.namespaceFor(name),
    };
    let ownFiles: string[] = [];
    for (let step = 0; step < steps; step++) {
      const [forKind, forFile] = [random(), random()];
      const file = ownFiles[Math.floor(forFile * ownFiles.length)];
      const all = [...files.keys()];
      if (forKind < 0.5 && all.length > 0) await read(all[Math.floor(forFile * all.length)]!, bindings);
      else if (forKind > 0.92 && file) {
        const { deleted } = await write(file, undefined, random, bindings);
        if (deleted) ownFiles = ownFiles.filter((one) => one !== file);
      } else {
        const { id } = await write(forKind > 0.75 ? file : undefined, newContent(random), random, bindings);
        if (id && !ownFiles.includes(id)) ownFiles.push(id);
      }
    }
  }

  await Promise.all(Array.from({ length: clients }, (_, n) => work(`files client ${n}`)));
  // The last reads have no faults: of every known File, and of the Files of uploads with an unknown outcome.
  for (const file of files.keys()) await read(file, {});
  for (const { file, content, start, end } of reads) {
    if (!isAllowed(files.get(file)!, content, start, end))
      errors.push(`${file}: the read at ${start}–${end} returned a content that was not current`);
  }
  for (const { id } of (await fixture.call("GET", fixture.files)).body as { id: string }[]) {
    if (files.has(id)) continue;
    const content = (await bytesOf(await fixture.download(id))).toBase64();
    if (!unknownUploads.delete(content) && content !== "")
      errors.push(`${id}: nobody uploaded its content, or one upload took effect twice`);
  }
  return { errors, readCounts };
}
