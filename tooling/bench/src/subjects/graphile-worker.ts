import pg from 'pg';
import { importPeer } from '../peers.js';
import { NAME, type Subject } from '../subject.js';

// Those of worker.graphile.org/docs/performance.
const BEST = {
  concurrentJobs: 24,
  maxPoolSize: 25,
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
};

interface Payload {
  readonly job: number;
}

interface GraphileWorker {
  makeWorkerUtils(options: object): Promise<{
    migrate(): Promise<void>;
    addJob(identifier: string, payload: Payload): Promise<unknown>;
    addJobs(jobs: { identifier: string; payload: Payload }[]): Promise<unknown>;
    release(): Promise<void>;
  }>;
  run(options: object): Promise<{ stop(): Promise<void> }>;
  Logger: new (factory: () => () => void) => unknown;
}

export async function graphileWorkerSubject(url: string, folder: string): Promise<Subject> {
  const { makeWorkerUtils, run, Logger } = (await importPeer(folder, 'graphile-worker')) as GraphileWorker;
  const logger = new Logger(() => () => {});
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  const utils = await makeWorkerUtils({ pgPool: pool, logger });
  return {
    batch: BEST.localQueue.size,
    install: () => utils.migrate(),
    push: async (job) => void (await utils.addJob(NAME, { job })),
    pushMany: async (jobs) => void (await utils.addJobs(jobs.map((job) => ({ identifier: NAME, payload: { job } })))),
    count: async () => Number((await pool.query('SELECT count(*) AS jobs FROM graphile_worker.jobs')).rows[0].jobs),
    async work({ concurrency, effect, until }) {
      const options = concurrency === 'best' ? BEST : { concurrentJobs: 1 };
      const runner = await run({
        preset: { worker: { connectionString: url, ...options } },
        taskList: { [NAME]: async ({ job }: Payload) => effect(job) },
        noHandleSignals: true,
        logger,
      });
      await until;
      await runner.stop();
    },
    async close() {
      await utils.release();
      await pool.end();
    },
  };
}
