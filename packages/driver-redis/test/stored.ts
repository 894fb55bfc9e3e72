import type { JobRow, NewRow } from '@q/conformance';
import type { FailedJob } from '@q/core';
import type { Cluster, Redis } from 'ioredis';

/** The layout of the keys told once more, by hand: what the driver stores, written and read without the driver. */
export class Stored {
  readonly #redis: Redis | Cluster;
  readonly #tag: string;

  constructor(redis: Redis | Cluster, prefix: string) {
    this.#redis = redis;
    this.#tag = `{${prefix}}`;
  }

  key(name: string): string {
    return `${this.#tag}:${name}`;
  }

  /** Every key there is under the prefix. */
  async keys(): Promise<string[]> {
    const nodes = 'nodes' in this.#redis ? this.#redis.nodes('master') : [this.#redis];
    const found = await Promise.all(nodes.map((node) => node.keys(`${this.#tag}:*`)));
    return found.flat().toSorted();
  }

  async bytes(): Promise<number> {
    let bytes = 0;
    for (const key of await this.keys())
      bytes += Number(await this.#redis.call('MEMORY', 'USAGE', key, 'SAMPLES', '0'));
    return bytes;
  }

  async wipe(): Promise<void> {
    for (const key of await this.keys()) await this.#redis.del(key);
  }

  async insert(row: NewRow): Promise<number> {
    const { queue = 'default', priority = 0, attempts = 0, maxAttempts = 3, unique = null, lastError = '' } = row;
    const id = String(row.id ?? (await this.#redis.incr(this.key('id'))));
    const level = `${priority}:${queue}`;
    const due = seconds(row.availableAt);
    const text = [queue, priority, row.name, maxAttempts, seconds(row.createdAt), row.payloadJson].join('\t');
    await this.#redis.hset(this.key('jobs'), `${id}:text`, text);
    if (lastError !== '') await this.#redis.hset(this.key('jobs'), `${id}:error`, lastError);
    // As a delayed job, which is promoted when it is due; or as one that is claimed.
    const entry = row.reservedUntil ? String(await this.#redis.xadd(this.key(`ready:${level}`), '*', 'id', id)) : '';
    if (row.reservedUntil) await this.#redis.zadd(this.key(`claims:${level}`), seconds(row.reservedUntil), id);
    else await this.#redis.zadd(this.key(`delayed:${level}`), due, id);
    const state = [attempts, entry, due, unique ?? '', row.reservedBy ?? ''].join('\t');
    await this.#redis.hset(this.key('jobs'), id, state);
    if (unique !== null) await this.#redis.hset(this.key('unique'), unique, [id, entry, priority, queue].join('\t'));
    await this.#redis.zadd(this.key(`levels:${queue}`), priority, String(priority));
    await this.#redis.sadd(this.key('queues'), queue);
    return Number(id);
  }

  async jobs(): Promise<JobRow[]> {
    const rows = new Map<string, JobRow>();
    const stored = await this.#redis.hgetall(this.key('jobs'));
    const claims = new Map<string, number>();
    for (const queue of await this.#redis.smembers(this.key('queues'))) {
      for (const priority of await this.#redis.zrange(this.key(`levels:${queue}`), '0', '-1')) {
        const level = `${priority}:${queue}`;
        const scores = await this.#redis.zrange(this.key(`claims:${level}`), '0', '-1', 'WITHSCORES');
        for (let at = 0; at < scores.length; at += 2) claims.set(scores[at] ?? '', Number(scores[at + 1]));
        for (const [, words] of await this.#redis.xrange(this.key(`ready:${level}`), '-', '+')) {
          const fields = pairs(words);
          if (fields.payload === undefined) continue;
          const created = fields.created_at ?? '';
          const text = [queue, priority, fields.name, fields.max_attempts, created, fields.payload].join('\t');
          const state = stored[fields.id ?? ''] ?? ['0', '', created, fields.unique_key, ''].join('\t');
          rows.set(fields.id ?? '', jobRow({ id: fields.id ?? '', text, state, error: '' }, claims));
        }
      }
    }
    for (const [field, text] of Object.entries(stored)) {
      const id = field.replace(/:text$/, '');
      if (id === field) continue;
      const state = stored[id] ?? '';
      rows.set(id, jobRow({ id, text, state, error: stored[`${id}:error`] ?? '' }, claims));
    }
    return [...rows.values()];
  }

  async failed(): Promise<FailedJob[]> {
    const ids = await this.#redis.zrange(this.key('failed'), '0', '-1', 'WITHSCORES');
    const fields = await this.#redis.hgetall(this.key('failed:jobs'));
    const rows: FailedJob[] = [];
    for (let at = 0; at < ids.length; at += 2) {
      const id = ids[at] ?? '';
      rows.push({
        id: Number(id),
        failedAt: new Date(Number(ids[at + 1]) * 1000),
        queue: fields[`${id}:queue`] ?? '',
        name: fields[`${id}:name`] ?? '',
        payloadJson: fields[`${id}:payload`] ?? '',
        attempts: Number(fields[`${id}:attempts`]),
        error: fields[`${id}:error`] ?? '',
      });
    }
    return rows;
  }
}

interface StoredJob {
  readonly id: string;
  readonly text: string;
  readonly state: string;
  readonly error: string;
}

function jobRow({ id, text, state, error }: StoredJob, claims: ReadonlyMap<string, number>): JobRow {
  const [queue = '', priority, name = '', maxAttempts, created, ...payload] = text.split('\t');
  const [attempts, , due, unique = '', worker = ''] = state.split('\t');
  const deadline = claims.get(id);
  return {
    id: Number(id),
    queue,
    name,
    payloadJson: payload.join('\t'),
    attempts: Number(attempts),
    maxAttempts: Number(maxAttempts),
    priority: Number(priority),
    unique: unique === '' ? null : unique,
    availableAt: new Date(Number(due) * 1000),
    reservedUntil: deadline === undefined ? null : new Date(deadline * 1000),
    reservedBy: deadline === undefined ? null : worker,
    lastError: error,
    createdAt: new Date(Number(created) * 1000),
  };
}

function pairs(words: readonly string[]): Readonly<Record<string, string>> {
  const fields: Record<string, string> = {};
  for (let at = 0; at < words.length; at += 2) fields[words[at] ?? ''] = words[at + 1] ?? '';
  return fields;
}

function seconds(moment: Date): string {
  return String(Math.floor(moment.getTime() / 1000));
}
