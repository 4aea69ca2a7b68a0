/** A binding some of whose methods are called through `wrap`, which sees the call and its result. */
export function around<T extends object>(
  binding: T,
  methods: readonly string[],
  wrap: (call: () => Promise<unknown>) => Promise<unknown>,
): T {
  return new Proxy(binding, {
    get(target, name) {
      // Called on the binding itself: what an RPC stub gives out knows neither `apply` nor `bind`.
      const methodsOf = target as Record<string | symbol, (...args: unknown[]) => Promise<unknown>>;
      if (typeof methodsOf[name] !== "function") return methodsOf[name];
      return methods.includes(String(name))
        ? (...args: unknown[]) => wrap(() => methodsOf[name]!(...args))
        : (...args: unknown[]) => methodsOf[name]!(...args);
    },
  });
}

/** A namespace of Durable Objects whose stubs are wrapped in this way. */
export const aroundStubs = <T extends Rpc.DurableObjectBranded>(
  namespace: DurableObjectNamespace<T>,
  methods: readonly string[],
  wrap: (call: () => Promise<unknown>) => Promise<unknown>,
): DurableObjectNamespace<T> =>
  ({ getByName: (name: string) => around(namespace.getByName(name), methods, wrap) }) as unknown as DurableObjectNamespace<T>;
