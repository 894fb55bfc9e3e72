import type { FinalState } from '../checker.js';
import { EFFECTS } from './client.js';

interface JobRow {
  readonly id: number | string;
  readonly payload: string;
  readonly unique_key: string | null;
}

/** What a SQL store holds, by the same three statements on each. `all` answers one of them. */
export async function readFinalState(all: (sql: string) => Promise<readonly object[]>): Promise<FinalState> {
  // The casts: what the statements select.
  const jobs = (await all('SELECT id, payload, unique_key FROM queue_jobs')) as readonly JobRow[];
  const failed = (await all('SELECT payload FROM queue_failed_jobs')) as readonly JobRow[];
  const effects = (await all(`SELECT push FROM ${EFFECTS}`)) as readonly { readonly push: string }[];
  const counts = new Map<string, number>();
  for (const { push } of effects) counts.set(push, (counts.get(push) ?? 0) + 1);
  return {
    jobs: jobs.map(({ id, payload, unique_key: unique }) => ({ id: Number(id), push: pushIn(payload), unique })),
    failed: failed.map(({ payload }) => ({ push: pushIn(payload) })),
    effects: counts,
  };
}

/** The push that a stored payload is of. */
export function pushIn(payloadJson: string): string {
  // The cast: pushed by pusher-process.ts.
  return (JSON.parse(payloadJson) as { readonly push: string }).push;
}
