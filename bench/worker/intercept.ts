/** Called in place of a method, with the original call. Returns the answer for the caller. */
type Interceptor = (call: () => Promise<unknown>) => Promise<unknown>;

/** Returns the binding, with calls of the named methods passed through the interceptor. */
export function intercept<T extends object>(binding: T, methods: readonly string[], interceptor: Interceptor): T {
  return new Proxy(binding, {
    get(target, name) {
      // Each method is called as a property of the binding: the methods of an RPC stub have no `apply` and no `bind`.
      const methodsOf = target as Record<string | symbol, (...args: unknown[]) => Promise<unknown>>;
      if (typeof methodsOf[name] !== "function") return methodsOf[name];
      return methods.includes(String(name))
        ? (...args: unknown[]) => interceptor(() => methodsOf[name]!(...args))
        : (...args: unknown[]) => methodsOf[name]!(...args);
    },
  });
}

/** Returns a namespace of Durable Objects whose stubs pass the named methods through the interceptor. */
export const interceptStubs = <T extends Rpc.DurableObjectBranded>(
  namespace: DurableObjectNamespace<T>,
  methods: readonly string[],
  interceptor: Interceptor,
): DurableObjectNamespace<T> =>
  ({
    getByName: (name: string) => intercept(namespace.getByName(name), methods, interceptor),
  }) as unknown as DurableObjectNamespace<T>;
