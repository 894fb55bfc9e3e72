const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGQUIT'] as const;

/** Counts the signals that ask the process to end, from now on, and tells of each. They end nothing by themselves. */
export function countSignals(onSignal: (count: number) => void): { readonly count: number } {
  const signals = { count: 0 };
  for (const name of SIGNALS) {
    process.on(name, () => {
      signals.count += 1;
      onSignal(signals.count);
    });
  }
  return signals;
}
