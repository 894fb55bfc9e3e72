import { importPeer } from '../peers.js';
import type { Subject } from '../subject.js';

// Its own benchmark goes no higher (github.com/bee-queue/bee-queue, benchmark/bq/basic-c50.js).
const BEST_CONCURRENCY = 50;

interface Job {
  readonly data: { readonly job: number };
  save(): Promise<unknown>;
}

type BeeQueue = new (
  name: string,
  settings: object,
) => {
  createJob(data: Job['data']): Job;
  saveAll(jobs: Job[]): Promise<Map<Job, Error>>;
  process(concurrency: number, handler: (job: Job) => Promise<void>): void;
  checkHealth(): Promise<Record<'waiting' | 'active' | 'delayed' | 'failed', number>>;
  close(): Promise<void>;
};

// What its README advises where nobody listens to the events of a job; done jobs leave the store, as q's do.
const SETTINGS = { getEvents: false, sendEvents: false, storeJobs: false, removeOnSuccess: true };

export async function beeQueueSubject(url: string, folder: string): Promise<Subject> {
  const { default: Queue } = (await importPeer(folder, 'bee-queue')) as { default: BeeQueue };
  const queue = new Queue('bench', { ...SETTINGS, redis: { url }, isWorker: false });
  return {
    batch: BEST_CONCURRENCY,
    install: async () => {},
    push: async (job) => void (await queue.createJob({ job }).save()),
    async pushMany(jobs) {
      const [error] = (await queue.saveAll(jobs.map((job) => queue.createJob({ job })))).values();
      if (error !== undefined) throw error;
    },
    async count() {
      const { waiting, active, delayed, failed } = await queue.checkHealth();
      return waiting + active + delayed + failed;
    },
    async work({ concurrency, effect, until }) {
      const worker = new Queue('bench', { ...SETTINGS, redis: { url } });
      worker.process(concurrency === 'best' ? BEST_CONCURRENCY : 1, async ({ data }) => effect(data.job));
      await until;
      await worker.close();
    },
    close: () => queue.close(),
  };
}
