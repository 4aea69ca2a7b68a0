import { createApiClient } from "../typed-openapi.ts";
import { check, service } from "./service.ts";

const client = createApiClient(
  {
    fetch: ({ method, url, urlSearchParams, parameters }) => {
      if (urlSearchParams) url.search = urlSearchParams.toString();
      const sent = parameters?.body === undefined ? {} : { body: JSON.stringify(parameters.body) };
      return fetch(url, { ...sent, method, headers: service.authorization });
    },
  },
  service.url,
);
const { vault } = service;
/** The types demand the headers, although each of them is optional. */
const header = {};

const vaults = await client.get("/v1/vaults", { query: { filter: "" }, header });
const created = await client.post("/v1/vaults/{vault}/items", {
  path: { vault },
  header,
  body: { title: "Database", category: "LOGIN", fields: [{ label: "user", value: "ada" }] },
});
const items = await client.get("/v1/vaults/{vault}/items", { path: { vault }, header, query: { filter: "" } });
const path = { vault, item: created.id };
const read = await client.get("/v1/vaults/{vault}/items/{item}", { path, header });
const replaced = await client.put("/v1/vaults/{vault}/items/{item}", { path, header, body: { ...read, title: "Renamed" } });
check({ vaults, items, created, read, replaced });
