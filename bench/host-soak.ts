/**
 * `npm run soak:host` sends mixed requests to `item-vault server` for an hour, or for the minutes of its argument, and prints what memory the process has. It fails
 * if the memory of the last quarter is more than a tenth above that of the quarter before: caches of a process that never ends must have a bound. In the first half the heap of V8
 * grows to its size.
 */
import { randomUUID } from "node:crypto";
import { admin, memoryOf, secret, startServer } from "./host-server.ts";
import { fetchJson, send, setServer } from "./load.ts";
import { median } from "./statistics.ts";

const MINUTES = Number(process.argv[2] ?? 60);
const REQUESTS_PER_SECOND = 40;
const GROWTH_MAX = 1.1;

const server = await startServer();
setServer(server.url);
const { id: vault } = await admin("vaults", { name: "Soak" });
const { id: tokenId, token } = await admin("tokens", { name: "soak", vaults: { [vault]: "rwd" } });
const items = `/v1/vaults/${vault}/items`;
const bodyOf = (title: string) =>
  JSON.stringify({ vault: { id: vault }, title, category: "LOGIN", fields: [{ type: "CONCEALED", value: randomUUID() }] });
const ids: string[] = [];
const item = () => `${items}/${ids[Math.floor(Math.random() * ids.length)]}`;
const create = async () =>
  void ids.push((await fetchJson({ method: "POST", path: items, token, body: bodyOf(randomUUID()) })).id);
for (let made = 0; made < 500; made++) await create();

/** Requests, each as often as it is listed. Those that are refused are part of the load: other names, tokens and addresses fill caches. */
const KINDS: readonly (() => Promise<unknown>)[] = [
  ...Array.from({ length: 8 }, () => () => send({ path: item(), token }, false)),
  () => send({ path: items, token }, false),
  () =>
    send(
      { method: "PATCH", path: item(), token, body: JSON.stringify([{ op: "replace", path: "/title", value: randomUUID() }]) },
      false,
    ),
  () => send({ path: `${items}?filter=title eq "${randomUUID()}"`.replaceAll(" ", "%20"), token }, false),
  () => send({ path: `${items}/${randomUUID()}`, token }, false),
  () => send({ path: item(), token: secret() }, false),
  () => send({ path: `/v1/vaults/${randomUUID()}/items`, token }, false),
  () => send({ path: `/v1/activity?tokenId=${tokenId}`, token }, false),
  async () => {
    await create();
    const path = `${items}/${ids.shift()}`;
    await send({ method: "DELETE", path, token }, false);
  },
  async () => {
    const { id, token: issued } = await admin("tokens", { name: "short", vaults: { [vault]: "r" } });
    await send({ path: item(), token: issued }, false);
    await send({ method: "DELETE", path: `/v1/admin/tokens/${id}`, token: server.secrets.ADMIN_TOKEN }, false);
  },
  async () => {
    const path = `${item()}/files`;
    const headers = { "Content-Disposition": 'attachment; filename="file"' };
    const { status, bytes } = await send({ method: "POST", path, token, headers, body: Buffer.alloc(50_000) }, true);
    if (status === 200) await send({ method: "DELETE", path: `${path}/${JSON.parse(bytes.toString()).id}`, token }, false);
  },
];

const samples: number[] = [];
const end = Date.now() + MINUTES * 60_000;
let sent = 0;
for (let nextSample = Date.now(); Date.now() < end;) {
  await KINDS[sent++ % KINDS.length]!();
  await new Promise((resolve) => setTimeout(resolve, 1_000 / REQUESTS_PER_SECOND));
  if (Date.now() < nextSample) continue;
  nextSample += (MINUTES * 60_000) / 60;
  samples.push(memoryOf(server.pid));
  console.log(`${sent} requests, ${samples.at(-1)!.toFixed(0)} MiB`);
}
server.child.kill();
const quarter = Math.floor(samples.length / 4);
const [before, after] = [median(samples.slice(-2 * quarter, -quarter)), median(samples.slice(-quarter))];
console.log(
  `${sent} requests in ${MINUTES} min: ${before.toFixed(0)} MiB in the third quarter, ${after.toFixed(0)} MiB in the last`,
);
if (after > before * GROWTH_MAX) throw new Error("The memory of the server grows");
