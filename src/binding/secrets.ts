import { WorkerEntrypoint } from "cloudflare:workers";
import { describe, type Description } from "../model/failure.ts";
import { type Answered, presentAnswer, type Presented } from "../requests/references.ts";
import { answerCall } from "./call.ts";

/**
 * The entrypoint that other Workers of the account bind (contract 18), with `props` that name a token: `{ token: "<id>" }`. Each
 * method throws an Error when the call is refused. The error has the `kind` and the `status` of the refusal (contract 4.3).
 */
export class Secrets extends WorkerEntrypoint<Env> {
  /** Out: the value of a reference; of a File whose content is no UTF-8 its base64. Throws the refusal of the reference too. */
  async get(reference: string): Promise<string> {
    const [answered] = await this.#answer([reference]);
    const { value } = answered!;
    if ("value" in value) return value.value;
    throw errorOf(value);
  }

  /** Out: for each reference its value or its refusal, in their order, as in the answer of `POST /v1/resolve` (contract 16.1). */
  async resolve(references: readonly string[]): Promise<readonly Presented[]> {
    return (await this.#answer(references)).map(presentAnswer);
  }

  async #answer(references: unknown): Promise<readonly Answered[]> {
    const waitUntil = (promise: Promise<unknown>) => this.ctx.waitUntil(promise);
    const call = { env: this.env, props: this.ctx.props, now: Date.now(), waitUntil };
    const answers = await answerCall(call, references);
    if (answers.ok) return answers.value;
    throw errorOf(describe(answers.failure));
  }
}

/** The properties cross RPC as plain data; the class of an error would not. */
const errorOf = ({ kind, status, message }: Description): Error => Object.assign(new Error(message), { kind, status });
