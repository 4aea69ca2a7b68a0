/** The local service that the programs of this folder call, and the check of what they got. */

declare const process: { readonly env: Readonly<Record<"SERVICE_URL" | "SERVICE_TOKEN" | "SERVICE_VAULT", string>> };

const { SERVICE_URL: url, SERVICE_TOKEN: token, SERVICE_VAULT: vault } = process.env;
export const service = { url, token, vault, authorization: { Authorization: `Bearer ${token}` } };

interface Item {
  readonly id: string;
  readonly title: string;
  readonly version: number;
  readonly fields: readonly { readonly label: string; readonly value: string }[];
}

interface Answers {
  readonly vaults: readonly { readonly id: string }[] | undefined;
  readonly items: readonly { readonly id: string }[] | undefined;
  readonly created: Item | undefined;
  readonly read: Item | undefined;
  readonly replaced: Item | undefined;
}

/** Throws if a client got another answer than the service gives. */
export function check({ vaults, items, created, read, replaced }: Answers): void {
  const [field] = read?.fields ?? [];
  const wrong = Object.entries({
    "the list of vaults": vaults?.length !== 1 || vaults[0]?.id !== vault,
    "the list of Items": items?.some(({ id }) => id === created?.id) !== true,
    "the created Item": created?.version !== 1 || read?.id !== created.id,
    "the fields": field?.label !== "user" || field.value !== "ada",
    "the replaced Item": replaced?.id !== created?.id || replaced?.version !== 2 || replaced.title !== "Renamed",
  }).filter(([, isWrong]) => isWrong);
  if (wrong.length > 0) throw new Error(`wrong answers: ${wrong.map(([name]) => name).join(", ")}`);
}
