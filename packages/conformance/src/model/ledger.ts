import type { NewJob, ReservedJob } from '@q/core';
import type { Acted } from './playing.js';

/** A claim that was handed out, and what is known to have become of it. */
export interface KnownClaim {
  readonly job: ReservedJob;
  /** In which round it was handed out. */
  readonly round: number;
  /** When it ends, in seconds: several where calls that moved its end overlapped, and one of them was the last. */
  deadlines: readonly number[];
  end: { readonly act: Acted; readonly round: number; readonly due: number } | null;
}

export interface KnownPush {
  readonly job: NewJob;
  readonly payloadJson: string;
  readonly id: number;
  /** When it is due, in seconds. */
  readonly due: number;
}

/** What is known for certain of all that has happened, whoever went first. */
export class Ledger {
  /** The claims on each job, the first one first. */
  readonly claims = new Map<number, KnownClaim[]>();
  readonly pushes: KnownPush[] = [];
  /** How many requeued jobs the retries have told of. */
  requeued = 0;
  /** The payload of every job that was seen, by its id. */
  readonly #payloads = new Map<number, string>();

  saw({ id, payloadJson }: { readonly id: number; readonly payloadJson: string }): void {
    this.#payloads.set(id, payloadJson);
  }

  payloadOf(id: number): string | undefined {
    return this.#payloads.get(id);
  }

  /** How many jobs there have been beyond the first of each payload: those are requeued ones. */
  countRequeued(): number {
    return this.#payloads.size - new Set(this.#payloads.values()).size;
  }

  claimsOn(id: number): readonly KnownClaim[] {
    return this.claims.get(id) ?? [];
  }

  add(claim: KnownClaim): void {
    this.claims.set(claim.job.id, [...this.claimsOn(claim.job.id), claim]);
  }

  /** The push whose job this is, not one that found the key held. */
  pushOf(payloadJson: string): KnownPush | undefined {
    return this.pushes.find((push) => push.payloadJson === payloadJson);
  }

  wasDeleted(payloadJson: string): boolean {
    return [...this.claims.values()].flat().some(({ job, end }) => {
      return job.payloadJson === payloadJson && end?.act.method === 'delete';
    });
  }
}
