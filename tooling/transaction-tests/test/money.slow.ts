import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type {} from '@q/servers/vitest/mariadb';
import type {} from '@q/servers/vitest/postgres';
import { describe, expect, inject, it } from 'vitest';
import { OPENING_BALANCE, TABLES, type Transfer, transfers } from '../src/money.js';
import { openMysql, openPostgres, openSqlite, type Store } from '../src/stores.js';

const ENTRY = fileURLToPath(new URL('../dist/money-worker.js', import.meta.url));

const COUNT = 200;
const WORKERS = 3;

// Some transfers lie between two kills; the moment itself is up to chance.
const TRANSFERS_A_KILL = 5;
const MOMENT_MS = 40;

const STORES: readonly (readonly [name: string, open: () => Promise<Store<never>>])[] = [
  ['Postgres', () => openPostgres(inject('postgres'))],
  ['MariaDB', () => openMysql(inject('mariadb'))],
  ['SQLite', () => openSqlite()],
];

describe.each(STORES)('Money on %s', (name, open) => {
  it(`is exact after ${COUNT} transfers by workers that are killed at random`, async () => {
    await using store = await open();
    for (const sql of TABLES) await store.rows(sql);
    const all = transfers(COUNT);
    await store.driver.pushMany(all.map(aJob));
    const kills = await workAndKill(name, store);
    const made = await store.rows('SELECT number, attempt FROM transfers ORDER BY number');
    const balances = await store.rows('SELECT balance FROM accounts ORDER BY id');
    const change = all.reduce((sum, { from, amount }) => sum + (from === 1 ? -amount : amount), 0);
    expect(made.map(({ number }) => number)).toStrictEqual(all.map(({ number }) => number));
    expect(balances.map(({ balance }) => balance)).toStrictEqual([OPENING_BALANCE + change, OPENING_BALANCE - change]);
    expect(await store.driver.failedCount()).toBe(0);
    // That somebody was killed in the middle of a job shows in the attempt that made its transfer.
    const retried = made.filter(({ attempt }) => Number(attempt) > 1).length;
    console.log(`${name}: ${kills} workers killed, ${retried} of ${COUNT} transfers made by a later attempt`);
    expect(kills).toBeGreaterThanOrEqual(COUNT / TRANSFERS_A_KILL / 2);
    expect(retried).toBeGreaterThan(0);
  });
});

function aJob(payload: Transfer) {
  return { name: 'transfer', payload, delay: 0, queue: 'default', priority: 0, unique: null, maxAttempts: 1_000 };
}

/** Until no job is left; how many workers were killed meanwhile. */
async function workAndKill(name: string, store: Store<never>): Promise<number> {
  const start = () => spawn(process.execPath, [ENTRY, name, store.place], { stdio: ['pipe', 'inherit', 'inherit'] });
  const workers = Array.from({ length: WORKERS }, start);
  try {
    let kills = 0;
    for (let left = COUNT; left > 0; await sleep(10)) {
      left = await jobsLeft(store);
      if (COUNT - left < (kills + 1) * TRANSFERS_A_KILL || left === 0) continue;
      const unlucky = await oneAtWork(store, workers);
      await sleep(Math.random() * MOMENT_MS);
      await kill(workers[unlucky]);
      workers[unlucky] = start();
      kills += 1;
    }
    return kills;
  } finally {
    await Promise.all(workers.map(kill));
  }
}

/** One that holds a job, where one does: not one that is still starting. */
async function oneAtWork(store: Store<never>, workers: readonly ChildProcess[]): Promise<number> {
  const held = await store.rows('SELECT reserved_by FROM queue_jobs WHERE reserved_until IS NOT NULL');
  const pids = new Set(held.map(({ reserved_by }) => Number(String(reserved_by).split(':').at(-1))));
  const atWork = workers.flatMap(({ pid }, index) => (pids.has(pid ?? 0) ? [index] : []));
  return atWork[Math.floor(Math.random() * atWork.length)] ?? Math.floor(Math.random() * WORKERS);
}

async function jobsLeft(store: Store<never>): Promise<number> {
  return (await store.driver.stats()).reduce((sum, { total }) => sum + total, 0);
}

async function kill(worker: ChildProcess | undefined): Promise<void> {
  if (worker === undefined || worker.exitCode !== null || worker.signalCode !== null) return;
  const exited = once(worker, 'exit');
  worker.kill('SIGKILL');
  await exited;
}
