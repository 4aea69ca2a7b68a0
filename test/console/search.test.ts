import type { ItemSummary } from "@item-vault/client";
import { describe, expect, it } from "vitest";
import { entryOf, search } from "../../packages/console/src/state/search.ts";

const summary = (title: string, more: Partial<ItemSummary> = {}): ItemSummary => ({
  id: title,
  title,
  vault: { id: "v" },
  category: "LOGIN",
  urls: [],
  favorite: false,
  tags: [],
  version: 1,
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z",
  lastEditedBy: "t",
  ...more,
});

const ENTRIES = [
  summary("Old GitHub"),
  summary("GitHub", { username: "ada@example.com" }),
  summary("Zürich Wi-Fi", { tags: ["home/Küche"] }),
  summary("Mail", { urls: [{ href: "https://www.github.example.org/login" }] }),
  summary("digithub"),
].map(entryOf);

const titles = (query: string) => search(ENTRIES, query).map(({ item }) => item.title);

describe("search in the console", () => {
  it.each([
    ["nothing", "", ["Old GitHub", "GitHub", "Zürich Wi-Fi", "Mail", "digithub"]],
    [
      "a word: titles that begin with it, then with a word of it, then with it inside, then others",
      "github",
      ["GitHub", "Old GitHub", "digithub", "Mail"],
    ],
    ["capitals", "GITHUB old", ["Old GitHub"]],
    ["text without its accents", "zurich", ["Zürich Wi-Fi"]],
    ["text with accents", "küche", ["Zürich Wi-Fi"]],
    ["a user name", "ada@", ["GitHub"]],
    ["words of different attributes", "wi-fi home", ["Zürich Wi-Fi"]],
    ["a host without www", "github.example", ["Mail"]],
    ["the scheme of a URL, which every Item has", "https", []],
    ["characters of a pattern", ".*", []],
    ["white space only", "  ", ["Old GitHub", "GitHub", "Zürich Wi-Fi", "Mail", "digithub"]],
  ])("finds by %s", (_, query, expected) => expect(titles(query)).toEqual(expected));
});
