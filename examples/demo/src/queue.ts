import { defineHandlers, job, Queue } from '@q/core';
import type { SqliteDriver } from '@q/driver-sqlite';

export interface InvoiceJob {
  readonly number: number;
}

export interface StatementJob {
  readonly month: string;
}

/** What the shop may push. It has none of the code that runs the jobs: the workers do (`handlers.ts`). */
const jobs = defineHandlers({
  'send-invoice': job<InvoiceJob>(),
  'send-statement': job<StatementJob>(),
});

export type JobName = keyof typeof jobs;

export type ShopQueue = ReturnType<typeof openQueue>;

export function openQueue(driver: SqliteDriver) {
  return new Queue({ driver, handlers: jobs, tries: 3 });
}
