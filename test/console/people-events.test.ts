import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { check } from "../../src/http/events/reads.ts";
import { addPerson, serveTeam } from "../support/access.ts";
import { browser, CONSOLE, COOKIE, cookieOf } from "../support/console.ts";
import { readEvents } from "../support/events.ts";
import { endListening, listening } from "../support/listening.ts";
import { admin, fetchRaw, freshVault, LOGIN } from "../support/service.ts";

/** A person who waits for events while the administrator changes what the person may read (contract 15.6 to 15.9, 25). */

const signInAs = serveTeam();

// The first request checks the tokens of the isolate at once, and the next check is 12 s later.
beforeEach(() => void (check.due = 0));

afterEach(endListening);

/** A person with two vaults who has signed in, and waits for events of both. */
async function waitingPerson() {
  const [kept, other] = [await freshVault(), await freshVault()];
  const { id, email } = await addPerson({ [kept.vault]: "rw", [other.vault]: "r" });
  const cookie = cookieOf(await signInAs(email));
  const path = `/v1/admin/people/${id}`;
  return { kept, other, email, path, cookie };
}

type Person = Awaited<ReturnType<typeof waitingPerson>>;

const withVaults = (vaultsOf: (person: Person) => object) => (person: Person) =>
  admin("PATCH", person.path, { body: { vaults: vaultsOf(person) } });

/** What ends the grants with which the request waits. The third one only takes a vault away, and the last one only adds a permission. */
const CHANGES: Readonly<Record<string, (person: Person) => Promise<{ status: number }>>> = {
  "the person is removed": ({ path }) => admin("DELETE", path),
  "the vault may only be written to": withVaults(({ kept, other }) => ({ [kept.vault]: "w", [other.vault]: "r" })),
  "the other vault is taken away": withVaults(({ kept }) => ({ [kept.vault]: "rw" })),
  "a permission is added": withVaults(({ kept, other }) => ({ [kept.vault]: "rwd", [other.vault]: "r" })),
};

const openStream = async (path: string, { cookie }: Pick<Person, "cookie">) => {
  const headers = { ...CONSOLE, Cookie: `${COOKIE}=${cookie}`, Accept: "text/event-stream" };
  return readEvents(await fetchRaw("GET", path, { headers }));
};

describe.each(Object.keys(CHANGES))("within 15 s after %s", (change) => {
  it("a request with `wait` is a 401", async () => {
    const person = await waitingPerson();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.now() });
    const reply = browser(person.cookie)("GET", `/v1/vaults/${person.kept.vault}/events?after=latest&wait=30`);
    await listening(person.kept.vault);
    expect((await CHANGES[change]!(person)).status).toBeLessThan(300);
    await vi.advanceTimersByTimeAsync(15_000);
    expect((await reply).status).toBe(401);
  });

  it.each(["a vault", "all vaults"])("a stream of %s ends", async (of) => {
    const person = await waitingPerson();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.now() });
    const stream = await openStream(of === "a vault" ? `/v1/vaults/${person.kept.vault}/events` : "/v1/events", person);
    const next = stream.next();
    await listening(person.kept.vault);
    expect((await CHANGES[change]!(person)).status).toBeLessThan(300);
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await next).toBeUndefined();
  });
});

it("a person who signs in again gets the events of the vaults that are left, from where the stream ended", async () => {
  const person = await waitingPerson();
  const before = await openStream("/v1/events", person);
  const first = before.next();
  await listening(person.other.vault);
  await person.other.call("POST", person.other.items, { body: LOGIN });
  await first;
  await before.close();
  await CHANGES["the other vault is taken away"]!(person);
  const cookie = cookieOf(await signInAs(person.email));
  for (const { call, items } of [person.other, person.kept]) await call("POST", items, { body: LOGIN });
  const headers = { ...CONSOLE, Cookie: `${COOKIE}=${cookie}`, "Last-Event-ID": before.lastId() };
  const after = readEvents(await fetchRaw("GET", "/v1/events", { headers: { ...headers, Accept: "text/event-stream" } }));
  expect((await after.next())!.data).toMatchObject({ vault: person.kept.vault, sequence: 2 });
  await after.close();
});
