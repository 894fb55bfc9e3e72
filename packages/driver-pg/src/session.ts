import type { Queryable } from './client.js';
import type { StatementName, StatementTexts } from './statements.js';

/** What a statement may be given: nothing that a client could take for anything but a value. */
export type Value = string | number | bigint | boolean | null | readonly (string | number | bigint | null)[];

/** The statements on one connection. Nothing is kept on it between two of them. */
export class Session {
  readonly #client: Queryable;
  readonly #texts: StatementTexts;

  constructor(client: Queryable, texts: StatementTexts) {
    this.#client = client;
    this.#texts = texts;
  }

  /** How many rows a statement changed. */
  async run(name: StatementName, values: readonly Value[] = []): Promise<number> {
    return (await this.#send(this.#texts[name], values)).rowCount ?? 0;
  }

  /** `Row` is what the statement's columns say, every one of them text or null; nothing checks it. */
  async all<Row>(name: StatementName, values: readonly Value[] = []): Promise<Row[]> {
    return (await this.#send(this.#texts[name], values)).rows as Row[];
  }

  async first<Row>(name: StatementName, values: readonly Value[] = []): Promise<Row | undefined> {
    return (await this.all<Row>(name, values))[0];
  }

  /** One that is not in the list: a diagnosis asks what the queue never does. */
  async look<Row>(text: string, values: readonly Value[] = []): Promise<Row[]> {
    return (await this.#send(text, values)).rows as Row[];
  }

  /** Several statements without values, in one go. */
  async script(text: string): Promise<void> {
    await this.#send(text, []);
  }

  #send(text: string, values: readonly Value[]) {
    return this.#client.query({ text, values: values.map(asText), types: AS_TEXT });
  }
}

/** The text of a value, however the server sent it: the application's parsers, global or on its client, have no say. */
const AS_TEXT = { getTypeParser: () => (value: unknown) => String(value) };

function asText(value: Value): string | null | (string | null)[] {
  if (value === null || typeof value === 'string') return value;
  return isList(value) ? value.map((one) => (one === null ? null : String(one))) : String(value);
}

function isList(value: Value): value is readonly (string | number | bigint | null)[] {
  return Array.isArray(value);
}
