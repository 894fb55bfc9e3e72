/** The next turn of the event loop, after the timers, answers and signals that are waiting by now. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
