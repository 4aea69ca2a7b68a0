/** The examples of the document. A test validates each against its schema. */

const VAULT = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
const ITEM = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const TOKEN = "0b9d3c52-7d4e-4c57-9c5c-0f7a1d1c8f10";
const ISSUER = "7d3f1a90-5c62-4e0b-9a57-1f2e3d4c5b6a";
const RULE = "a4c8e2f6-0b1d-4f3a-8e5c-6d7f8a9b0c1d";
const CHILD_TOKEN = "5b8f0c6e-2a47-4d0e-8f3b-9c1d7e6a5b40";
const WRITTEN = "2026-11-22T09:30:00.000Z";
const REQUEST = "019ab2c4-5d6e-7f80-8123-456789abcdef";

export const summary = {
  id: ITEM,
  title: "Production database",
  vault: { id: VAULT },
  category: "DATABASE",
  urls: [{ href: "postgres://db.example.com", primary: true }],
  favorite: false,
  tags: ["production"],
  version: 3,
  createdAt: "2026-11-20T08:00:00.000Z",
  updatedAt: WRITTEN,
  lastEditedBy: TOKEN,
};

export const actorName = { id: TOKEN, name: "deploy" };

export const file = {
  id: "5f0c2b1e-94a1-4f0c-8e0b-0d7a3b9c6e21",
  name: "ca.pem",
  size: 1338,
  content_path: `v1/vaults/${VAULT}/items/${ITEM}/files/5f0c2b1e-94a1-4f0c-8e0b-0d7a3b9c6e21/content`,
};

export const item = {
  ...summary,
  sections: [{ id: "tls", label: "TLS" }],
  fields: [
    { id: "username", type: "STRING", purpose: "USERNAME", label: "username", value: "app" },
    { id: "password", type: "CONCEALED", purpose: "PASSWORD", label: "password", value: "h7.Kq-2mWz", entropy: 60.9 },
  ],
  files: [file],
};

export const newItem = {
  title: "Production database",
  category: "DATABASE",
  tags: ["production"],
  urls: [{ href: "postgres://db.example.com", primary: true }],
  fields: [
    { purpose: "USERNAME", value: "app" },
    { purpose: "PASSWORD", generate: true, recipe: { length: 32, characterSets: ["LETTERS", "DIGITS"] } },
  ],
};

export const replacement = { ...newItem, vault: { id: VAULT } };

export const patch = [
  { op: "replace", path: "/fields/password/value", value: "a new value" },
  { op: "add", path: "/tags/-", value: "rotated" },
];

export const versions = [
  { version: 3, updatedAt: WRITTEN, lastEditedBy: TOKEN, title: "Production database", current: true },
  { version: 2, updatedAt: "2026-11-21T10:00:00.000Z", lastEditedBy: TOKEN, title: "Production database", current: false },
];

export const vault = {
  id: VAULT,
  name: "Production",
  description: "",
  attributeVersion: 1,
  contentVersion: 3,
  items: 1,
  type: "USER_CREATED",
  createdAt: "2026-11-20T08:00:00.000Z",
  updatedAt: WRITTEN,
};

const LIMITS = { items: 100_000, bytes: 268_435_456, fileBytes: 10_737_418_240 };
export const DATA_KEY = { id: "019a8e3c-2f41-7c6d-9b1e-5d0f7a2c4e88", createdAt: WRITTEN };
const USAGE = { items: 1, bytes: 2_048, fileBytes: 1_338 };
export const adminVault = { ...vault, quota: LIMITS, usage: USAGE, dataKey: DATA_KEY, earlierKeys: 0 };
export const newVault = { name: "Production", description: "", quota: { items: 500 } };

const issued = { name: "deploy", dialect: "uuid", vaults: { [VAULT]: "rw" } };
export const token = { id: TOKEN, ...issued, createdAt: WRITTEN, expiresAt: "2027-02-20T09:30:00.000Z" };
export const issuedToken = { ...token, token: "eyJhbGciOiJFZERTQSJ9.e30.c2lnbmF0dXJl" };
export const newToken = { name: "deploy", vaults: { [VAULT]: "rw" }, expiresIn: 7_776_000 };

export const newChildToken = { name: "deploy, run 4711", vaults: { [VAULT]: "r" }, expiresIn: 900 };
export const listedChildToken = {
  id: CHILD_TOKEN,
  name: newChildToken.name,
  vaults: newChildToken.vaults,
  dialect: "uuid",
  parent: TOKEN,
  createdAt: WRITTEN,
  expiresAt: "2026-11-22T09:45:00.000Z",
};
export const childToken = { ...listedChildToken, token: issuedToken.token };

