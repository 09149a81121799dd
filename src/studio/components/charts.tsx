// Small SVG charts of a session with text alternatives: tokens, cost, context and time by turn.
import type { Usage } from "../../protocol/event.ts";
import { addUsage, noUsage } from "../../protocol/usage.ts";
import { dollars, duration, tokenCount } from "../../view/numbers.ts";
import type { TurnNumbers } from "./timeline/blocks.ts";

type ChartProps = { turns: readonly TurnNumbers[] };

/** Shows the tokens of each turn. */
export function UsageChart({ turns }: ChartProps) {
  const bars = turns.map((turn) => {
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = turn.usage ?? noUsage;
    return {
      turn: turn.number,
      parts: [
        { class: "cr-chart-soft", value: cacheReadTokens },
        { class: "cr-chart-accent", value: inputTokens + cacheWriteTokens },
        { class: "cr-chart-good", value: outputTokens },
      ],
      words: `${tokenCount(inputTokens + cacheReadTokens + cacheWriteTokens)} in, ${tokenCount(outputTokens)} out`,
    };
  });
  const sum = turns.reduce((all, turn) => (turn.usage ? addUsage(all, turn.usage) : all), noUsage as Usage);
  const words = `${tokenCount(sum.inputTokens + sum.cacheReadTokens + sum.cacheWriteTokens)} in, ${tokenCount(sum.outputTokens)} out`;
  return <Bars title="Tokens by turn" words={words} bars={bars} />;
}

/** Shows the cost of each day. */
export function CostChart({ turns }: ChartProps) {
  const bars = turns.map(({ number, costUsd = 0 }) => ({
    turn: number,
    parts: [{ class: "cr-chart-accent", value: costUsd }],
    words: dollars(costUsd),
  }));
  return (
    <Bars title="Cost by turn" words={dollars(turns.reduce((sum, { costUsd = 0 }) => sum + costUsd, 0))} bars={bars} />
  );
}

/** Shows the duration of each turn. */
export function TimeChart({ turns }: ChartProps) {
  const bars = turns.map((turn) => {
    const { parts } = turnDurations([turn]);
    return {
      turn: turn.number,
      parts: parts.map(({ class: kind, ms }) => ({ class: kind, value: ms })),
      words: parts.flatMap(({ name, ms }) => (ms > 0 ? `${name.toLowerCase()} ${duration(ms)}` : [])).join(", "),
    };
  });
  const sum = turns.reduce((all, { durationMs }) => all + durationMs, 0);
  return <Bars title="Time by turn" words={duration(sum)} bars={bars} />;
}

/** Shows how full the context window was after each turn, with its size if known. */
export function ContextChart({ turns }: ChartProps) {
  const turnContexts = turns.flatMap(({ number, context }) => (context ? [{ turn: number, ...context }] : []));
  const bars = turnContexts.map(({ turn, used, window }) => ({
    turn,
    parts: [
      { class: window !== undefined && used > nearlyFull * window ? "cr-chart-warn" : "cr-chart-accent", value: used },
    ],
    words: fillWords(used, window),
  }));
  const last = turnContexts.at(-1);
  const window = Math.max(0, ...turnContexts.map((each) => each.window ?? 0));
  if (!last) return null;
  return <Bars title="Context by turn" words={fillWords(last.used, last.window)} bars={bars} full={window} />;
}

const nearlyFull = 0.85;

function fillWords(used: number, window: number | undefined): string {
  if (window === undefined) return tokenCount(used);
  return `${tokenCount(used)} of ${tokenCount(window)}, ${Math.round((100 * used) / window)} %`;
}

/** The number and cost of the runs of one day. */
export type DayNumbers = { day: string; runs: number; costUsd: number };

/** Shows the cost of each of the last days, or the number of sessions if no price is known. */
export function DaysChart({ days }: { days: readonly DayNumbers[] }) {
  const isPriced = days.some(({ costUsd }) => costUsd > 0);
  const heightOf = ({ costUsd, runs }: DayNumbers) => (isPriced ? costUsd : runs);
  const dayLabel = ({ costUsd, runs }: DayNumbers) => `${isPriced ? `${dollars(costUsd)}, ` : ""}${runs} sessions`;
  const highest = Math.max(...days.map(heightOf), Number.MIN_VALUE);
  const title = `${isPriced ? "cost" : "sessions"} a day, ${days.length} days`;
  return (
    <figure class="cr-chart cr-days">
      <svg viewBox={`0 0 ${days.length * 20} ${height}`} preserveAspectRatio="none" role="img" aria-label={title}>
        {days.map((day, index) => {
          const size = heightOf(day) > 0 ? Math.max(1.5, (heightOf(day) / highest) * height) : 0.5;
          return (
            <g key={day.day}>
              <title>{`${day.day}: ${dayLabel(day)}`}</title>
              <rect class="cr-chart-none" x={index * 20} y={0} width={18} height={height} />
              <rect
                class={heightOf(day) > 0 ? "cr-chart-accent" : "cr-chart-ground"}
                x={index * 20}
                y={height - size}
                width={18}
                height={size}
              />
            </g>
          );
        })}
      </svg>
      <figcaption>
        <span>{dayName(days[0]?.day)}</span>
        <span>{title}</span>
      </figcaption>
    </figure>
  );
}

