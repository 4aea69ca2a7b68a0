import type { StoredRequest } from "./ask.ts";
import type { Sample } from "./sample.ts";

/** The reads whose answers are stored with a release. */

/** Every kind of read of the sample, by a name that says what it reads. None of them depends on the time. */
export function readsOf({ tokens, vaults, items, files }: Sample): Record<string, StoredRequest> {
  const [production, personal] = vaults;
  const inProduction = `/v1/vaults/${production}/items`;
  const inPersonal = `/v1/vaults/${personal}/items`;
  const folder = `${inProduction}/${items.full}/files`;
  const paths = {
    "the vaults": "/v1/vaults",
    "a vault by its name": `/v1/vaults?filter=${encodeURIComponent('name eq "production"')}`,
    "a vault": `/v1/vaults/${production}`,
    "a renamed vault": `/v1/vaults/${personal}`,
    "the Items": inProduction,
    "the Items of the second vault": inPersonal,
    "a page of Items": `${inPersonal}?limit=5`,
    "an Item by its title": `${inProduction}?filter=${encodeURIComponent('title eq "Database "main" – Grüße 🔑"')}`,
    "Items by a part of the title": `${inPersonal}?filter=${encodeURIComponent('title co "LICENSE"')}`,
    "Items by a tag": `${inPersonal}?filter=${encodeURIComponent('tag eq "sample"')}`,
    "an Item of several versions": `${inProduction}/${items.full}`,
    "an Item with every type of field": `${inProduction}/${items.types}`,
    "a deleted Item": `${inProduction}/${items.deleted}`,
    ...Object.fromEntries(items.others.map((id, index) => [`Item ${index} of the second vault`, `${inPersonal}/${id}`])),
    "the Files": folder,
    "the Files with their contents": `${folder}?inline_files=true`,
    "a File": `${folder}/${files.large}`,
    "a File with its content": `${folder}/${files.small}?inline_files=true`,
    ...Object.fromEntries(Object.entries(files).map(([name, id]) => [`the ${name} content`, `${folder}/${id}/content`])),
    "an Item that names nothing": `${inProduction}/3fa85f64-5717-4562-b3fc-2c963f66afa6`,
  };
  const by = (token: string, dialect: string) =>
    Object.entries(paths).map(([name, path]) => [`${name} (${dialect})`, { path, token }] as const);
  const range = { Range: "bytes=16380-16390" };
  return {
    ...Object.fromEntries([...by(tokens.reader.token, "uuid"), ...by(tokens.connect.token, "connect")]),
    "a range of a content": { path: `${folder}/${files.large}/content`, token: tokens.reader.token, headers: range },
    "a read with a token that only writes": { path: `${inProduction}/${items.full}`, token: tokens.writer.token },
    "a list with a token of another vault": { path: inPersonal, token: tokens.narrow.token },
    "an Item with a token of another vault": { path: `${inPersonal}/${items.others[0]}`, token: tokens.narrow.token },
    "a read with a revoked token": { path: inProduction, token: tokens.revoked.token },
  };
}
