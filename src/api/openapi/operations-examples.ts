/** The examples of the operations of keys, restores and checks (contract 20 to 22). A test validates each against its schema. */

const used = { vaults: 0, tokens: 0, endedTokens: 0 };
export const rootKeys = [
  {
    id: "k2",
    state: "active",
    fingerprint: "56475aa75463474c",
    publicKey: "zGSAXONn2ZwBDoeQTrRuK9l4ONvuN+iPmQUaAm5lWck=",
    verifies: true,
    ...used,
    vaults: 12,
    backup: true,
    removable: false,
  },
  { id: "k1", state: "removed", fingerprint: "21fe31dfa154a261", verifies: false, ...used, backup: false, removable: false },
];
export const newJob = { kind: "rewrap" };
export const findingOfToken = {
  kind: "row_unreadable",
  table: "tokens",
  id: "0d9a4b52-7c1e-4f7a-9d0b-5d6e7f8a9b0c",
  detail: "the row cannot be decrypted, and stays under its root key",
  repairable: false,
};
export const job = {
  id: "3fa85f64-5717-4562-b3fc-2c963f66afa6",
  kind: "rewrap",
  state: "done",
  progress: { done: 239, total: 240 },
  findings: [findingOfToken],
  createdAt: "2026-11-23T09:30:00.000Z",
  endedAt: "2026-11-23T09:30:04.000Z",
};
