// A worker, as a process of its own: node dist/worker-process.js <name> <file of the database> <port of the mail server>
import { describe, Queue, Worker } from '@q/core';
import { SqliteDriver } from '@q/driver-sqlite';
import Database from 'better-sqlite3';
import { createTransport } from 'nodemailer';
import { handlersFor } from './handlers.js';
import type { Told } from './worker-processes.js';

const [name = '', file = '', port = ''] = process.argv.slice(2);
const db = new Database(file, { fileMustExist: true });
const driver = new SqliteDriver(db);
const mailer = createTransport({ host: '127.0.0.1', port: Number(port), name, ignoreTLS: true });

const queue = new Queue({ driver, handlers: handlersFor(db, mailer), backoff: 1 });
// A claim lasts `lease` seconds and is renewed while its job runs; 2 instead of 60, because the demo waits for one to expire.
const worker = new Worker({ queue, id: name, concurrency: 3, lease: 2, signals: true });

worker.on('event', (event) => {
  const jobId = 'job' in event ? event.job.id : null;
  tell({ type: event.type, jobId, line: describe(event) });
});
// The demo is gone without having said so: nobody else would end this process.
process.once('disconnect', () => void worker.stop());

process.exitCode = await worker.run();
await driver.close();
db.close();
if (process.connected) process.disconnect();

function tell(told: Told): void {
  if (process.connected) process.send?.(told);
}
