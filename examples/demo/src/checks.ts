import type { FailedJob, QueueStats } from '@q/core';
import type { Mail } from './mail-server.js';

/** What is left when the story is over. */
export interface Outcome {
  /** Numbers of the invoices in the database. */
  readonly committed: readonly number[];
  readonly rolledBack: readonly number[];
  readonly mails: readonly Mail[];
  /** What the killed worker was sending. */
  readonly unanswered: readonly Mail[];
  readonly survivor: string;
  /** How often a handler put its job back. */
  readonly releases: number;
  readonly failed: readonly FailedJob[];
  readonly left: readonly QueueStats[];
}

type Check = readonly [holds: boolean, line: string];

/** Prints every check. False: one of them does not hold. */
export function check(outcome: Outcome): boolean {
  const { committed, rolledBack, mails, unanswered, survivor, releases, failed, left } = outcome;
  const received = new Set(mails.map(({ messageId }) => messageId));
  const wrongly = rolledBack.filter((number) => received.has(messageId(number)));
  const finished = unanswered.filter((mail) =>
    mails.some(({ messageId, sender }) => messageId === mail.messageId && sender === survivor),
  );
  const jobsLeft = left.reduce((sum, { total }) => sum + total, 0);

  const checks: readonly Check[] = [
    [
      isSame(received, new Set(committed.map(messageId))),
      `invoices committed: ${committed.length} = distinct mails received: ${received.size}`,
    ],
    [rolledBack.length > 0 && wrongly.length === 0, `rolled back: ${rolledBack.length} = ${wrongly.length} mails`],
    [isRefusal(failed), `failed: ${failed.length}${failed.map(describeFailure).join('')}`],
    [jobsLeft === 0, `queue empty: ${jobsLeft} jobs left`],
    [
      unanswered.length > 0 && finished.length === unanswered.length,
      `in the killed worker's hands: ${unanswered.length} = finished by ${survivor}: ${finished.length}`,
    ],
    [releases === 1, `put back by its own handler: ${releases}`],
  ];

  console.log();
  for (const [holds, line] of checks) console.log(`${holds ? 'ok   ' : 'WRONG'}  ${line}`);
  console.log(`       arrived twice: ${describeTwice(mails)}`);
  const wrong = checks.filter(([holds]) => !holds).length;
  const elapsed = `${process.uptime().toFixed(1)} s`;
  console.log(
    wrong === 0
      ? `All ${checks.length} checks hold. ${elapsed}`
      : `${wrong} of ${checks.length} checks do not hold. ${elapsed}`,
  );
  return wrong === 0;
}

/** At least once, honestly: a mail that was delivered, and whose sender died before it could record that, is sent again. */
function describeTwice(mails: readonly Mail[]): string {
  const twice = mails.filter((mail, index) => mails.findIndex((other) => other.messageId === mail.messageId) < index);
  return [twice.length, ...twice.map(({ messageId }) => messageId)].join(' ');
}

function messageId(number: number): string {
  return `<invoice-${number}@shop.example>`;
}

function isSame(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  return some.size === others.size && [...some].every((each) => others.has(each));
}

function isRefusal(failed: readonly FailedJob[]): boolean {
  const [job] = failed;
  return failed.length === 1 && job?.name === 'send-statement' && job.attempts === 3 && job.error.includes(' 550 ');
}

function describeFailure({ name, attempts, error }: FailedJob): string {
  return `, ${name} after ${attempts} attempts, with "${error.split('\n', 1)[0]}"`;
}
