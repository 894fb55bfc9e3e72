import type { WorkerProcesses } from './worker-processes.js';

const LONGEST_MS = 60_000;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

interface Watch {
  /** Rejects at the first trouble. */
  readonly trouble: Promise<never>;
  end(): void;
}

/** What breaks the story off: it is not over after a minute, Ctrl-C, or a worker that ended by itself. */
export function watchForTrouble(workers: WorkerProcesses): Watch {
  let giveUp: (error: Error) => void = () => {};
  const trouble = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  const watchdog = setTimeout(() => giveUp(new Error(`not done after ${LONGEST_MS / 1000} s`)), LONGEST_MS);
  const interrupt = (signal: NodeJS.Signals) => giveUp(new Error(`interrupted by ${signal}`));
  for (const signal of SIGNALS) process.on(signal, interrupt);
  workers.crash.catch(giveUp);
  return {
    trouble,
    end() {
      clearTimeout(watchdog);
      for (const signal of SIGNALS) process.off(signal, interrupt);
    },
  };
}
