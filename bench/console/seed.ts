/** What the console shows in the benchmark, made by the API. */
import { setTimeout as sleep } from "node:timers/promises";

const PARALLEL = 16;

async function send<T>(url: string, token: string, method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(new URL(path, url), {
    method,
    headers: { Authorization: `Bearer ${token}` },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (response.status === 429) {
    // A fast machine makes Items faster than the rate of a token allows.
    await sleep(Number(response.headers.get("Retry-After") ?? 1) * 1000);
    return send(url, token, method, path, body);
  }
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

export async function makeVault(url: string, admin: string): Promise<{ vault: string; token: string }> {
  const { id } = await send<{ id: string }>(url, admin, "POST", "v1/admin/vaults", { name: "Team" });
  const { token } = await send<{ token: string }>(url, admin, "POST", "v1/admin/tokens", {
    name: "bench",
    vaults: { [id]: "rw" },
  });
  return { vault: id, token };
}

export async function makeItems(url: string, token: string, vault: string, count: number): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await send(url, token, "POST", `v1/vaults/${vault}/items`, itemOf(next++, vault));
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}

const NAMES = ["GitHub", "Grafana", "Postgres", "Mail", "Payroll", "Registrar", "Router", "Wiki"];

const itemOf = (index: number, vault: string) => ({
  title: `${NAMES[index % NAMES.length]} ${index}`,
  category: "LOGIN",
  vault: { id: vault },
  tags: [`team-${index % 20}`],
  urls: [{ href: `https://host-${index}.example.com/login` }],
  fields: [
    { purpose: "USERNAME", value: `user${index}@example.com` },
    { purpose: "PASSWORD", value: `secret-${index}` },
  ],
});

/** A link that signs in. */
export async function makeLink(url: string, token: string): Promise<string> {
  const { code } = await send<{ code: string }>(url, token, "POST", "v1/sign-in-codes");
  return `${url}console/#sign-in=${code}`;
}