export const newIssuer = { name: "GitHub Actions", issuer: "https://token.actions.githubusercontent.com", preset: "github" };
export const issuer = { id: ISSUER, ...newIssuer, once: true, createdAt: WRITTEN };
export const newRule = {
  name: "deploy of example/app",
  issuer: ISSUER,
  claims: { repository_id: "123456", repository_owner_id: "654321", ref: "refs/heads/main" },
  vaults: { [VAULT]: "r" },
};
export const rule = { id: RULE, ...newRule, lifetime: 900, dialect: "uuid", createdAt: WRITTEN };
export const pastExchange = { at: WRITTEN, issuer: newIssuer.issuer, matches: false, failed: ["ref"] };
export const exchangedToken = {
  access_token: issuedToken.token,
  issued_token_type: "urn:ietf:params:oauth:token-type:jwt",
  token_type: "Bearer",
  expires_in: 900,
};

export const newPerson = { email: "ada@example.com", vaults: { [VAULT]: "rw" } };
export const person = { id: TOKEN, ...newPerson, createdAt: WRITTEN };
export const session = {
  expiresAt: "2026-11-22T21:30:00.000Z",
  admin: false,
  token,
  settings: { deletedRetentionDays: 30, versionsKept: 10, people: false },
};
export const signInAddress = { url: "https://login.example.com/authorize?response_type=code&client_id=item-vault" };
export const signInCode = { code: "q2Zb7mXo0yTn4cVhL8sUe1RkWd5JpGa6Nf3BxMiHtCE", expiresAt: "2026-11-22T09:40:00.000Z" };

const SECRET = signInCode.code;
export const newAuthorization = {
  redirect_uri: "http://127.0.0.1:49152/",
  code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
};
export const loginCode = { id: CHILD_TOKEN, code: SECRET, expiresAt: "2026-11-22T09:31:00.000Z" };
export const newLoginCode = { vaults: { [VAULT]: "r" } };
export const loginRequest = { code: SECRET };
export const loginToken = { ...childToken, name: newPerson.email };

export const resolveRequest = { references: ["op://Production/Production database/password", "op://Production/none/password"] };
export const resolveAnswer = {
  values: [
    { reference: "op://Production/Production database/password", value: "h7.Kq-2mWz" },
    { reference: "op://Production/none/password", status: 404, message: "The reference names no item" },
  ],
};

export const entry = {
  requestId: REQUEST,
  timestamp: WRITTEN,
  action: "UPDATE",
  result: "SUCCESS",
  actor: { id: TOKEN, jti: TOKEN, userAgent: "curl/8.9.1", requestIp: "203.0.113.7" },
  resource: { type: "ITEM", vault: { id: VAULT }, item: { id: ITEM }, itemVersion: 3 },
};
export const adminEntry = {
  ...entry,
  action: "CREATE",
  actor: { id: "admin", userAgent: "curl/8.9.1", requestIp: "203.0.113.7" },
  resource: { type: "TOKEN", token: { id: TOKEN } },
};

const event = { sequence: 4, type: "item.updated", item: ITEM, version: 3, actor: TOKEN, at: WRITTEN };
export const eventPage = { events: [event], last: "4-mibq2v5c" };

export const newWebhook = { url: "https://hooks.example.com/item-vault" };
export const webhook = {
  id: "9a1f0d3b-2c4e-4b6a-8d7c-1e2f3a4b5c6d",
  url: "https://hooks.example.com/item-vault",
  enabled: true,
  state: "ACTIVE",
  createdAt: WRITTEN,
  failures: 0,
  pending: 0,
};
export const newSecret = { ...webhook, secret: "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=" };
export const delivery = { at: WRITTEN, milliseconds: 182, status: 503, error: "status", events: 1 };
export const webhookMessage = {
  type: "item.updated",
  timestamp: WRITTEN,
  data: { vault: { id: VAULT }, sequence: 4, cursor: "4-mibq2v5c", item: { id: ITEM }, version: 3, actor: TOKEN },
};

export const adminHealth = {
  name: "Item Vault",
  version: "1.0.0-rc.1",
  dependencies: [
    {
      service: "capacity",
      status: "ACTIVE",
      message: "The database has free space. It uses 12.4 of 10,000 MB, and the quotas of 3 vaults add up to 805.3 MB",
      used: 12_400_000,
      limit: 10_000_000_000,
    },
  ],
};

export const health = {
  name: "Item Vault",
  version: "1.0.0-rc.1",
  dependencies: [{ service: "d1", status: "ACTIVE", message: "The database responds" }],
};
