/** The method of Map that inserts what is missing (ECMAScript 2026), which workerd has and Node 24 has not. */

function getOrInsertComputed<K, V>(this: Map<K, V>, key: K, compute: (key: K) => V): V {
  if (!this.has(key)) this.set(key, compute(key));
  return this.get(key)!;
}

export function addMapMethods(): void {
  Object.assign(Map.prototype, { getOrInsertComputed });
}
