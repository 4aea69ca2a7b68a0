/** Runs work after all earlier work with the same name has ended. Returns the result of the work. */
export type InOrder = <T>(name: string, work: () => Promise<T>) => Promise<T>;

export function createOrder(): InOrder {
  const ends = new Map<string, Promise<void>>();
  return async (name, work) => {
    const result = (ends.get(name) ?? Promise.resolve()).then(work);
    const end = result.then(
      () => undefined,
      () => undefined,
    );
    ends.set(name, end);
    try {
      return await result;
    } finally {
      if (ends.get(name) === end) ends.delete(name);
    }
  };
}
