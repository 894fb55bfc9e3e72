import { hasReports, type JobState } from '@q/core';
import type { Command } from 'commander';
import { inspectionOf } from '../abilities.js';
import type { Config, ConfiguredQueue } from '../define-config.js';
import type { ExitCode } from '../errors.js';
import { shownMoment } from '../moments.js';
import { cut, printable } from '../output.js';
import type { Run } from '../run.js';
import { parseId } from '../selectors.js';
import type { Session } from '../session.js';

export function addWhy(program: Command, run: Run): void {
  program
    .command('why')
    .description('why a job is not running, in one sentence')
    .argument('<id>', 'the id that its push gave', parseId)
    .action((id: number) => run((session) => why(session, id)));
}

async function why(session: Session, id: number): Promise<ExitCode> {
  return session.withConfig(async ({ config }) => {
    const inspection = inspectionOf(config, 'q why');
    const job = await inspection.find(id);
    if (job !== null) session.out.line(whyNotRunning(job, config.queue));
    else {
      const failed = await inspection.findFailed(id);
      session.out.line(failed === null ? await notThere(id, config) : itFailed(failed));
    }
    return 0;
  });
}

/** A failed job has an id of its own on SQL, so the sentence names it by both. */
function itFailed(job: {
  readonly id: number;
  readonly name: string;
  readonly failedAt: Date;
  readonly error: string;
}) {
  const when = `${shownMoment(job.failedAt)} UTC`;
  return `No job ${job.id} is queued; failed job ${job.id} (${printable(job.name)}) failed at ${when}: ${shownError(job.error)}`;
}

async function notThere(id: number, { queue }: Config): Promise<string> {
  const failed = hasReports(queue.driver) ? await queue.driver.failedCount() : 0;
  if (failed === 0) return `Job ${id} is not there: it is done, or was never pushed.`;
  return `Job ${id} is not there: it is done, was never pushed, or is a failed job, which has an id of its own (see q failed).`;
}

function whyNotRunning(job: JobState, queue: ConfiguredQueue): string {
  const sentence = SENTENCES[job.state](job);
  const problem = job.state === 'reserved' ? null : handlerProblem(queue, job.name);
  return problem === null ? `${sentence}.` : `${sentence}; a worker will fail it, because ${problem}.`;
}

const SENTENCES: { readonly [S in JobState['state']]: (job: JobState) => string } = {
  delayed: (job) => `${subject(job)} is delayed until ${moment(job.availableAt)}${afterFailure(job)}`,
  reserved: (job) => `${subject(job)} is held by ${holder(job)} until ${moment(job.reservedUntil)}`,
  expired: (job) =>
    `The claim of ${holder(job)} on ${subject(job, 'job')} expired at ${moment(job.reservedUntil)}, and ${place(job)}`,
  pending: (job) => `${subject(job)}: ${place(job)}${afterFailure(job)}`,
};

function subject({ id, name }: JobState, word = 'Job'): string {
  return `${word} ${id} (${printable(name)})`;
}

function place({ ahead, queue }: JobState): string {
  const line = `queue ${printable(queue)}`;
  if (ahead === 0) return `it is next in ${line}, waiting for a worker`;
  return `it is waiting behind ${ahead} ${ahead === 1 ? 'job' : 'jobs'} in ${line}`;
}

function afterFailure({ attempts, maxAttempts, lastError }: JobState): string {
  return lastError === '' ? '' : `, after attempt ${attempts} of ${maxAttempts} failed: ${shownError(lastError)}`;
}

function holder({ reservedBy }: JobState): string {
  return reservedBy === null ? 'an unnamed worker' : printable(reservedBy);
}

function moment(date: Date | null): string {
  return date === null ? 'some time' : `${shownMoment(date)} UTC`;
}

const LONGEST_ERROR = 200;

function shownError(text: string): string {
  return cut(printable(text.split('\n', 1)[0] ?? ''), LONGEST_ERROR);
}

/** Why a worker with this registry could not run the name; null: it can. A class or a factory is not called for it. */
function handlerProblem({ handlers }: ConfiguredQueue, name: string): string | null {
  const entry = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
  if (typeof entry === 'function') return null;
  const hasHandle =
    typeof entry === 'object' && entry !== null && 'handle' in entry && typeof entry.handle === 'function';
  return hasHandle ? null : `no handler is registered under ${printable(name)}`;
}
