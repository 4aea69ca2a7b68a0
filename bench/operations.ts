/** What is measured: each operation beside its floors, the least that a Worker on the same storage could do. */
import type { Shot } from "./load.ts";
import type { File, Vault } from "./server.ts";

export interface Floor {
  readonly name: string;
  readonly shot: Shot;
}

export interface Operation {
  readonly name: string;
  readonly shot: Shot;
  /** Its floors, and how near to them it is to come: 0.75 is three quarters of their requests a second. */
  readonly reaches: readonly {
    readonly floor: Floor;
    readonly reach: number;
    readonly peer?: string;
    /** Tells its floors apart, in the chart. */
    readonly mark?: string;
  }[];
}

/** Operations and floors that take turns. */
export interface Group {
  readonly clients: number;
  readonly milliseconds: number;
  readonly operations: readonly Operation[];
  readonly floors: readonly Floor[];
}

/** The same with D1 and Durable Objects far away (worker/variants.ts). */
export const distant = (shot: Shot): Shot => ({ ...shot, variant: "distant" });

export const FEW = 8;
export const MANY = 100;
export const MIB = 1024 * 1024;
const LIMIT = 100;

export const get = ({ item, token }: Vault): Shot => ({ path: item, token });
export const list = ({ items, token }: Vault): Shot => ({ path: `${items}?limit=${LIMIT}`, token });
export const titled = ({ items, token }: Vault): Shot => ({
  path: `${items}?filter=${encodeURIComponent('title eq "Item 1"')}`,
  token,
});
export const vaults = ({ token }: Vault): Shot => ({ path: "/v1/vaults", token });

let written = 0;
const login = (id: string, title: string) =>
  JSON.stringify({
    vault: { id },
    title,
    category: "LOGIN",
    tags: ["bench"],
    urls: [{ href: "https://db.example.com", primary: true }],
    fields: [
      { purpose: "USERNAME", value: "ada" },
      { purpose: "PASSWORD", value: `password ${written++}` },
    ],
  });
const change = () => JSON.stringify([{ op: "replace", path: "/fields/password/value", value: `password ${written++}` }]);
/** One of its Items after the other, as if their clients knew nothing of each other. */
const any =
  ({ some }: Vault) =>
  () =>
    some[written % some.length]!;

export const patch = (vault: Vault): Shot => ({ method: "PATCH", path: any(vault), token: vault.token, body: change });
export const patchOne = (vault: Vault): Shot => ({ ...patch(vault), path: vault.item });
export const put = (vault: Vault): Shot => ({
  method: "PUT",
  path: any(vault),
  token: vault.token,
  body: () => login(vault.id, "Item"),
});
export const post = ({ id, items, token }: Vault): Shot => ({
  method: "POST",
  path: items,
  token,
  body: () => login(id, `Written ${written}`),
});

/** Each time another of its Items goes. */
export function remove({ some, token }: Vault): Shot {
  let gone = 0;
  return { method: "DELETE", path: () => some[gone++]!, token };
}

/** In: vaults of 100 Items, one to read and one to write; one of 50,000; Files. */
export function makeGroups(small: Vault, busy: Vault, large: Vault, files: readonly { name: string; file: File }[]): Group[] {
  const json: Floor = { name: "bare JSON", shot: { path: "/bench/json" } };
  const select: Floor = { name: "one SELECT", shot: { path: `/bench/select?${small.row}` } };
  const batch: Floor = { name: "a batch of three", shot: { path: `/bench/batch?${small.row}` } };
  const rows: Floor = { name: `SELECT of ${LIMIT} rows`, shot: { path: `/bench/rows?${small.row}` } };
  const upsert: Floor = {
    name: "hop + one upsert",
    shot: { method: "POST", path: `/bench/upsert?${small.row}`, body: change },
  };
  const many: Floor = { ...upsert, name: `hop + one upsert, ${MANY} clients` };
  const writes = (
    [
      ["PUT", put(busy)],
      ["PATCH", patch(busy)],
      ["POST", post(busy)],
    ] as const
  ).map(([name, shot]) => ({
    name,
    shot,
    reaches: [{ floor: upsert, reach: 0.75, peer: "0.19" }],
  }));
  return [
    {
      clients: FEW,
      milliseconds: 140,
      floors: [json, select, batch],
      operations: [
        { name: "GET an Item", shot: get(small), reaches: [{ floor: select, reach: 0.75, peer: "0.26" }] },
        { name: "`title eq` among 50,000", shot: titled(large), reaches: [{ floor: select, reach: 0.7 }] },
      ],
    },
    {
      clients: FEW,
      milliseconds: 140,
      floors: [rows],
      operations: [{ name: "list 100", shot: list(small), reaches: [{ floor: rows, reach: 0.8, peer: "0.37" }] }],
    },
    { clients: FEW, milliseconds: 140, floors: [upsert], operations: writes },
    {
      clients: MANY,
      milliseconds: 250,
      floors: [many],
      operations: [{ name: `PATCH, ${MANY} clients`, shot: patch(busy), reaches: [{ floor: many, reach: 1.1 }] }],
    },
    ...files.map(({ name, file }) => downloads(name, file)),
  ];
}

function downloads(size: string, { vault, content, key }: File): Group {
  const pass: Floor = { name: `R2 stream passed through, ${size}`, shot: { path: `/bench/pass?key=${key}` } };
  const pieces: Floor = { name: `read and handed on in JavaScript, ${size}`, shot: { path: `/bench/pieces?key=${key}` } };
  const reaches = [
    { floor: pass, reach: 0.45, mark: ", stream" },
    { floor: pieces, reach: 0.8, mark: ", pieces" },
  ];
  const operation = { name: `download ${size}`, shot: { path: content, token: vault.token }, reaches };
  return { clients: FEW, milliseconds: 300, floors: [pass, pieces], operations: [operation] };
}
