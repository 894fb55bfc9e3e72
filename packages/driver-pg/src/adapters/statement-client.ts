import type { PgResult, PgTransaction } from '../client.js';

type Values = (string | null | (string | null)[])[];

/**
 * A client over the one thing that a library which keeps its client to itself offers: to send a statement in its
 * transaction. The driver casts to text whatever it reads, so a library's conversions find nothing to convert.
 */
export function statementClient(send: (text: string, values: Values) => Promise<PgResult>): PgTransaction {
  return {
    query: ({ text, values }) => send(text, values),
    escapeIdentifier: (text) => `"${text.replaceAll('"', '""')}"`,
  };
}
