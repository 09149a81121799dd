// The formats of JSON Schema that are checked. A format that is not here is a remark.

const formats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["date", isDate],
  ["time", (text) => isTime(text)],
  ["date-time", isDateTime],
  ["email", (text) => /^[^\s@]+@[^\s@]+$/.test(text)],
  ["uuid", (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)],
  ["uri", (text) => /^[a-z][a-z0-9+.-]*:\S+$/i.test(text)],
  ["ipv4", (text) => /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/.test(text)],
  [
    "hostname",
    (text) =>
      text.length <= 253 && /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i.test(text),
  ],
]);

export function isFormat(text: string, format: string): boolean {
  return formats.get(format)?.(text) ?? true;
}

function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  if (day === undefined) return false;
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

function isTime(text: string): boolean {
  return /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i.test(text);
}

function isDateTime(text: string): boolean {
  const [, date = "", time = ""] = /^([^T ]+)[T ](.+)$/i.exec(text) ?? [];
  return isDate(date) && isTime(time);
}
