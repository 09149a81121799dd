export function contact(address) {
  if (!/^[^@\s]+@[^@\s]+$/.test(address)) throw new Error("not an address");
  return `contact:${address}`;
}
