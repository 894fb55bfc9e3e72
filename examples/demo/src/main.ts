/**
 * The main job of q, on real parts: an application that writes invoices to SQLite, two worker processes that mail them,
 * and a mail server. One worker is killed in the middle of its work. At the end everything is counted.
 *
 * `invoices.ts` is the application, `handlers.ts` what the workers run, `worker-process.ts` a worker; the rest is stage.
 */
import { on } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteDriver } from '@q/driver-sqlite';
import Database from 'better-sqlite3';
import { check, type Outcome } from './checks.js';
import { createInvoiceTable, customers, invoiceNumbers, writeInvoice } from './invoices.js';
import { MailServer } from './mail-server.js';
import { openQueue, type ShopQueue } from './queue.js';
import { say } from './say.js';
import { watchForTrouble } from './trouble.js';
import { type WorkerProcess, WorkerProcesses } from './worker-processes.js';

const INVOICES = 24;

const folder = mkdtempSync(join(tmpdir(), 'q-demo-'));
const file = join(folder, 'shop.db');
const db = new Database(file);
db.pragma('journal_mode = WAL');
const driver = new SqliteDriver(db);
const mailServer = new MailServer({ loses: process.env.Q_DEMO_LOSES_INVOICE });
const workers = new WorkerProcesses();
const watch = watchForTrouble(workers);

try {
  const outcome = await Promise.race([story(), watch.trouble]);
  process.exitCode = check(outcome) ? 0 : 1;
} catch (error) {
  console.error(`The demo broke off: ${error instanceof Error ? error.stack : error}`);
  process.exitCode = 1;
} finally {
  watch.end();
  await workers.killAll();
  await mailServer.close();
  await driver.close();
  db.close();
  rmSync(folder, { recursive: true, force: true });
}

async function story(): Promise<Outcome> {
  createInvoiceTable(db);
  await driver.createTables();
  const queue = openQueue(driver);
  const port = await mailServer.listen();

  const first = await workers.start('worker-1', file, port);
  const second = await workers.start('worker-2', file, port);

  // The mail server answers nobody until worker-1 waits for three answers: it is in the middle of three jobs.
  const held = mailServer.holdUntil(first.name, 3);
  const rolledBack = writeInvoices(queue);
  await queue.push('send-statement', { month: '2026-11' });

  const unanswered = await held;
  say('demo', `${first.name} is in the middle of ${unanswered.length} mails: killing it (SIGKILL)`);
  await workers.kill(first);
  mailServer.answerAgain();
  say('demo', `nobody holds its jobs now; ${second.name} gets them when their claims have expired`);

  await untilEmpty(queue, second);
  await workers.stop(second);

  return {
    committed: invoiceNumbers(db),
    rolledBack,
    mails: mailServer.mails,
    unanswered,
    survivor: second.name,
    releases: workers.told.filter(({ type }) => type === 'job_released').length,
    failed: await queue.reports.failedRows(10),
    left: await queue.reports.stats(),
  };
}

/** Writes the invoices, each with its job in one transaction, and gives the numbers of those that were rolled back. */
function writeInvoices(queue: ShopQueue): number[] {
  const rolledBack: number[] = [];
  for (let number = 1; number <= INVOICES; number += 1) {
    try {
      writeInvoice(db, queue, { number, customer: customers(number), amount: number % 6 === 4 ? 9_000 : 50 * number });
    } catch (error) {
      rolledBack.push(number);
      say('shop', `rolled back: ${error instanceof Error ? error.message : error}`);
    }
  }
  say(
    'shop',
    `${INVOICES - rolledBack.length} invoices committed, each with its job, ${rolledBack.length} rolled back`,
  );
  return rolledBack;
}

/** An outcome is told when it has been written, so the last one told leaves the queue empty. */
async function untilEmpty(queue: ShopQueue, worker: WorkerProcess): Promise<void> {
  for await (const _ of on(worker.process, 'message')) {
    if ((await queue.reports.stats()).length === 0) return;
  }
}
