import Database from 'better-sqlite3';
import { importPeer } from '../peers.js';
import { NAME, type Subject } from '../subject.js';

interface PlainJob {
  better(db: Database.Database): unknown;
  defineQueue(options: object): {
    add(type: string, data: unknown): unknown;
    addMany(type: string, data: unknown[]): unknown;
    countJobs(options: { status: number }): number;
    close(): void;
  };
  defineWorker(
    type: string,
    processor: (job: { data: string }) => void,
    options: object,
  ): { start(): Promise<void>; stop(): Promise<void> };
  JobStatus: Readonly<Record<'Pending' | 'Processing' | 'Failed', number>>;
}

const SILENT = { error() {}, warn() {}, info() {}, debug() {} };

/** It keeps done jobs for a week, and has no setting that removes them at once. It sets WAL itself. */
export async function plainjobSubject(file: string, folder: string): Promise<Subject> {
  const { better, defineQueue, defineWorker, JobStatus } = (await importPeer(folder, 'plainjob')) as PlainJob;
  const queue = defineQueue({ connection: better(new Database(file)), logger: SILENT });
  const { Pending, Processing, Failed } = JobStatus;
  return {
    // It has no concurrency: a job at a time, in each of its processes.
    batch: 1,
    install: async () => {},
    push: async (job) => void queue.add(NAME, { job }),
    pushMany: async (jobs) =>
      void queue.addMany(
        NAME,
        jobs.map((job) => ({ job })),
      ),
    count: async () => [Pending, Processing, Failed].reduce((sum, status) => sum + queue.countJobs({ status }), 0),
    async work({ effect, until }) {
      // Its only way to hear of a job is to poll; a second is its default.
      const worker = defineWorker(NAME, ({ data }) => effect((JSON.parse(data) as { job: number }).job), {
        queue,
        pollIntervall: 1,
        logger: SILENT,
      });
      const ended = worker.start();
      await until;
      await worker.stop();
      await ended;
    },
    close: async () => queue.close(),
  };
}
