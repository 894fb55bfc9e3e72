import type { WorkerOptions, WorkSource } from '@q/core';

/** What a worker of the command takes from the config instead of a flag; a flag that is given wins. */
export type WorkerDefaults = Omit<WorkerOptions, 'queue' | 'signals' | 'clock'>;

/** A queue as the command needs it: every `Queue` fits, also one of another copy of core. */
export interface ConfiguredQueue extends WorkSource {
  /** How often a failed job that is requeued may be started. Default 3. */
  readonly tries?: number;
}

/** What `q.config.ts` exports as its default. */
export interface Config<Q extends ConfiguredQueue = ConfiguredQueue> {
  /** The queue that every command is about: which store it is in is said here, and by no flag. */
  readonly queue: Q;
  /** Ends what the config opened, the application's pool above all. Awaited for at most 5 s after each command. */
  readonly close?: (() => unknown) | undefined;
  /** Defaults for `q work`; docs/operations.md tells which of them have a flag. */
  readonly worker?: WorkerDefaults | undefined;
}

/** The config itself, checked by the compiler. The queue keeps its type, so an application may push on `config.queue`. */
export function defineConfig<Q extends ConfiguredQueue>(config: Config<Q>): Config<Q> {
  return config;
}
