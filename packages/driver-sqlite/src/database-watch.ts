import fs from 'node:fs';
import { basename, dirname } from 'node:path';

export interface WatchOptions {
  /** Looks whether anything has changed. Cheap, and never throws. */
  readonly look: () => void;
  /** Called once, with why, where the system cannot tell of changes. */
  readonly onUnwatchable: (error: unknown) => void;
}

// A file changes before its transaction is visible: the last thing a commit writes is in shared memory, after an fsync
// where the application wants one. So a change is followed by several looks, each waiting longer than the one before.
const LOOKS_AFTER_CHANGE_MS = [1, 3, 10, 30, 100];

// Behind the events, for file systems that have none (network, some containers); and in their place where there are none.
const SLOW_LOOK_MS = 250;
const QUICK_LOOK_MS = 25;

/** Looks at a database soon after its files change; at one in memory (null), every so often. Keeps no process alive. */
export class DatabaseWatch {
  readonly #options: WatchOptions;
  #watcher: fs.FSWatcher | null = null;
  #ticks: NodeJS.Timeout;
  #timer: NodeJS.Timeout | null = null;
  #looksDone = 0;
  #isClosed = false;

  constructor(file: string | null, options: WatchOptions) {
    this.#options = options;
    this.#ticks = setInterval(options.look, file === null ? QUICK_LOOK_MS : SLOW_LOOK_MS).unref();
    if (file === null) return;
    try {
      this.#watcher = this.#watchDirectory(file);
    } catch (error) {
      this.#lookQuickly(error);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#watcher?.close();
    clearInterval(this.#ticks);
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** The directory, not the files: those of the journal come and go. */
  #watchDirectory(file: string): fs.FSWatcher {
    const name = basename(file);
    const names = new Set([name, `${name}-wal`, `${name}-journal`]);
    const watcher = fs.watch(dirname(file), { persistent: false }, (_, changed) => {
      if (changed === null || names.has(changed)) this.#changed();
    });
    watcher.on('error', (error) => this.#lookQuickly(error));
    return watcher;
  }

  /** Starts the looks anew. The first of them is not put off: changes may come faster than once a millisecond. */
  #changed(): void {
    const isFirstLookDue = this.#timer !== null && this.#looksDone === 0;
    if (isFirstLookDue || this.#isClosed) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#looksDone = 0;
    this.#lookSoon();
  }

  #lookSoon(): void {
    const delay = LOOKS_AFTER_CHANGE_MS[this.#looksDone];
    this.#timer = delay === undefined || this.#isClosed ? null : setTimeout(() => this.#lookAndGoOn(), delay).unref();
  }

  #lookAndGoOn(): void {
    this.#looksDone += 1;
    this.#options.look();
    this.#lookSoon();
  }

  #lookQuickly(error: unknown): void {
    if (this.#isClosed) return;
    this.#watcher?.close();
    this.#watcher = null;
    clearInterval(this.#ticks);
    this.#ticks = setInterval(this.#options.look, QUICK_LOOK_MS).unref();
    this.#options.onUnwatchable(error);
  }
}
