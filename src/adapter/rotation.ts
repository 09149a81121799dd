// Chooses the next candidate: the profiles of the model, then its fallback models. A refused profile rests for a while.
import { type CheckedConfig, type Model, plainProfile } from "./config.ts";
import type { FailureKind } from "./failure.ts";

/** A model with one of its auth profiles. */
export type ModelProfile = { model: Model; profile: string; env: Readonly<Record<string, string | undefined>> };

/** For how many milliseconds a profile is not used after an auth failure or a rate limit. */
const restMs: Partial<Record<FailureKind, number>> = { auth: 600_000, limit: 60_000 };

/** Lives as long as the adapter: a profile refused in one turn is not tried first in the next. */
export class Rotation {
  readonly #config: CheckedConfig;
  readonly #now: () => number;
  readonly #restsUntil = new Map<string, number>();

  constructor(config: CheckedConfig, now: () => number = Date.now) {
    this.#config = config;
    this.#now = now;
  }

  /** All candidates for a model, best first. `preferred` is the one that answered before in the same conversation. */
  candidates(name: string, preferred?: { model: string; profile: string }): ModelProfile[] {
    const isPreferred = ({ model, profile }: ModelProfile) =>
      model.name === preferred?.model && profile === preferred.profile;
    const all = this.#inOrder(name);
    return [...all.filter(isPreferred), ...all.filter((each) => !isPreferred(each))];
  }

  #inOrder(name: string): ModelProfile[] {
    const model = this.#config.models.get(name);
    if (!model) return [];
    const models = [model, ...model.fallbackModels.flatMap((each) => this.#config.models.get(each) ?? [])];
    return [...new Set(models)].filter((each) => each.enabled).flatMap((each) => this.#ofModel(each));
  }

  /** The candidates left to try, in order, after one has failed; puts its profile to rest if needed. */
  after(failed: ModelProfile, kind: FailureKind, left: readonly ModelProfile[]): ModelProfile[] {
    const rest = restMs[kind];
    if (rest === undefined) return left.filter(({ model }) => model !== failed.model);
    this.#restsUntil.set(accountOf(failed), this.#now() + rest);
    // A model with the same command and profile may still use another account, through its arguments.
    return [...left];
  }

  /** Profiles that are not resting first; then those whose rest ends soonest. */
  #ofModel(model: Model): ModelProfile[] {
    const now = this.#now();
    const restLeft = (each: ModelProfile) => Math.max(0, (this.#restsUntil.get(accountOf(each)) ?? 0) - now);
    return [...new Set(model.authProfiles)]
      .map((profile) => ({ model, profile, env: this.#environment(profile) }))
      .sort((one, other) => restLeft(one) - restLeft(other));
  }

  #environment(profile: string): Record<string, string | undefined> {
    const env = this.#config.profiles.get(profile);
    if (!env && profile !== plainProfile) throw new Error(`the profile ${profile} was not checked`);
    return Object.fromEntries(Object.entries(env ?? {}).map(([name, value]) => [name, value ?? undefined]));
  }
}

/** Returns a key for the account: the same profile name may mean another account for another CLI. */
function accountOf({ model, profile }: ModelProfile): string {
  return `${model.command}\0${profile}`;
}
