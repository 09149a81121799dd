// Who is asked next: the profiles of the model, then its fallback models. What was refused rests for a while.
import { type CheckedConfig, type Model, plainProfile } from "./config.ts";
import type { FailureKind } from "./failure.ts";

/** A model with one of its auth profiles. */
export type ModelProfile = { model: Model; profile: string; env: Readonly<Record<string, string | undefined>> };

/** How long a profile rests that was refused, and one that was used too much. */
const restMs: Partial<Record<FailureKind, number>> = { auth: 600_000, limit: 60_000 };

/** Lasts as long as the adapter: a profile that was refused in one turn is not tried first in the next. */
export class Rotation {
  readonly #config: CheckedConfig;
  readonly #now: () => number;
  readonly #restsUntil = new Map<string, number>();

  constructor(config: CheckedConfig, now: () => number = Date.now) {
    this.#config = config;
    this.#now = now;
  }

  /** Everyone who may answer for a model, best first. `preferred`: who answered before in the same matter. */
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

  /** Those left to try, in order, after one has failed; its profile may have to rest. */
  after(failed: ModelProfile, kind: FailureKind, left: readonly ModelProfile[]): ModelProfile[] {
    const rest = restMs[kind];
    if (rest === undefined) return left.filter(({ model }) => model !== failed.model);
    this.#restsUntil.set(accountOf(failed), this.#now() + rest);
    // A model that shares command and profile with this one may still have an account of its own, by its arguments.
    return [...left];
  }

  /** Rested ones first; of the others, the one whose rest ends soonest. */
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

/** The same name may mean another account to another CLI. */
function accountOf({ model, profile }: ModelProfile): string {
  return `${model.command}\0${profile}`;
}
