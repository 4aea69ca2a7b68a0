import { Category, ItemsService, OpenAPI, VaultsService } from "../codegen";
import { check, service } from "./service.ts";

OpenAPI.BASE = service.url;
OpenAPI.TOKEN = service.token;
const { vault } = service;

const vaults = await VaultsService.listVaults("");
const created = await ItemsService.createItem(vault, {
  title: "Database",
  category: Category.LOGIN,
  fields: [{ label: "user", value: "ada" }],
});
const items = await ItemsService.listItems(vault, "");
const read = await ItemsService.getItem(vault, created.id);
const replaced = await ItemsService.replaceItem(vault, read.id, { ...read, title: "Renamed" });
check({ vaults, items, created, read, replaced });
