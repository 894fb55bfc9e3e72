import type { Closing, LedgerRecord } from './ledger.js';

/** What is found in the store when all is over. Jobs are named by their push, which is in their payload. */
export interface FinalState {
  /** Jobs that are still there. */
  readonly jobs: readonly { readonly id: number; readonly push: string; readonly unique: string | null }[];
  readonly failed: readonly { readonly push: string }[];
  /** How often each completed job left its effect in the application's table; null on a store without transactions. */
  readonly effects: ReadonlyMap<string, number> | null;
}

export type Rule = keyof typeof RULES;

export interface Violation {
  readonly rule: Rule;
  readonly push: string;
  readonly why: string;
}

type Of<T extends LedgerRecord['what']> = Extract<LedgerRecord, { readonly what: T }>;

/** A job, and all that is known of it. */
interface History {
  readonly id: number;
  readonly push: string;
  readonly starts: readonly Of<'started'>[];
  readonly claims: readonly Of<'claimed'>[];
  readonly renewals: readonly Of<'extended'>[];
  readonly returns: readonly Of<'ended'>[];
  readonly closings: readonly Of<'closing'>[];
  readonly closed: readonly Of<'closed'>[];
  readonly commits: readonly Of<'committed'>[];
  /** What it left in the application's table; null on a store without transactions. */
  readonly effects: number | null;
}

interface Case {
  readonly records: readonly LedgerRecord[];
  readonly state: FinalState;
  readonly pushes: ReadonlyMap<string, Of<'pushing'>>;
  readonly acknowledged: readonly Of<'pushed'>[];
  readonly histories: ReadonlyMap<number, History>;
}

/** The promises, each with the function that finds where it was broken. */
const RULES = {
  /** Every push that was acknowledged ended as exactly one of done and failed. */
  lost_or_doubled: lostOrDoubled,
  /** What was rolled back or refused never ran, and is not there. */
  ran_unpushed: ranUnpushed,
  /** No handler started under a claim while another claim on that job was alive, and none twice under one. */
  claims_overlapped: claimsOverlapped,
  /** Handlers are started `maxAttempts` times at most, but for the attempt after a release. */
  started_too_often: startedTooOften,
  /** No two jobs held a unique key at one time. */
  key_held_twice: keyHeldTwice,
  /** What is in the tables is what the ledger says. */
  tables_disagree: tablesDisagree,
} as const;

/** Decides, from what all processes wrote down and from what is left in the store, which promises were broken. */
export function check(records: readonly LedgerRecord[], state: FinalState, waived: readonly Rule[] = []): Violation[] {
  const ofKind = <T extends LedgerRecord['what']>(what: T) =>
    records.filter((each): each is Of<T> => each.what === what);
  const pushes = new Map(ofKind('pushing').map((each) => [each.push, each]));
  const found: Case = { records, state, pushes, acknowledged: ofKind('pushed'), histories: historiesOf(ofKind, state) };
  // The cast: the keys of an object literal.
  const rules = (Object.keys(RULES) as Rule[]).filter((rule) => !waived.includes(rule));
  return rules.flatMap((rule) => [...RULES[rule](found)].map(([push, why]) => ({ rule, push, why })));
}

type Found = Generator<readonly [push: string, why: string]>;

function* lostOrDoubled({ acknowledged, pushes, histories, state }: Case): Found {
  const left = new Set(state.jobs.map(({ id }) => id));
  const failed = new Set(state.failed.map(({ push }) => push));
  for (const { push, id } of acknowledged) {
    const history = histories.get(id);
    // A key that was held: what was acknowledged is the holder's job.
    const holder = history?.push ?? push;
    const key = pushes.get(push)?.unique ?? null;
    if (holder !== push && (key === null || key !== pushes.get(holder)?.unique)) {
      yield [push, `its id, ${id}, is that of another job, ${holder}`];
    }
    const isFailed = failed.has(holder);
    if (isFailed && history !== undefined && surelyDone(history)) yield [push, `job ${id} is done and failed`];
    // One that is still there is for tablesDisagree to tell.
    if (!isFailed && !left.has(id) && (history === undefined || !maybeDone(history))) {
      yield [push, `job ${id} was acknowledged, and is neither done nor failed`];
    }
  }
}

function* ranUnpushed({ records, histories, state }: Case): Found {
  const refused = new Set(records.flatMap((each) => (each.what === 'not_pushed' ? [each.push] : [])));
  for (const { push, starts } of histories.values()) {
    if (starts.length > 0 && refused.has(push)) yield [push, `it was not pushed, and ran ${starts.length} times`];
  }
  for (const { push } of [...state.jobs, ...state.failed]) {
    if (refused.has(push)) yield [push, 'it was not pushed, and is in the store'];
  }
}

function* claimsOverlapped({ histories }: Case): Found {
  for (const history of histories.values()) {
    const { push, starts, claims } = history;
    const names = starts.map(({ attempts }) => attempts);
    for (const attempts of new Set(names.filter((each, index) => names.indexOf(each) !== index))) {
      yield [push, `attempt ${attempts} was started twice`];
    }
    for (const claim of claims) {
      const other = claims.find(
        (each) => each.attempts < claim.attempts && claim.atMs < surelyAliveUntil(each, history),
      );
      const isStarted = starts.some(({ attempts }) => attempts === claim.attempts);
      if (other !== undefined && isStarted) {
        const ms = Math.round(surelyAliveUntil(other, history) - claim.atMs);
        yield [push, `attempt ${claim.attempts} was started while the claim of ${other.attempts} had ${ms} ms to go`];
      }
    }
  }
}

