const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGQUIT'] as const;

/** Calls `first` at the first of these signals and `again` at every later one. The function it returns ends that. */
export function takeSignals(first: () => void, again: () => void): () => void {
  let isAsked = false;
  const listener = () => {
    if (isAsked) return again();
    isAsked = true;
    first();
  };
  for (const signal of SIGNALS) process.on(signal, listener);
  return () => {
    for (const signal of SIGNALS) process.off(signal, listener);
  };
}
