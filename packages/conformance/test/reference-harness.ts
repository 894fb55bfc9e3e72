import { ABILITIES, type Ability } from '@q/core';
import type { Harness, JobRow, NewRow, TestStore, TestTransaction } from '../src/index.js';
import { ReferenceDriver } from './reference-driver.js';
import { MemoryStore, type Row } from './reference-store.js';

/** A driver of the shape of the reference driver: the reference itself, or a mutant of it. */
export type DriverClass = new (store: MemoryStore, now: () => Date) => ReferenceDriver;

/** The harness of the reference driver, or of a mutant. */
export function referenceHarness(Driver: DriverClass = ReferenceDriver): Harness {
  return {
    abilities: Object.keys(ABILITIES) as Ability[],
    open: async ({ now }) => testStore(Driver, new MemoryStore(), now),
  };
}

function testStore(Driver: DriverClass, store: MemoryStore, now: () => Date): TestStore {
  return {
    driver: new Driver(store, now),
    connect: async () => new Driver(store, now),
    close: async () => {},
    insertRow: async (row) => insert(store, row),
    jobRows: async () => [...store.jobs.values()].map(jobRow),
    failedRows: async () =>
      [...store.failed.values()].map((row) => ({ ...row, failedAt: new Date(row.failedAt * 1000) })),
    begin: async () => testTransaction(store),
    notes: async () => [...store.notes],
    // What an application may pass by mistake: its database, and a transaction that is over.
    notTransactions: [store, ended()],
  };
}

function testTransaction(store: MemoryStore): TestTransaction {
  const tx = store.begin();
  return {
    tx,
    note: async (text) => {
      tx.notes.push(text);
    },
    commit: async () => tx.commit(),
    rollback: async () => tx.rollback(),
  };
}

function insert(store: MemoryStore, { availableAt, reservedUntil, createdAt, ...row }: NewRow): number {
  const id = row.id === undefined ? store.nextJobId() : Number(row.id);
  const defaults = { queue: 'default', attempts: 0, maxAttempts: 3, priority: 0, unique: null, lastError: '' };
  const times = {
    availableAt: seconds(availableAt),
    reservedUntil: reservedUntil === null || reservedUntil === undefined ? null : seconds(reservedUntil),
    createdAt: seconds(createdAt),
  };
  store.add({ ...defaults, reservedBy: null, ...row, ...times, id });
  return id;
}

function jobRow({ availableAt, reservedUntil, createdAt, ...row }: Row): JobRow {
  return {
    ...row,
    availableAt: new Date(availableAt * 1000),
    reservedUntil: reservedUntil === null ? null : new Date(reservedUntil * 1000),
    createdAt: new Date(createdAt * 1000),
  };
}

function seconds(moment: Date): number {
  return moment.getTime() / 1000;
}

function ended(): unknown {
  const tx = new MemoryStore().begin();
  tx.commit();
  return tx;
}
