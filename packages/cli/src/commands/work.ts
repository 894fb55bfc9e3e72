import { isQueueError, Worker, type WorkerOptions } from '@q/core';
import type { Command } from 'commander';
import type { Config } from '../define-config.js';
import { type ExitCode, refused } from '../errors.js';
import type { Run } from '../run.js';
import { parseAmount, parseCount, parseQueues } from '../selectors.js';
import type { Session } from '../session.js';
import { countSignals } from '../signals.js';
import { type Reporting, report } from '../worker-report.js';

interface Options {
  readonly queue?: readonly string[];
  readonly concurrency?: number;
  readonly once?: true;
  readonly stopWhenEmpty?: true;
  readonly maxJobs?: number;
  readonly maxTime?: number;
  readonly memory?: number;
  readonly sleep?: number;
  readonly timeout?: number;
  readonly json?: true;
  readonly quiet?: true;
}

const SIGNALS = `
SIGTERM, SIGINT and SIGQUIT: the first makes it finish what is in hand, a second put it back and leave.
The exit code is 0, whatever became of the jobs, or 1 where a supervisor is to start a fresh process.`;

export function addWork(program: Command, run: Run): void {
  program
    .command('work')
    .description('runs jobs until it is told to stop')
    .option('--queue <names>', "in order of precedence, separated by commas (the config's queue)", parseQueues)
    .option('--concurrency <n>', 'jobs in hand at once (1)', parseCount)
    .option('--once', 'at most one job')
    .option('--stop-when-empty', 'ends when nothing is due')
    .option('--max-jobs <n>', 'ends after so many jobs', parseCount)
    .option('--max-time <seconds>', 'ends after so long', parseAmount)
    .option('--memory <megabytes>', 'ends when the process uses more', parseAmount)
    .option('--sleep <seconds>', 'the wait when nothing is due (1)', parseAmount)
    .option('--timeout <seconds>', 'how long a handler may run (300); 0: no limit', parseAmount)
    .option('--json', 'every event as a line of JSON on stdout')
    .option('--quiet', 'nothing on stdout, errors alone on stderr')
    .addHelpText('after', SIGNALS)
    .action((options: Options) => run((session) => work(session, options)));
}

async function work(session: Session, options: Options): Promise<ExitCode> {
  let phase: 'loading' | 'running' | 'over' = 'loading';
  // From the start on: a signal that comes while the config is loaded is not to cut off what it is doing. While the
  // worker runs it takes them itself.
  const signals = countSignals((count) => {
    if (count > 1 || phase === 'over') session.hurry();
    if (count > 1 && phase === 'loading') void session.leave(0);
  });
  return session.withConfig(async ({ config }) => {
    const worker = workerOf(config, options);
    report(worker, session, reportingOf(options, config));
    // Nobody is told any more what becomes of the jobs: a supervisor makes a fresh process, with a reader.
    session.out.onGone(() => void worker.stop());
    if (signals.count > 0 || session.out.failure !== null) void worker.stop();
    phase = 'running';
    const exitCode = await worker.run();
    phase = 'over';
    return session.out.failure === null ? exitCode : 1;
  });
}

function workerOf({ queue, worker }: Config, options: Options): Worker {
  try {
    return new Worker({ ...worker, ...flags(options), queue, signals: true });
  } catch (error) {
    // A queue name that is none, a time limit this driver cannot keep: the invocation's, or the config's.
    throw isQueueError(error) ? refused(error.message, { cause: error }) : error;
  }
}

/** The options that were given as flags, and no others: what is left out is the config's to say. */
function flags({ queue, memory, once, concurrency, maxJobs, maxTime, sleep, timeout, stopWhenEmpty }: Options) {
  const given = { queues: queue, memoryLimit: memory, concurrency, maxJobs, maxTime, sleep, timeout, stopWhenEmpty };
  const defined = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const options: Partial<WorkerOptions> = defined;
  return once ? { ...options, maxJobs: 1, stopWhenEmpty: true } : options;
}

function reportingOf({ json, quiet, concurrency }: Options, { worker }: Config): Reporting {
  if (json) return 'json';
  if (quiet) return 'errors';
  return (concurrency ?? worker?.concurrency ?? 1) > 1 ? 'numbered' : 'plain';
}
