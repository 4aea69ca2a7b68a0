/**
 * Returns the network under which an address is counted. An IPv6 address counts as its /64, because a client usually has the
 * whole /64 (RFC 4291 section 2.5.1).
 */
export function network(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::", 2);
  const left = head === "" ? [] : head.split(":");
  const right = tail ? tail.split(":") : [];
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - left.length - right.length }, () => "0");
  return [...left, ...zeros, ...right]
    .slice(0, 4)
    .map((group) => parseInt(group, 16).toString(16))
    .join(":");
}
