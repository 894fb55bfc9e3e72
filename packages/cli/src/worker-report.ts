import { describe, type JobRef, type Worker, type WorkerEvent, type WorkerEventType } from '@q/core';
import { messageOf, stackOf, withoutPasswords } from './errors.js';
import { jsonLine, type Output, printable } from './output.js';
import type { Session } from './session.js';

/** What of a worker's events is told, and how. Stderr is the same in all of them. */
export type Reporting = 'plain' | 'numbered' | 'json' | 'errors';

type Colour = Extract<keyof Output['colors'], 'red' | 'yellow' | 'green' | 'bold' | 'dim'>;

const COLOURS: { readonly [T in WorkerEventType]?: Colour } = {
  started: 'bold',
  job_done: 'green',
  job_released: 'yellow',
  job_retried: 'yellow',
  job_failed: 'red',
  stopping: 'bold',
};

/**
 * Tells the events of a worker as they come: what it does on stdout, errors on stderr, and a job that failed for good on
 * both, since a worker's stdout is read only by those who know already that something is wrong.
 */
export function report(worker: Worker, session: Session, reporting: Reporting): void {
  const { out, err, isVerbose } = session;
  const lines = reporting === 'numbered' ? 'numbered' : 'plain';
  worker.on('event', (event) => {
    const line = lineOf(event, lines);
    const isError = line.startsWith('error: ');
    const isFailure = event.type === 'job_failed';
    if (reporting === 'json') out.line(jsonLine(asJson(event, line, isVerbose)));
    else if (reporting !== 'errors' && !isError) tell(out, event, line, isVerbose && !isFailure);
    if (isError) tell(err, event, line, isVerbose);
    if (isFailure)
      tell(err, event, `error: ${printable(nameOf(event.job))} ${lineOf(event, 'plain').trim()}`, isVerbose);
  });
}

function lineOf(event: WorkerEvent, lines: 'plain' | 'numbered'): string {
  return printable(withoutPasswords(describe(event, lines)));
}

function tell(output: Output, event: WorkerEvent, line: string, isVerbose: boolean): void {
  const { colors } = output;
  const colour = line.startsWith('error: ') ? 'red' : COLOURS[event.type];
  output.line(colour === undefined ? line : colors[colour](line));
  if (isVerbose && 'error' in event) output.line(colors.dim(printable(stackOf(event.error), 'lines')));
}

function nameOf({ name, id }: JobRef): string {
  return `${name} #${id}`;
}

/** An event for a log collector. What was thrown may be anything, so no more of it is taken than can be read safely. */
function asJson(event: WorkerEvent, line: string, isVerbose: boolean) {
  const level = line.startsWith('error: ') || event.type === 'job_failed' ? 'error' : 'info';
  const head = { time: new Date().toISOString(), level, message: line.trim() };
  if (!('error' in event)) return { ...head, ...event };
  const stack = isVerbose ? { stack: stackOf(event.error) } : {};
  return { ...head, ...event, error: { message: messageOf(event.error), ...stack } };
}
