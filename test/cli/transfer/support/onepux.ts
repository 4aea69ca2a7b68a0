import { zipSync, type Zippable } from "fflate";

/** Makes 1PUX files with everything that 1Password's description of the format has (support.1password.com/1pux-format). */

const traits = {
  guarded: false,
  multiline: false,
  dontGenerate: false,
  inputTraits: { keyboard: "default", correction: "default", capitalization: "default" },
};

export const puxField = (id: string, title: string, value: object) => ({ title, id, value, ...traits });

export const EVERY_KIND = [
  puxField("f1", "a string", { string: "plain ✓" }),
  puxField("f2", "a secret", { concealed: "s3cret" }),
  puxField("f3", "an address on the web", { url: "https://example.com/?a=b&c" }),
  puxField("f4", "mail", { email: { email_address: "ada@example.com", provider: null } }),
  puxField("f5", "code", { totp: "otpauth://totp/Example:ada?secret=JBSWY3DPEHPK3PXP&issuer=Example" }),
  puxField("f6", "born", { date: 946_728_000 }),
  puxField("f7", "valid", { monthYear: 202_612 }),
  puxField("f8", "home", { address: { street: "1 Main St", city: "Toronto", country: "ca", zip: "M4B", state: "ON" } }),
  puxField("f9", "phone", { phone: "+1 555 0100" }),
  puxField("f10", "card", { creditCardNumber: "4111111111111111" }),
  puxField("f11", "brand", { creditCardType: "visa" }),
  puxField("f12", "gender", { gender: "female" }),
  puxField("f13", "menu", { menu: "admin" }),
  puxField("f14", "see", { reference: "h6uf6zcxc5cwfm74fsld6zvpuy" }),
  puxField("f15", "key", {
    sshKey: {
      privateKey: "-----BEGIN",
      metadata: { privateKey: "-----BEGIN", publicKey: "ssh-ed25519 AAAA", fingerprint: "SHA256:x", keyType: "ed25519" },
    },
  }),
  puxField("f16", "attached", { file: { fileName: "../../etc/passwd", documentId: "doc1", decryptedSize: 5 } }),
  puxField("f17", "sign in with", { ssoLogin: { provider: "google", item: null } }),
  puxField("f18", "broken code", { totp: "not a secret!" }),
  puxField("f19", "empty date", { date: null }),
];

export const loginItem = (changes: object = {}) => ({
  uuid: "fkruyzrldizuqlnavfj3gltfhe",
  favIndex: 1,
  createdAt: 1_614_298_956,
  updatedAt: 1_635_346_445,
  state: "active",
  categoryUuid: "001",
  details: {
    loginFields: [
      { value: "ada", id: "", name: "username", fieldType: "T", designation: "username" },
      { value: "new p@ss", id: "", name: "password", fieldType: "P", designation: "password" },
      { value: "✓", id: "remember", name: "remember", fieldType: "C" },
    ],
    notesPlain: "two\nlines",
    sections: [
      { title: "", name: "", fields: [puxField("top", "on top", { string: "no section" })] },
      { title: "Every kind", name: "section1", fields: EVERY_KIND },
    ],
    passwordHistory: [
      { value: "second", time: 1_620_000_000 },
      { value: "first", time: 1_610_000_000 },
    ],
    passkey: { credentialId: "x" },
  },
  overview: {
    subtitle: "ada",
    title: "Login “with” \u0000 everything 🔑",
    url: "https://example.com",
    urls: [
      { label: "website", url: "https://example.com" },
      { label: "admin", url: "https://admin.example.com" },
    ],
    tags: ["work", "a/b"],
  },
  ...changes,
});

export const otherItem = (uuid: string, changes: object = {}) => ({
  uuid,
  favIndex: 0,
  createdAt: 1_614_298_956,
  updatedAt: 1_635_346_445,
  state: "active",
  categoryUuid: "003",
  details: { notesPlain: "note", sections: [], passwordHistory: [], loginFields: [] },
  overview: { title: `Note ${uuid}`, url: "", tags: [] },
  ...changes,
});

export const documentItem = otherItem("document11111111111111111a", {
  categoryUuid: "006",
  state: "archived",
  details: {
    documentAttributes: { fileName: "contract.pdf", documentId: "doc2", decryptedSize: 4 },
    sections: [],
    loginFields: [],
  },
});

export const EVERYTHING = [
  loginItem(),
  documentItem,
  otherItem("password11111111111111111a", {
    categoryUuid: "005",
    details: { password: "only", sections: [], passwordHistory: [{ value: "older", time: 1 }] },
  }),
  otherItem("trashed111111111111111111a", { state: "trashed" }),
];

export const FILES: Zippable = {
  "files/doc1__.._.._etc_passwd": Buffer.from("hello"),
  "files/doc2__contract.pdf": Buffer.from("%PDF"),
};

const json = (value: object) => Buffer.from(JSON.stringify(value));

/** A 1PUX file. `entries` replaces or adds entries of the archive. */
export function makeOnePux(items: readonly object[] = EVERYTHING, entries: Zippable = FILES, vault = "Private"): Uint8Array {
  const attrs = {
    accountName: "A",
    name: "A",
    avatar: "",
    email: "a@example.com",
    uuid: "ACCOUNT",
    domain: "https://my.1password.com/",
  };
  const vaults = [{ attrs: { uuid: "v1", desc: "", avatar: "", name: vault, type: "P" }, items }];
  return zipSync({
    "export.attributes": json({ version: 3, description: "1Password Unencrypted Export", createdAt: 1_585_333_569 }),
    "export.data": json({ accounts: [{ attrs, vaults }] }),
    ...entries,
  });
}
