import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Harness, TestStore } from '@q/conformance';
import { Journal, JournalDriver } from '../src/index.js';
import { dateOf, type FailedRow, failedJob, KEYS, type Row } from '../src/rows.js';

/** A fresh journal for each case; every client of it reads and writes the file by itself, as another process would. */
export const harness: Harness = {
  abilities: ['reports', 'leases', 'inspection'],
  // A journal has no columns that could have a default, and its ids are the numbers of JSON.
  lacks: ['columnDefaults', 'chosenIds'],
  open: async ({ now }) => {
    const folder = await mkdtemp(join(tmpdir(), 'journal-'));
    const path = join(folder, 'jobs.journal');
    const opened: Journal[] = [];
    const open = () => {
      const journal = new Journal(path);
      opened.push(journal);
      return journal;
    };
    const connect = async () => new JournalDriver(open(), { now });
    const close = async () => {
      for (const journal of opened) journal.close();
      await rm(folder, { recursive: true });
    };
    return { driver: await connect(), connect, close, ...backDoors(open()) };
  },
};

type Stored = Required<Pick<TestStore, 'insertRow' | 'jobRows' | 'failedRows'>>;

/** What is stored, looked at and written past the driver. */
function backDoors(journal: Journal): Stored {
  return {
    insertRow: async (given) =>
      journal.transact((transaction) => {
        const id = (transaction.get<number>(KEYS.lastId) ?? 0) + 1;
        const row: Row = { ...DEFAULTS, ...given, id, ...secondsOf(given) };
        transaction.set(KEYS.job(id), row);
        transaction.set(KEYS.lastId, id);
        if (row.unique !== null) transaction.set(KEYS.unique(row.unique), id);
        return id;
      }),
    jobRows: async () =>
      journal.transact((transaction) =>
        transaction.keys(KEYS.jobs).flatMap((key) => {
          const row = transaction.get<Row>(key);
          return row === undefined ? [] : [{ ...row, ...datesOf(row) }];
        }),
      ),
    failedRows: async () =>
      journal.transact((transaction) =>
        transaction.keys(KEYS.failures).flatMap((key) => {
          const row = transaction.get<FailedRow>(key);
          return row === undefined ? [] : [failedJob(row)];
        }),
      ),
  };
}

const DEFAULTS = {
  queue: 'default',
  priority: 0,
  unique: null,
  maxAttempts: 3,
  attempts: 0,
  reservedBy: null,
  lastError: '',
};

interface Moments<M> {
  readonly availableAt: M;
  readonly createdAt: M;
  readonly reservedUntil: M | null;
}

function secondsOf(row: Pick<Moments<Date>, 'availableAt' | 'createdAt'> & Partial<Moments<Date>>): Moments<number> {
  const seconds = (moment: Date) => moment.getTime() / 1000;
  return {
    availableAt: seconds(row.availableAt),
    createdAt: seconds(row.createdAt),
    reservedUntil: row.reservedUntil ? seconds(row.reservedUntil) : null,
  };
}

function datesOf(row: Moments<number>): Moments<Date> {
  return {
    availableAt: dateOf(row.availableAt),
    createdAt: dateOf(row.createdAt),
    reservedUntil: row.reservedUntil === null ? null : dateOf(row.reservedUntil),
  };
}
