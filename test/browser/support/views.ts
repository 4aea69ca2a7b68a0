/** The views of the console that tests open one after the other: the address, and an element that is there when the view is. */

/** Ids that addresses have. */
export interface Addressed {
  readonly vault: string;
  readonly item: string;
  readonly deleted: string;
}

export const viewsOf = ({
  vault,
  item,
  deleted,
}: Addressed): readonly (readonly [name: string, path: string, ready: string])[] => [
  ["items", "items", ".rows a"],
  ["item", `items/${vault}/${item}`, ".details"],
  ["edit", `items/${vault}/${item}/edit`, "#item-title"],
  ["history", `items/${vault}/${item}/history`, ".version"],
  ["access", `items/${vault}/${item}/access`, "[role=tabpanel] p"],
  ["item-activity", `items/${vault}/${item}/activity`, "[role=tabpanel] p"],
  ["use", `items/${vault}/${item}/use`, ".use code"],
  ["deleted", "deleted", ".rows a"],
  ["deleted-item", `deleted/${vault}/${deleted}`, ".content h1"],
  ["import", "import", "input[type=file]"],
  ["passwords", "passwords", ".password-check button"],
  ["vaults", "vaults", ".cards"],
  ["tokens", "tokens", ".cards"],
  ["people", "people", ".empty, .cards"],
  ["workloads", "workloads", ".empty, .cards"],
  ["webhooks", "webhooks", ".empty, .cards"],
  ["backups", "backups", ".page .empty, .cards"],
  ["keys", "keys", ".cards"],
  ["activity", "activity", ".cards"],
  ["health", "health", ".chart"],
];
