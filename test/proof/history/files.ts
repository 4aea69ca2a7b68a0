import { rebindCoordinator } from "../../support/bindings.ts";
import { byteStream } from "../../support/faults.ts";
import { bytesOf, freshItem, lengthOf } from "../../support/files.ts";
import { createPlan, faultyDatabase, type Plan, type Rates } from "./plan.ts";
import { faultyBucket } from "./plan-bucket.ts";
import { plannedCoordinators } from "./plan-coordinators.ts";
import { fetchRaw, type Reply } from "../../support/service.ts";

/**
 * Files under faults of R2, D1 and the coordinators. Each File has one writer, who does one thing after the other, so what
 * a reader may get is known: the last content that was acknowledged, or one of unknown outcome that came after it.
 */

interface Written {
  /** In base64; absent: the File was deleted. */
  readonly content: string | undefined;
  readonly start: number;
  readonly end: number;
  /** Whether it took effect, if that is known. */
  readonly effect: boolean | undefined;
}

/** Whether a reader may have got this from `start` to `end`: a content, or a 404. */
export function isAllowed(file: readonly Written[], content: string | undefined, start: number, end: number): boolean {
  const last = file.findLastIndex((written) => written.effect === true && written.end < start);
  return file.slice(Math.max(last, 0)).some((one) => one.effect !== false && one.start < end && one.content === content);
}

const SIZES = [0, 1, 16_384, 400_000, 400_000];

/** Whether a write took effect, if its answer tells. The 409 tells it, but not of which File. */
function effectOf({ status, headers }: Reply): boolean | undefined {
  if (status === 200 || status === 204) return true;
  return status === 409 || (status === 503 && !headers.has("Retry-After")) ? undefined : false;
}

export async function runFiles({ seed, clients, steps, rates }: { seed: number; clients: number; steps: number; rates: Rates }) {
  const plan: Plan = createPlan(seed, rates);
  const at = await freshItem();
  const names = [at.vault, `${at.vault} again`];
  const coordinators = plannedCoordinators(plan, names);
  const files = new Map<string, Written[]>();
  /** Contents of uploads that got no answer. */
  const doubtful = new Set<string>();
  /** What readers got, to be judged in the end: while they read, nobody knows what the writers will be told. */
  const reads: { file: string; content: string | undefined; start: number; end: number }[] = [];
  const wrong: string[] = [];
  const seen = { whole: 0, "cut off": 0, missing: 0, refused: 0 };
  let tick = 0;
  let made = 0;

  /** No two are alike, but for the shortest. */
  function newContent(random: () => number): Uint8Array {
    const salt = ++made;
    const content = new Uint8Array(SIZES[Math.floor(random() * SIZES.length)]!);
    for (let index = 0; index < content.length; index++) content[index] = (index * salt) >> (index & 7);
    return content;
  }

  async function write(file: string | undefined, content: Uint8Array | undefined, random: () => number, env: Partial<Env>) {
    const [method, path] = !file
      ? ["POST", `${at.files}?name=f`]
      : content
        ? ["PUT", `${at.files}/${file}/content`]
        : ["DELETE", `${at.files}/${file}`];
    const [known, keyed] = [random() < 0.5, random() < 0.5];
    const start = ++tick;
    const send = () => {
      const body = content && (known ? content : byteStream(content));
      const headers = { ...(body && lengthOf(body)), ...(keyed ? { "Idempotency-Key": `write-${start}` } : {}) };
      return at.call(method, path, { body, headers, env });
    };
    let reply = await send();
    let effect = effectOf(reply);
    for (let again = keyed ? 3 : 0; again > 0 && reply.status === 503; again--) {
      reply = await send();
      const after = effectOf(reply);
      effect = after === false && effect === undefined ? undefined : after;
    }
    if (![200, 204, 409, 503].includes(reply.status)) wrong.push(`${method}: ${reply.status} ${reply.text}`);
    const id: string | undefined = file ?? reply.body?.id;
    const base64 = content?.toBase64();
    if (id) files.set(id, [...(files.get(id) ?? []), { content: base64, start, end: ++tick, effect }]);
    else if (effect === undefined) doubtful.add(base64!);
    return { id, deleted: !content && effect !== false };
  }

  async function read(file: string, env: Partial<Env>): Promise<void> {
    const start = ++tick;
    const headers = { Authorization: `Bearer ${at.token}` };
    const response = await fetchRaw("GET", `${at.files}/${file}/content`, { headers, env });
    const bytes = await bytesOf(response).catch(() => undefined);
    const kind = bytes === undefined ? "cut off" : response.ok ? "whole" : response.status === 404 ? "missing" : "refused";
    seen[kind]++;
    if (kind === "cut off" || kind === "refused") return;
    reads.push({ file, content: kind === "whole" ? bytes!.toBase64() : undefined, start, end: ++tick });
  }

  async function work(name: string): Promise<void> {
    const random = plan.dice(name);
    const bindings = {
      DB: faultyDatabase(plan, { name }),
      FILES: faultyBucket(plan, name),
      COORDINATOR: coordinators.seenBy(name),
    };
    let mine: string[] = [];
    for (let step = 0; step < steps; step++) {
      const [what, which] = [random(), random()];
      const file = mine[Math.floor(which * mine.length)];
      const all = [...files.keys()];
      if (what < 0.5 && all.length > 0) await read(all[Math.floor(which * all.length)]!, bindings);
      else if (what > 0.92 && file) {
        const { deleted } = await write(file, undefined, random, bindings);
        if (deleted) mine = mine.filter((one) => one !== file);
      } else {
        const { id } = await write(what > 0.75 ? file : undefined, newContent(random), random, bindings);
        if (id && !mine.includes(id)) mine.push(id);
      }
    }
  }

  await Promise.all(Array.from({ length: clients }, (_, n) => work(`client ${n}`)));
  for (const name of names) await rebindCoordinator(name, {});
  // A last look, without faults: every known File, and those that came of an upload without an answer.
  for (const file of files.keys()) await read(file, {});
  for (const { file, content, start, end } of reads) {
    if (!isAllowed(files.get(file)!, content, start, end)) wrong.push(`${file}: at ${start}–${end} not what was written`);
  }
  for (const { id } of (await at.call("GET", at.files)).body as { id: string }[]) {
    if (files.has(id)) continue;
    const content = (await bytesOf(await at.download(id))).toBase64();
    if (!doubtful.delete(content) && content !== "") wrong.push(`${id}: nobody uploaded it, or twice`);
  }
  return { at, names, plan, wrong, seen };
}
