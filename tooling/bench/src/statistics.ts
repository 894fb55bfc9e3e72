/** Between two values, the line between them. NaN of nothing. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)] ?? Number.NaN;
  const high = sorted[Math.ceil(place)] ?? Number.NaN;
  return low + (high - low) * (place - Math.floor(place));
}

export interface Summary {
  readonly median: number;
  /** The largest minus the smallest, as a share of the median. */
  readonly spread: number;
  readonly rounds: number;
}

export function summary(values: readonly number[]): Summary {
  const median = quantile(values, 0.5);
  return { median, spread: (Math.max(...values) - Math.min(...values)) / median, rounds: values.length };
}
