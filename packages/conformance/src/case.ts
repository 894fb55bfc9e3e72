import type {
  Ability,
  FailedJob,
  QueueBatches,
  QueueBatchLeases,
  QueueDiagnosis,
  QueueDriver,
  QueueInspection,
  QueueLeases,
  QueueReports,
  QueueSchema,
  QueueScratch,
  QueueSyncPush,
  QueueTransactions,
  QueueTurnover,
  QueueWakeups,
} from '@q/core';
import type { Clock } from './clock.js';
import type { Harness, JobRow, Need, NewRow, TestStore, TestTransaction } from './harness.js';
import type { RuleId } from './rules.js';

/** One sentence about drivers, and how to find out whether it is true of this one. */
export interface ConformanceCase {
  /** `<topic>/<what>`: stable, for reports, mutants and links. */
  readonly id: string;
  /** What is true of every driver that conforms: a sentence. */
  readonly name: string;
  readonly rule: RuleId;
  /** Where one of these is missing the case is skipped. */
  readonly needs: readonly Need[];
  /** Rejects where the sentence is not true. The store is fresh and this case's alone. */
  run(context: CaseContext): Promise<void>;
}

/** What a case is run with. `aCase` narrows it to what the case says it needs. */
export interface CaseContext {
  readonly harness: Harness;
  readonly clock: Clock;
  readonly store: TestStore;
}

interface AbilityTypes {
  reports: QueueReports;
  transactions: QueueTransactions<unknown>;
  batches: QueueBatches;
  leases: QueueLeases;
  batchLeases: QueueBatchLeases;
  turnover: QueueTurnover;
  wakeups: QueueWakeups;
  syncPush: QueueSyncPush;
  schema: QueueSchema;
  inspection: QueueInspection;
  scratch: QueueScratch;
  diagnosis: QueueDiagnosis;
}

interface BackDoors {
  insertRow: { insertRow(row: NewRow): Promise<number> };
  jobRows: { jobRows(): Promise<readonly JobRow[]> };
  failedRows: { failedRows(): Promise<readonly FailedJob[]> };
  transactions: {
    begin(): Promise<TestTransaction>;
    notes(): Promise<readonly string[]>;
    readonly notTransactions: readonly unknown[];
  };
}

type Intersection<U> = (U extends unknown ? (value: U) => void : never) extends (value: infer I) => void ? I : never;

/** A driver with the abilities among a case's needs. */
export type DriverWith<N extends Need> = QueueDriver & Intersection<AbilityTypes[N & Ability]>;

/** What a case's `run` is given: no ability and no back door that the case does not say it needs. */
export type Context<N extends Need> = {
  readonly harness: Harness;
  readonly clock: Clock;
  readonly driver: DriverWith<N>;
  connect(): Promise<DriverWith<N>>;
} & Intersection<BackDoors[N & keyof BackDoors]>;

export interface CaseDefinition<N extends Need> {
  readonly id: string;
  readonly name: string;
  readonly rule: RuleId;
  readonly needs?: readonly N[];
  run(context: Context<N>): Promise<void>;
}

/** A case, typed by what it needs: what it did not ask for does not compile. */
export function aCase<const N extends Need = never>(definition: CaseDefinition<N>): ConformanceCase {
  const { id, name, rule, needs = [] } = definition;
  return {
    id,
    name,
    rule,
    needs,
    run: async ({ harness, clock, store }) => {
      const open = new Set<TestTransaction>();
      const whole = {
        harness,
        clock,
        driver: store.driver,
        connect: () => store.connect(),
        insertRow: store.insertRow?.bind(store),
        jobRows: store.jobRows?.bind(store),
        failedRows: store.failedRows?.bind(store),
        begin: () => beginTracked(store, open),
        notes: store.notes?.bind(store),
        notTransactions: store.notTransactions,
      };
      // The cast: a case is run only where the harness has all it needs (run.ts); the rest its type does not show.
      try {
        await definition.run(whole as unknown as Context<N>);
      } finally {
        for (const transaction of open) await rollBackQuietly(transaction);
      }
    },
  };
}

/** Begins a transaction of the application's, kept in `open` until it is ended. */
async function beginTracked(store: TestStore, open: Set<TestTransaction>): Promise<TestTransaction> {
  const transaction = await store.begin?.();
  if (transaction === undefined) throw new Error('the store has no begin');
  const ending = (end: () => Promise<void>) => async () => {
    open.delete(tracked);
    await end();
  };
  const tracked: TestTransaction = {
    tx: transaction.tx,
    note: (text) => transaction.note(text),
    commit: ending(() => transaction.commit()),
    rollback: ending(() => transaction.rollback()),
  };
  open.add(tracked);
  return tracked;
}

/** A case that failed in the middle of a transaction has said why; that its rollback fails too is no news. */
async function rollBackQuietly(transaction: TestTransaction): Promise<void> {
  try {
    await transaction.rollback();
  } catch {}
}
