/** Stands for the module `cloudflare:workers`, of which the service uses the base class of its Durable Object. */
export class DurableObject<Bindings> {
  protected readonly ctx: DurableObjectState;
  protected readonly env: Bindings;

  constructor(ctx: DurableObjectState, env: Bindings) {
    this.ctx = ctx;
    this.env = env;
  }
}
