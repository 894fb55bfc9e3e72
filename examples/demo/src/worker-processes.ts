import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { WorkerEventType } from '@q/core';
import { say } from './say.js';

/** What a worker process tells the demo: each of its worker's events, as a line. */
export interface Told {
  readonly type: WorkerEventType;
  readonly jobId: number | null;
  readonly line: string;
}

export interface WorkerProcess {
  readonly name: string;
  readonly process: ChildProcess;
}

/** The worker processes, as the demo sees them: started, killed, stopped; one that ends by itself is trouble. */
export class WorkerProcesses {
  readonly told: Told[] = [];
  readonly #running = new Set<WorkerProcess>();
  readonly #leaving = new Set<WorkerProcess>();
  #isOver = false;
  #onCrash: (error: Error) => void = () => {};
  /** Rejects when a worker ends that was neither killed nor stopped. */
  readonly crash = new Promise<never>((_, reject) => {
    this.#onCrash = reject;
  });

  /** Resolves when the worker has begun to watch the queue. */
  async start(name: string, file: string, port: number): Promise<WorkerProcess> {
    if (this.#isOver) throw new Error('The demo is over: no worker is started any more');
    const entry = new URL('./worker-process.js', import.meta.url);
    const worker: WorkerProcess = { name, process: fork(entry, [name, file, String(port)]) };
    this.#running.add(worker);
    worker.process.on('message', (message) => this.#hear(worker, message as Told)); // what worker-process.ts sends
    worker.process.once('exit', (code, signal) => {
      this.#running.delete(worker);
      if (!this.#leaving.has(worker)) this.#onCrash(new Error(`${name} ended by itself, with ${signal ?? code}`));
    });
    say(name, `process ${worker.process.pid}`);
    await once(worker.process, 'message');
    return worker;
  }

  /** As a machine that loses its power would: it cannot give anything back. */
  async kill(worker: WorkerProcess): Promise<void> {
    await this.#end(worker, 'SIGKILL');
  }

  /** As a supervisor would: the worker finishes what it has in hand, and its process ends with 0. */
  async stop(worker: WorkerProcess): Promise<void> {
    const code = await this.#end(worker, 'SIGTERM');
    if (code !== 0) throw new Error(`${worker.name} was asked to stop and ended with ${code}`);
  }

  async killAll(): Promise<void> {
    this.#isOver = true;
    await Promise.all([...this.#running].map((worker) => this.kill(worker)));
  }

  async #end(worker: WorkerProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<unknown> {
    this.#leaving.add(worker);
    const ended = once(worker.process, 'exit');
    worker.process.kill(signal);
    const [code] = await ended;
    return code;
  }

  #hear({ name }: WorkerProcess, told: Told): void {
    this.told.push(told);
    // With several jobs in hand the lines of one are not together: its number tells which is whose.
    say(name, `${told.jobId === null ? '' : `#${told.jobId}`.padEnd(4)}${told.line}`);
  }
}