function dayName(day: string | undefined): string {
  return day === undefined ? "" : new Date(`${day}T12:00`).toLocaleDateString([], { day: "numeric", month: "short" });
}

type Bar = { turn: number; parts: { class: string; value: number }[]; words: string };

/** The maximum number of bars; if there are more turns, only the last ones are drawn. */
const maxBars = 60;
const height = 48;

/** `full` is the value of a full bar, if that is more than the highest one. */
function Bars({ title, words, bars, full = 0 }: { title: string; words: string; bars: readonly Bar[]; full?: number }) {
  const visibleBars = bars.slice(-maxBars);
  const highest = Math.max(full, ...visibleBars.map(({ parts }) => sumOf(parts)), Number.MIN_VALUE);
  const width = Math.max(12, visibleBars.length) * 8;
  return (
    <figure class="cr-chart">
      <figcaption>
        <span>{title}</span>
        <span class="cr-number">{words}</span>
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={`${title}: ${words}`}>
        {visibleBars.map((bar, index) => (
          <g key={bar.turn}>
            <title>{`Turn ${bar.turn}: ${bar.words}`}</title>
            <rect class="cr-chart-ground" x={index * 8} y={0} width={6} height={height} />
            {stackParts(bar.parts, highest).map((part) => (
              <rect key={part.class} class={part.class} x={index * 8} y={part.y} width={6} height={part.height} />
            ))}
          </g>
        ))}
      </svg>
    </figure>
  );
}

function stackParts(parts: Bar["parts"], highest: number) {
  let y = height;
  return parts.map((part) => {
    // Draw values other than zero at least one pixel high.
    const size = part.value > 0 ? Math.max(1, (part.value / highest) * height) : 0;
    y -= size;
    return { class: part.class, y, height: size };
  });
}

function sumOf(parts: Bar["parts"]): number {
  return parts.reduce((sum, { value }) => sum + value, 0);
}

/** Shows in one line how much of the context window is in use. */
export function ContextMeter({ used, window }: { used: number; window: number }) {
  const share = window > 0 ? Math.min(1, used / window) : 0;
  const words = `${Math.round(share * 100)} %`;
  return (
    <div class="cr-meter">
      <span>context</span>
      <svg
        viewBox="0 0 120 6"
        preserveAspectRatio="none"
        role="img"
        aria-label={`Context: ${words} of ${tokenCount(window)} tokens`}
      >
        <rect class="cr-chart-ground" width={120} height={6} rx={3} />
        <rect class={share > nearlyFull ? "cr-chart-warn" : "cr-chart-accent"} width={120 * share} height={6} rx={3} />
      </svg>
      <span class="cr-number">{words}</span>
    </div>
  );
}

/** Shows in one bar how the time of the turns was spent; waiting for the user counts for neither the model nor the tools. */
export function TimeBar({ turns }: ChartProps) {
  const { total, parts } = turnDurations(turns);
  const visibleParts = parts.filter(({ ms, isAlways }) => isAlways || ms > 0);
  let x = 0;
  return (
    <figure class="cr-chart">
      <svg
        viewBox="0 0 120 8"
        preserveAspectRatio="none"
        role="img"
        aria-label={visibleParts.map(({ name, ms }) => `${name} ${duration(ms)}`).join(", ")}
      >
        <rect class="cr-chart-ground" width={120} height={8} />
        {visibleParts.map(({ name, ms, class: kind }) => {
          const width = total > 0 ? (120 * ms) / total : 0;
          x += width;
          return <rect key={name} class={kind} x={x - width} width={width} height={8} />;
        })}
      </svg>
      <dl class="cr-times">
        {visibleParts.map(({ name, ms, class: kind }) => (
          <div key={name}>
            <dt>
              <svg viewBox="0 0 8 8" aria-hidden="true">
                <rect class={kind} width={8} height={8} rx={2} />
              </svg>
              {name}
            </dt>
            <dd class="cr-number">{duration(ms)}</dd>
          </div>
        ))}
      </dl>
    </figure>
  );
}

function turnDurations(turns: readonly TurnNumbers[]) {
  const sum = (of: (turn: TurnNumbers) => number) => turns.reduce((all, turn) => all + of(turn), 0);
  const total = sum(({ durationMs }) => durationMs);
  const waiting = Math.min(
    total,
    sum(({ waitMs = 0 }) => waitMs),
  );
  const tools = Math.min(
    total - waiting,
    sum(({ toolMs }) => toolMs),
  );
  const parts = [
    { name: "Model", ms: total - tools - waiting, class: "cr-chart-accent", isAlways: true },
    { name: "Tools", ms: tools, class: "cr-chart-good", isAlways: true },
    { name: "Waiting for you", ms: waiting, class: "cr-chart-warn", isAlways: false },
  ];
  return { total, parts };
}
