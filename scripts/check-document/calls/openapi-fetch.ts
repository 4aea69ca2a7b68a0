import createClient from "openapi-fetch";
import type { paths } from "../types.ts";
import { check, service } from "./service.ts";

const client = createClient<paths>({ baseUrl: service.url, headers: service.authorization });
const path = { vault: service.vault };

const { data: vaults } = await client.GET("/v1/vaults", { params: { query: { filter: "" } } });
const { data: created } = await client.POST("/v1/vaults/{vault}/items", {
  params: { path },
  body: { title: "Database", category: "LOGIN", fields: [{ label: "user", value: "ada" }] },
});
const { data: items } = await client.GET("/v1/vaults/{vault}/items", { params: { path, query: { filter: "" } } });
const params = { path: { ...path, item: created!.id } };
const { data: read } = await client.GET("/v1/vaults/{vault}/items/{item}", { params });
const { data: replaced } = await client.PUT("/v1/vaults/{vault}/items/{item}", { params, body: { ...read!, title: "Renamed" } });
check({ vaults, items, created, read, replaced });
