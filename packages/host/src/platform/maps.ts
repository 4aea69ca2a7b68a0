/** The method of Map that inserts a missing value (ECMAScript 2026). workerd has it, and Node 24 does not. */

function getOrInsertComputed<K, V>(this: Map<K, V>, key: K, compute: (key: K) => V): V {
  if (!this.has(key)) this.set(key, compute(key));
  return this.get(key)!;
}

export function addMapMethods(): void {
  Object.assign(Map.prototype, { getOrInsertComputed });
}
