import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** How a process is. */
export interface Vitals {
  readonly rssMb: number;
  /** Sockets, timers and the like that keep it alive. */
  readonly resources: number;
  /** On the process itself. */
  readonly listeners: number;
  /** Warnings so far: Node's own of a leak of listeners is one. */
  readonly warnings: number;
}

/** Notes once a second how this process is. */
export function noteVitals(file: string): void {
  let warnings = 0;
  process.on('warning', () => {
    warnings += 1;
  });
  const note = () => {
    const vitals: Vitals = {
      rssMb: process.memoryUsage.rss() / 2 ** 20,
      resources: process.getActiveResourcesInfo().length,
      listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
      warnings,
    };
    appendFileSync(file, `${JSON.stringify(vitals)}\n`);
  };
  setInterval(note, 1_000).unref();
}

/** What it noted last; null before the first time. */
export function lastVitals(file: string): Vitals | null {
  const line = existsSync(file) ? readFileSync(file, 'utf8').split('\n').at(-2) : undefined;
  return line === undefined ? null : (JSON.parse(line) as Vitals); // the cast: written above
}
