import { hasReports, type QueueDriver } from '@q/core';
import type { Clock } from '../clock.js';
import type { TestStore } from '../harness.js';
import { same } from './compare.js';
import { claimTold, Disagreement } from './in-short.js';
import { type KnownClaim, Ledger } from './ledger.js';
import type { Acted, Played, ReservedGiven } from './playing.js';
import { countPending, judgeStored } from './stored.js';
import { endOf, secondOf } from './time.js';
import type { Client } from './world.js';

/**
 * Judges rounds of calls that overlapped. It knows what was asked and answered, not in which order; so each of its methods
 * asserts one thing that is true whatever that was. The clock stands still during a round.
 */
export class Referee {
  readonly #ledger = new Ledger();
  readonly #store: TestStore;
  readonly #clock: Clock;
  readonly #clients: Readonly<Record<Client, QueueDriver>>;
  #round = 0;

  constructor(store: TestStore, clock: Clock, clients: Readonly<Record<Client, QueueDriver>>) {
    this.#store = store;
    this.#clock = clock;
    this.#clients = clients;
  }

  async judge(played: Played): Promise<void> {
    this.#round += 1;
    for (const { job, id } of played.pushes) {
      const due = endOf(this.#clock.now(), job.delay);
      this.#ledger.pushes.push({ job, id, due, payloadJson: JSON.stringify(job.payload) });
    }
    this.#ledger.requeued += played.requeued;
    const taken = played.given.toSorted((a, b) => a.job.attempts - b.job.attempts).map((one) => this.#isGivenOnce(one));
    for (const act of played.acts) if (act.acted) this.#mayAct(act);
    for (const act of played.acts) if (!act.acted) this.#mayNotAct(act);
    for (const claim of taken) this.#mayBeGiven(claim, played.acts);
    for (const { claim } of played.acts) this.#moveDeadline(claim, played.acts);
    await this.#compareStored();
  }

  /** In the end, when nobody is given anything any more, nothing is pending. */
  async nothingLeft(): Promise<void> {
    for (const [name, client] of Object.entries(this.#clients)) same(`pending, for ${name}`, await client.pending(), 0);
  }

  /** Every claim is given once, and counts the claims before it: reserving is the attempt. */
  #isGivenOnce({ job, timeout }: ReservedGiven): KnownClaim {
    same(`the attempt of job ${job.id}`, job.attempts, this.#ledger.claimsOn(job.id).length + 1);
    const deadlines = [endOf(this.#clock.now(), timeout)];
    const claim: KnownClaim = { job, round: this.#round, deadlines, end: null };
    this.#ledger.saw(job);
    this.#ledger.add(claim);
    return claim;
  }

  /** Who acts holds the claim: nobody took it over or ended it in an earlier round, and of those that end it one acts. */
  #mayAct(act: Acted): void {
    const { method, claim, seconds } = act;
    const what = `${method} of ${claimTold(claim)} acted though`;
    const known = this.#known(claim);
    const next = this.#ledger.claimsOn(claim.id)[claim.attempts];
    if (next !== undefined && next.round < this.#round) throw new Disagreement(`${what} the job was taken over before`);
    if (known.end !== null && known.end.round < this.#round)
      throw new Disagreement(`${what} its claim was ended before`);
    if (method === 'extend') return;
    if (known.end !== null) throw new Disagreement(`${what} so did another call that ends the claim`);
    if (next !== undefined && method !== 'release')
      throw new Disagreement(`${what} the job was given to another afterwards`);
    known.end = { act, round: this.#round, due: endOf(this.#clock.now(), seconds) };
  }

  /** Who holds a claim is not refused: it was ended, or taken over. */
  #mayNotAct({ method, claim }: Acted): void {
    const isLost = this.#known(claim).end !== null || this.#ledger.claimsOn(claim.id).length > claim.attempts;
    if (!isLost)
      throw new Disagreement(`${method} of ${claimTold(claim)} was refused though nobody else had ended the claim`);
  }

  /** A job is given when it is due, and when the claim before was released or has expired. */
  #mayBeGiven({ job }: KnownClaim, acts: readonly Acted[]): void {
    const now = secondOf(this.#clock.now());
    const previous = this.#ledger.claimsOn(job.id)[job.attempts - 2];
    const what = `job ${job.id} was given`;
    const due = previous?.end?.due ?? this.#dueWhenPushed(job);
    if (due > now) throw new Disagreement(`${what} before it was due`);
    same(`whether job ${job.id} is reclaimed`, job.reclaimed, previous !== undefined && previous.end === null);
    if (previous === undefined || previous.end !== null) return;
    const isExpired = this.#deadlines(previous, acts).some((deadline) => deadline <= now);
    if (!isExpired) throw new Disagreement(`${what} while another claim on it was alive`);
  }

  /** A requeued job is due at once. */
  #dueWhenPushed({ id, payloadJson }: KnownClaim['job']): number {
    const push = this.#ledger.pushOf(payloadJson);
    return push?.id === id ? push.due : 0;
  }

  #moveDeadline(claim: Acted['claim'], acts: readonly Acted[]): void {
    const known = this.#known(claim);
    known.deadlines = this.#deadlines(known, acts);
  }

  /** When a claim may end after the acts of this round: where it was extended, any of the extensions may be the last. */
  #deadlines({ job, deadlines }: KnownClaim, acts: readonly Acted[]): readonly number[] {
    const extensions = acts.filter(({ method, claim, acted }) => {
      return method === 'extend' && acted && claim.id === job.id && claim.attempts === job.attempts;
    });
    if (extensions.length === 0) return deadlines;
    return extensions.map(({ seconds }) => endOf(this.#clock.now(), seconds));
  }

  /** What is stored is what was answered, and every count agrees with it; where the harness can look. */
  async #compareStored(): Promise<void> {
    const { jobRows, failedRows } = this.#store;
    if (jobRows === undefined || failedRows === undefined) return;
    const rows = (await this.#store.jobRows?.()) ?? [];
    const failed = (await this.#store.failedRows?.()) ?? [];
    judgeStored(this.#ledger, { rows, failed });
    const pending = countPending(rows, this.#clock.now());
    for (const [name, client] of Object.entries(this.#clients)) {
      same(`pending, for ${name}`, await client.pending(), pending);
      if (hasReports(client)) same(`failedCount, for ${name}`, await client.failedCount(), failed.length);
    }
  }

  #known({ id, attempts }: Acted['claim']): KnownClaim {
    const claim = this.#ledger.claimsOn(id)[attempts - 1];
    if (claim === undefined) throw new Disagreement(`there is no claim on job ${id} of attempt ${attempts}`);
    return claim;
  }
}
