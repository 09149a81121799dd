// Formats how long ago something was, in a word or two.

export function ageOf(time: number, now: number): string {
  const minutes = Math.floor((now - time) / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h`;
  if (minutes < 60 * 24 * 60) return `${Math.floor(minutes / (24 * 60))} days`;
  return dayOf(time);
}

function dayOf(time: number): string {
  const day = new Date(time);
  return Number.isNaN(day.getTime()) ? "?" : day.toISOString().slice(0, 10);
}
