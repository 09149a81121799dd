// A bar for every line of the benchmark, with its limit, as an SVG picture.

export type Bar = { name: string; value: number; limit?: number; unit: string; better: "less" | "more" };

export function plot(bars: readonly Bar[], title: string): string {
  const rowHeight = 30;
  const left = 360;
  const width = 930;
  const height = 60 + bars.length * rowHeight;
  const rows = bars.map((bar, index) => {
    const most = Math.max(bar.value, bar.limit ?? bar.value) * 1.15;
    const scale = (value: number) => ((width - left - 120) * value) / most;
    const y = 50 + index * rowHeight;
    const good = bar.limit === undefined || (bar.better === "less" ? bar.value <= bar.limit : bar.value >= bar.limit);
    const limit =
      bar.limit === undefined
        ? ""
        : `<line x1="${left + scale(bar.limit)}" x2="${left + scale(bar.limit)}" y1="${y - 3}" y2="${y + 21}" stroke="#444" stroke-dasharray="3 2"/>`;
    const label = `${format(bar.value)} ${bar.unit}${bar.limit === undefined ? "" : ` (${bar.better === "less" ? "≤" : "≥"} ${format(bar.limit)})`}`;
    return `<text x="${left - 10}" y="${y + 14}" text-anchor="end">${escapeXml(bar.name)}</text><rect x="${left}" y="${y}" width="${scale(bar.value).toFixed(1)}" height="18" fill="${good ? "#3a7d44" : "#b3261e"}"/>${limit}<text x="${left + Math.max(scale(bar.value), scale(bar.limit ?? 0)) + 8}" y="${y + 14}" fill="#444">${escapeXml(label)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13"><rect width="${width}" height="${height}" fill="#fff"/><text x="20" y="28" font-size="16" font-weight="600">${escapeXml(title)}</text>${rows.join("")}</svg>\n`;
}

function format(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}

function escapeXml(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
}
