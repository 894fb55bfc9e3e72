import pg from 'pg';
import { importPeer } from '../peers.js';
import type { Subject } from '../subject.js';

const QUEUE = 'bench';
const BATCH = 500;

interface Job {
  readonly id: string;
  readonly data: { readonly job: number };
}

interface PgBossModule {
  PgBoss: new (
    options: object,
  ) => {
    on(event: 'error', listener: (error: Error) => void): unknown;
    start(): Promise<unknown>;
    stop(options: object): Promise<void>;
    createQueue(name: string, options: object): Promise<void>;
    send(name: string, data: Job['data']): Promise<unknown>;
    insert(name: string, jobs: { data: Job['data'] }[]): Promise<unknown>;
    fetch(name: string): Promise<Job[]>;
    complete(name: string, id: string): Promise<unknown>;
    work(name: string, options: object, handler: (jobs: Job[]) => Promise<void>): Promise<unknown>;
  };
}

/** `notify`: whether a push wakes an idle worker, which costs the push; without, workers poll. */
export async function pgBossSubject(url: string, folder: string, { notify }: { notify: boolean }): Promise<Subject> {
  const { PgBoss } = (await importPeer(folder, 'pg-boss')) as PgBossModule;
  const boss = new PgBoss({ connectionString: url, max: 10, useListenNotify: notify });
  boss.on('error', (error) => {
    throw error;
  });
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  await boss.start();
  return {
    batch: BATCH,
    install: () => boss.createQueue(QUEUE, { notify }),
    push: async (job) => void (await boss.send(QUEUE, { job })),
    pushMany: async (jobs) =>
      void (await boss.insert(
        QUEUE,
        jobs.map((job) => ({ data: { job } })),
      )),
    async count() {
      // Done jobs stay in its table.
      const { rows } = await pool.query(
        "SELECT count(*) AS jobs FROM pgboss.job WHERE name = $1 AND state <> 'completed'",
        [QUEUE],
      );
      return Number(rows[0].jobs);
    },
    async work({ concurrency, effect, until }) {
      if (concurrency === 'one') {
        // work() waits for its poll after each batch of one.
        let ended = false;
        const end = until.then(() => {
          ended = true;
        });
        while (!ended)
          for (const { id, data } of await boss.fetch(QUEUE)) {
            effect(data.job);
            await boss.complete(QUEUE, id);
          }
        return end;
      }
      const options = { batchSize: BATCH, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true };
      await boss.work(QUEUE, options, async (jobs) => {
        for (const { data } of jobs) effect(data.job);
      });
      await until;
      await boss.stop({ graceful: true });
    },
    async close() {
      await boss.stop({ graceful: true });
      await pool.end();
    },
  };
}
