import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { NewJob, QueueDriver, ReservedJob } from '../src/index.js';
import { isQueueError } from '../src/index.js';

/** What a call is refused with. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** The `QueueError` that `act` throws. Anything else it throws, and returning, fails the test. */
export function refusal(act: () => unknown): Refusal {
  try {
    act();
  } catch (error) {
    return ofQueueError(error);
  }
  throw new Error('Nothing was thrown');
}

/** The `QueueError` that `act` rejects with; a synchronous throw fails the test. */
export async function rejection(act: () => Promise<unknown>): Promise<Refusal> {
  const promise = act();
  try {
    await promise;
  } catch (error) {
    return ofQueueError(error);
  }
  throw new Error('Nothing was rejected');
}

function ofQueueError(error: unknown): Refusal {
  if (!isQueueError(error)) throw error;
  return { code: error.code, message: error.message };
}

export function aNewJob(job: Partial<NewJob> = {}): NewJob {
  return {
    name: 'a-job',
    payload: {},
    delay: 0,
    queue: 'default',
    priority: 0,
    unique: null,
    maxAttempts: 3,
    ...job,
  };
}

export function aReservedJob(job: Partial<ReservedJob> = {}): ReservedJob {
  return {
    id: 7,
    queue: 'default',
    name: 'a-job',
    payload: {},
    payloadJson: '{}',
    attempts: 1,
    maxAttempts: 3,
    handle: '',
    reclaimed: false,
    ...job,
  };
}

/** The calls a driver was given: one that stands for "untouched" where the list is empty. It stores nothing. */
export type Calls = [method: string, ...args: unknown[]][];

/** A driver of the six methods that writes down its calls. Every push gives the id 1. */
export function aRecordingDriver(calls: Calls = []) {
  return {
    calls,
    push: (job: NewJob) => recorded(calls, 'push', [job], 1),
    reserve: () => recorded(calls, 'reserve', [], null),
    delete: () => recorded(calls, 'delete', [], true),
    release: () => recorded(calls, 'release', [], true),
    fail: () => recorded(calls, 'fail', [], true),
    pending: (queue?: string | null) => recorded(calls, 'pending', [queue], 5),
  } satisfies QueueDriver & { calls: Calls };
}

export async function recorded<T>(calls: Calls, method: string, args: unknown[], answer: T): Promise<T> {
  calls.push([method, ...args]);
  return answer;
}

const packageFolder = fileURLToPath(new URL('..', import.meta.url));

/** Runs an ES module in a process of its own, in the package's folder, on what was built. Its standard output is JSON. */
export async function inChild(
  script: string,
  { env = {}, flags = [] }: { env?: Readonly<Record<string, string>>; flags?: readonly string[] } = {},
): Promise<{ answer: unknown; warnings: string }> {
  const args = [...flags, '--input-type=module', '--eval', script];
  const options = { cwd: packageFolder, env: { ...process.env, NODE_OPTIONS: '', ...env } };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, options);
  return { answer: JSON.parse(stdout), warnings: stderr };
}