function* startedTooOften({ histories }: Case): Found {
  for (const { push, starts, closings } of histories.values()) {
    for (const { attempts, maxAttempts } of starts) {
      const isReleased = closings.some((each) => each.by === 'release' && each.attempts === attempts - 1);
      if (attempts > maxAttempts && !isReleased) yield [push, `attempt ${attempts} of ${maxAttempts} was started`];
    }
  }
}

function* keyHeldTwice({ acknowledged, pushes, histories, state }: Case): Found {
  const holders = acknowledged.flatMap(({ push, id, atMs }) => {
    const pushing = pushes.get(push);
    if (pushing === undefined || pushing.unique === null) return [];
    const ends = histories.get(id)?.closings.filter(({ by }) => by !== 'release') ?? [];
    const untilMs = Math.min(...ends.map((each) => each.atMs));
    return [{ push, id, key: pushing.unique, askedMs: pushing.atMs, answeredMs: atMs, untilMs }];
  });
  for (const first of holders) {
    for (const second of holders) {
      const isAnother = second.id !== first.id && second.key === first.key;
      if (isAnother && second.askedMs > first.answeredMs && second.answeredMs < first.untilMs) {
        yield [second.push, `job ${second.id} was given the key ${first.key} while job ${first.id} held it`];
      }
    }
  }
  const keys = state.jobs.flatMap(({ unique }) => (unique === null ? [] : [unique]));
  for (const { push, unique } of state.jobs) {
    if (unique !== null && keys.indexOf(unique) !== keys.lastIndexOf(unique)) yield [push, `two jobs have ${unique}`];
  }
}

function* tablesDisagree({ histories, pushes, state }: Case): Found {
  const byPush = new Map([...histories.values()].map((history) => [history.push, history]));
  for (const { push, id } of state.jobs) yield [push, `job ${id} is still there`];
  const seen = new Set<string>();
  for (const { push } of state.failed) {
    if (seen.has(push)) yield [push, 'it failed twice'];
    seen.add(push);
    if (!pushes.has(push)) yield [push, 'nobody pushed it'];
    if (!hasClosing(byPush.get(push), 'fail')) yield [push, 'it is in the failed store, and nobody failed it'];
  }
  for (const { push, closed, commits, starts, effects } of histories.values()) {
    if (closed.some(({ by, acted }) => by === 'fail' && acted) && !seen.has(push)) {
      yield [push, 'it was failed, and is not in the failed store'];
    }
    if (starts.length > 0 && !pushes.has(push)) yield [push, 'it ran, and nobody pushed it'];
    if (effects !== null && effects > 1) yield [push, `it was completed ${effects} times`];
    if (effects === 0 && commits.length > 0) yield [push, 'what it committed is not there'];
  }
}

/** Until when a claim was alive, at the least: until its deadline, or until somebody set out to end it. */
function surelyAliveUntil({ attempts, askedMs, seconds }: Of<'claimed'>, { renewals, closings }: History): number {
  const renewed = renewals.filter((each) => each.attempts === attempts);
  const deadlineMs = Math.max(...[{ askedMs, seconds }, ...renewed].map((each) => each.askedMs + each.seconds * 1000));
  const ends = closings.filter((each) => each.attempts === attempts).map(({ atMs }) => atMs);
  return Math.min(deadlineMs, ...ends);
}

function surelyDone({ closed, effects }: History): boolean {
  return (effects ?? 0) > 0 || closed.some(({ by, acted }) => by === 'delete' && acted);
}

/** Whether its handler returned and its deletion was sent: the process may have died before the answer. */
function maybeDone(history: History): boolean {
  const { closings, returns } = history;
  const hasReturned = (attempts: number) =>
    returns.some((each) => each.attempts === attempts && each.how === 'returned');
  return surelyDone(history) || closings.some(({ by, attempts }) => by === 'delete' && hasReturned(attempts));
}

function hasClosing(history: History | undefined, by: Closing): boolean {
  return history?.closings.some((each) => each.by === by) ?? false;
}

function historiesOf(
  ofKind: <T extends LedgerRecord['what']>(what: T) => Of<T>[],
  { effects }: FinalState,
): Map<number, History> {
  const pushed = ofKind('pushed');
  const started = byId(ofKind('started'));
  const claims = byId(ofKind('claimed'));
  const renewals = byId(ofKind('extended'));
  const returns = byId(ofKind('ended'));
  const closings = byId(ofKind('closing'));
  const closed = byId(ofKind('closed'));
  const commits = byId(ofKind('committed'));
  // The first push that was given an id is the one that made the job; where it was claimed, the job itself says.
  const names = new Map(pushed.toReversed().map(({ id, push }) => [id, push]));
  for (const { id, push } of ofKind('claimed')) names.set(id, push);
  const ids = new Set([...names.keys(), ...started.keys(), ...closings.keys()]);
  const historyOf = (id: number, push: string): History => ({
    id,
    push,
    starts: started.get(id) ?? [],
    claims: claims.get(id) ?? [],
    renewals: renewals.get(id) ?? [],
    returns: returns.get(id) ?? [],
    closings: closings.get(id) ?? [],
    closed: closed.get(id) ?? [],
    commits: commits.get(id) ?? [],
    effects: effects === null ? null : (effects.get(push) ?? 0),
  });
  return new Map([...ids].map((id) => [id, historyOf(id, started.get(id)?.[0]?.push ?? names.get(id) ?? '')]));
}

function byId<T extends { readonly id: number }>(records: readonly T[]): Map<number, T[]> {
  const found = new Map<number, T[]>();
  for (const record of records) {
    const others = found.get(record.id);
    if (others === undefined) found.set(record.id, [record]);
    else others.push(record);
  }
  return found;
}
