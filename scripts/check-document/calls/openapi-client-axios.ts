import { OpenAPIClientAxios } from "openapi-client-axios";
import type { Client } from "../axios-types";
import definition from "../openapi.json";
import { check, service } from "./service.ts";

const api = new OpenAPIClientAxios({
  definition: definition as never,
  withServer: { url: service.url },
  axiosConfigDefaults: { headers: service.authorization },
});
const client = await api.init<Client>();
const { vault } = service;

const { data: vaults } = await client.listVaults({ filter: "" });
const { data: created } = await client.createItem(
  { vault },
  { title: "Database", category: "LOGIN", fields: [{ label: "user", value: "ada" }] },
);
const { data: items } = await client.listItems({ vault, filter: "" });
const path = { vault, item: created.id };
const { data: read } = await client.getItem(path);
const { data: replaced } = await client.replaceItem(path, { ...read, title: "Renamed" });
check({ vaults, items, created, read, replaced });
