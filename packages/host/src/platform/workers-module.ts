/** Stands for the module `cloudflare:workers`, of which the service uses the base classes. */
export class DurableObject<Bindings> {
  protected readonly ctx: DurableObjectState;
  protected readonly env: Bindings;

  constructor(ctx: DurableObjectState, env: Bindings) {
    this.ctx = ctx;
    this.env = env;
  }
}

/** Neither the simulator nor the server calls an entrypoint. */
export class WorkerEntrypoint<Bindings> {
  protected readonly env: Bindings | undefined;
}
