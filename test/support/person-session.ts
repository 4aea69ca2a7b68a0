import { LIMITS } from "../../src/model/limits.ts";
import { openStore } from "../../src/store/d1/database.ts";
import { loadPersonByEmail } from "../../src/store/tokens/people.ts";
import { insertSession } from "../../src/store/tokens/sessions.ts";

/** Makes a session of a person as a sign-in does. In: the bindings, and the email. Out: the cookie's value. */
export async function personSession(env: Env, email: string): Promise<string> {
  const store = await openStore(env, Date.now());
  const person = store.ok ? await loadPersonByEmail(store.value, email) : store;
  if (!store.ok || !person.ok || !person.value) throw new Error("There is no such person");
  const createdAt = Date.now();
  const lifetime = { createdAt, expiresAt: createdAt + LIMITS.session * 1_000 };
  const made = await insertSession(store.value, { token: person.value.claims }, lifetime);
  if (!made.ok) throw new Error("There is no session");
  return made.value.text;
}
