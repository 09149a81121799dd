// Names the streams and subjects of a fleet on its server. Several fleets share a server under different prefixes.
import { type StreamName, streamNames } from "./server.ts";

export class Names {
  readonly prefix: string;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  /** `runs` and `state` are named as key-value buckets, so that NATS tools can show them. */
  stream(name: StreamName): string {
    return isBucket(name) ? `KV_${this.prefix}_${name}` : `${this.prefix}_${name}`;
  }

  streams(): string[] {
    return streamNames.map((name) => this.stream(name));
  }

  subject(name: StreamName, key: string): string {
    return isBucket(name) ? `$KV.${this.prefix}_${name}.${key}` : `${this.prefix}.${name}.${key}`;
  }

  /** The subject under which stored messages are republished; messages that the stream refused are not. */
  live(name: StreamName, key: string): string {
    return `${this.prefix}.live.${name}.${key}`;
  }

  keyOf(name: StreamName, subject: string): string {
    return subject.slice(this.subject(name, "").length);
  }

  keyOfLive(name: StreamName, subject: string): string {
    return subject.slice(this.live(name, "").length);
  }

  get lanes(): string {
    return `${this.prefix}.news.lanes`;
  }

  get objects(): string {
    return `${this.prefix}_objects`;
  }

  get objectStream(): string {
    return `OBJ_${this.objects}`;
  }

  piece(id: string): string {
    return `$O.${this.objects}.C.${id}`;
  }

  description(name: string): string {
    return `$O.${this.objects}.M.${name}`;
  }
}

export function isBucket(name: StreamName): boolean {
  return name === "runs" || name === "state";
}
