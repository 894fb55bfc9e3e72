import type { FailedJob, QueueReports } from '@q/core';
import type { Command } from 'commander';
import { inspectionOf, reportsOf } from '../abilities.js';
import { type ExitCode, failed as failure } from '../errors.js';
import { shownMoment } from '../moments.js';
import { cut, jsonLine, type Output, printable } from '../output.js';
import type { Run } from '../run.js';
import { parseCount, parseOneId } from '../selectors.js';
import type { Session } from '../session.js';
import { type Column, table } from '../table.js';

interface Options {
  readonly limit: number;
  readonly id?: number;
  readonly json?: true;
}

export function addFailed(program: Command, run: Run): void {
  program
    .command('failed')
    .description('the jobs that failed for good, newest first')
    .option('--limit <n>', 'at most so many', parseCount, 20)
    .option('--id <n>', 'one of them in full: payload and whole error', parseOneId)
    .option('--json', 'a JSON array of whole rows; with --id one object')
    .action((options: Options) => run((session) => failed(session, options)));
}

async function failed(session: Session, options: Options): Promise<ExitCode> {
  return session.withConfig(async ({ config }) => {
    const { out } = session;
    if (options.id !== undefined) {
      const job = await inspectionOf(config, 'q failed --id').findFailed(options.id);
      if (job === null) throw failure(`there is no failed job ${options.id}`);
      out.line(options.json ? jsonLine(job) : inFull(job, out));
      return 0;
    }
    const reports = reportsOf(config, 'q failed');
    const jobs = await reports.failedRows(options.limit);
    if (options.json) out.line(jsonLine(jobs));
    else out.line(jobs.length === 0 ? 'No failed jobs.' : await list(jobs, reports, out));
    return 0;
  });
}

// Off a terminal the message is cut all the same: it may have 60,000 bytes.
const LONGEST_MESSAGE = 200;
const NARROWEST_MESSAGE = 20;

const COLUMNS: readonly Column<FailedJob>[] = [
  { title: 'id', align: 'right', value: ({ id }) => id },
  { title: 'failed at (UTC)', value: ({ failedAt }) => shownMoment(failedAt) },
  { title: 'queue', value: ({ queue }) => queue },
  { title: 'name', value: ({ name }) => name },
  { title: 'attempts', align: 'right', value: ({ attempts }) => attempts },
];

async function list(jobs: readonly FailedJob[], reports: QueueReports, out: Output): Promise<string> {
  const width = messageWidth(jobs, out);
  const error = { title: 'error', value: (job: FailedJob) => cut(printable(firstLine(job.error)), width) };
  const hint = 'Retry them with: q retry --id=N, or q retry --all. See one in full with: q failed --id=N';
  const total = await reports.failedCount();
  const more = total > jobs.length ? `${jobs.length} of ${total}; see more with --limit.\n` : '';
  return `${await table(jobs, [...COLUMNS, error], out)}\n\n${more}${out.colors.dim(hint)}`;
}

/** What is left of the terminal's width, so that a job has one line. */
function messageWidth(jobs: readonly FailedJob[], { columns }: Output): number {
  if (columns === null) return LONGEST_MESSAGE;
  const widths = COLUMNS.map(({ title, value }) =>
    Math.max(title.length, ...jobs.map((job) => printable(String(value(job))).length)),
  );
  const taken = widths.reduce((sum, width) => sum + width + 2, 0);
  return Math.max(NARROWEST_MESSAGE, columns - taken);
}

function inFull(job: FailedJob, { colors }: Output): string {
  const fields = [
    ['id', job.id],
    ['failed at', `${shownMoment(job.failedAt)} UTC`],
    ['queue', job.queue],
    ['name', job.name],
    ['attempts', job.attempts],
    ['payload', job.payloadJson],
  ] as const;
  const lines = fields.map(([title, value]) => `${colors.bold(title.padEnd(9))}  ${printable(String(value))}`);
  return `${lines.join('\n')}\n\n${printable(job.error, 'lines')}`;
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
