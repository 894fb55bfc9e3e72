import { Redis } from 'ioredis';
import { importPeer } from '../peers.js';
import { NAME, type Subject } from '../subject.js';

// What its documentation shows (docs.bullmq.io/guide/workers/concurrency).
const BEST_CONCURRENCY = 50;

interface Job {
  readonly data: { readonly job: number };
}

interface BullMq {
  Queue: new (
    name: string,
    options: object,
  ) => {
    add(name: string, data: Job['data']): Promise<unknown>;
    addBulk(jobs: { name: string; data: Job['data'] }[]): Promise<unknown>;
    getJobCounts(): Promise<Record<string, number>>;
    close(): Promise<void>;
  };
  Worker: new (
    name: string,
    processor: (job: Job) => Promise<void>,
    options: object,
  ) => { close(): Promise<void>; on(event: 'error', listener: (error: Error) => void): unknown };
}

export async function bullMqSubject(url: string, folder: string): Promise<Subject> {
  const { Queue, Worker } = (await importPeer(folder, 'bullmq')) as BullMq;
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  // Done jobs leave the store, as q's do.
  const queue = new Queue('bench', { connection, defaultJobOptions: { removeOnComplete: true } });
  return {
    batch: BEST_CONCURRENCY,
    install: async () => {},
    push: async (job) => void (await queue.add(NAME, { job })),
    pushMany: async (jobs) => void (await queue.addBulk(jobs.map((job) => ({ name: NAME, data: { job } })))),
    count: async () => Object.values(await queue.getJobCounts()).reduce((sum, jobs) => sum + jobs, 0),
    async work({ concurrency, effect, until }) {
      const worker = new Worker('bench', async ({ data }) => effect(data.job), {
        connection,
        concurrency: concurrency === 'best' ? BEST_CONCURRENCY : 1,
      });
      worker.on('error', (error) => {
        throw error;
      });
      await until;
      await worker.close();
    },
    async close() {
      await queue.close();
      await connection.quit();
    },
  };
}
