import { EventEmitter } from 'node:events';
import { errorDetail } from '../error-detail.js';
import type { WorkerEvent, WorkerEventOf, WorkerEventType, WorkerEventTypes } from '../events.js';

export type Emit = <T extends WorkerEventType>(type: T, detail: WorkerEventTypes[T]) => void;

export type Listener<T extends WorkerEventType | 'event'> = (
  event: T extends WorkerEventType ? WorkerEventOf<T> : WorkerEvent,
) => unknown;

/** Events whose listeners cannot harm the worker: what they throw, or reject with, becomes a process warning. */
export class Emitter {
  readonly #events = new EventEmitter();

  on<T extends WorkerEventType | 'event'>(type: T, listener: Listener<T>): void {
    this.#events.on(type, listener);
  }

  off<T extends WorkerEventType | 'event'>(type: T, listener: Listener<T>): void {
    this.#events.off(type, listener);
  }

  readonly emit: Emit = (type, detail) => {
    const event = { type, ...detail };
    for (const name of [type, 'event']) {
      for (const listener of this.#events.listeners(name)) void call(listener as (event: unknown) => unknown, event);
    }
  };
}

async function call(listener: (event: unknown) => unknown, event: unknown): Promise<void> {
  try {
    await listener(event);
  } catch (error) {
    process.emitWarning(`A listener of a worker's events failed: ${errorDetail(error)}`);
  }
}
