import { QueueError } from './errors.js';
import type { Job } from './job.js';
import { kindOf } from './limits.js';

/**
 * Runs the jobs of one name. Returning completes the job (the value is not kept), throwing anything retries or fails it,
 * `job.release(n)` puts it back. Delivery is at least once: a handler is idempotent, or completes the job inside its own
 * transaction.
 */
export interface Handler<P, Tx = never> {
  handle(payload: P, job: Job<P, Tx>): unknown;
}

type AnyHandler = { handle(payload: never, job: never): unknown };

/** A handler, a class of one without constructor arguments, or a factory of one (which may be asynchronous, or lazy). */
type Provided<H> = H | (new () => H) | (() => H | Promise<H>);

declare const declaredPayload: unique symbol;

/** A name a producer may push whose code lives elsewhere; see `job`. */
export interface JobDeclaration<P> {
  readonly [declaredPayload]: (payload: P) => void;
}

export type Handlers = Readonly<Record<string, Provided<AnyHandler> | JobDeclaration<never>>>;

// What a payload type may not hold, because JSON would change it. Interfaces are fine.
type NotJson =
  | bigint
  | symbol
  | ((...args: never[]) => unknown)
  | Date
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | ArrayBufferView;

/**
 * The parts of a payload type that are not JSON. One that contains itself (a tree) has no end: it is looked into so deep.
 * `unknown` says nothing (a handler that parses what it is given), and is left to the check at run time.
 */
type Offence<T, Depth extends 0[] = []> = unknown extends T
  ? never
  : Depth['length'] extends 12
    ? never
    : T extends string | number | boolean | null
      ? never
      : T extends NotJson
        ? T
        : T extends readonly (infer E)[]
          ? Offence<E, [...Depth, 0]>
          : T extends object
            ? { [K in keyof T]-?: Offence<Exclude<T[K], undefined>, [...Depth, 0]> }[keyof T]
            : T;

type Made<T> = T extends new () => infer H ? H : T extends () => infer R ? Awaited<R> : T;
type HandleArgs<T> = Made<T> extends { handle(...args: infer A): unknown } ? A : never;

/** The payload an entry of the registry takes. A handler that takes none is pushed with `{}`. */
export type PayloadOf<T> =
  T extends JobDeclaration<infer P> ? P : HandleArgs<T> extends readonly [] ? Record<string, never> : HandleArgs<T>[0];

/** The transaction an entry's jobs are completed in; `never` where its handler does not say. */
export type TxOf<T> = [HandleArgs<T>] extends [never]
  ? never
  : HandleArgs<T> extends readonly [unknown, Job<infer _, infer Tx>, ...unknown[]]
    ? Tx
    : never;

/** Names the part of a payload type that JSON would change, in place of the entry that has it. */
export type JsonOnly<H> = {
  [K in keyof H]: [Offence<PayloadOf<H[K]>>] extends [never] ? H[K] : { 'not JSON': Offence<PayloadOf<H[K]>> };
};

/**
 * The registry: which name is run by what. An entry is a class (built anew for every attempt), a factory of a handler
 * (called for every attempt; `async () => new (await import('./x.js')).X()` is loaded only where it runs), a ready
 * handler, or `job<P>()`. What is written to the store is the name, so a handler can be moved without stranding jobs.
 */
export function defineHandlers<const H extends Handlers>(handlers: H & JsonOnly<H>): H {
  return handlers;
}

/** A handler from a function. */
export function handler<P extends object, Tx = never>(
  handle: (payload: P, job: Job<P, Tx>) => unknown,
): Handler<P, Tx> {
  return { handle };
}

// Shared by every copy of core in the process.
const DECLARATION = Symbol.for('@q/core/job');

/** Declares a job for a producer that does not have its handler's code. A worker treats the name as unknown. */
export function job<P extends object>(): JobDeclaration<P> {
  // The cast: the payload type is a phantom, nothing at run time carries it.
  return Object.freeze({ [DECLARATION]: true }) as unknown as JobDeclaration<P>;
}

/** Checks that `name` can be queued, without building or calling anything. Throws a `QueueError` at the call site. */
export function checkQueueable(handlers: object, name: unknown): string {
  if (typeof name !== 'string' || name === '') {
    throw new QueueError('handler_name_missing', 'A job needs a handler name');
  }
  if (!Object.hasOwn(handlers, name)) {
    throw new QueueError('handler_unknown', `Cannot queue "${name}": no handler is registered under it`);
  }
  if (kindOfEntry(entryOf(handlers, name)) === 'invalid') {
    throw new QueueError('handler_invalid', `Cannot queue "${name}": it does not implement Handler`);
  }
  return name;
}

/**
 * The handler of a name, built as for one attempt. Throws `handler_unknown` where nothing (or only a declaration) is
 * registered, `handler_invalid` where the entry did not give a handler, and whatever a class or factory throws.
 */
export async function resolveHandler(handlers: object, name: string): Promise<Handler<unknown, unknown>> {
  const entry = Object.hasOwn(handlers, name) ? entryOf(handlers, name) : undefined;
  switch (kindOfEntry(entry)) {
    case 'ready':
      return entry as Handler<unknown, unknown>; // it has `handle`: kindOfEntry looked
    case 'class': {
      const instance: unknown = new (entry as new () => unknown)();
      if (hasHandle(instance)) return instance;
      throw new QueueError('handler_invalid', `${className(entry)} does not implement Handler`);
    }
    case 'factory': {
      const made: unknown = await (entry as () => unknown)();
      if (hasHandle(made)) return made;
      throw new QueueError('handler_invalid', `handlers["${name}"] did not return a Handler`);
    }
    case 'invalid':
      if (entry !== undefined) {
        const got = typeof entry === 'function' ? className(entry) : `handlers["${name}"] (${kindOf(entry)})`;
        throw new QueueError('handler_invalid', `${got} does not implement Handler`);
      }
      break;
    case 'declared':
  }
  throw new QueueError('handler_unknown', `No handler "${name}": ${name} does not exist in the handler registry`);
}

type EntryKind = 'class' | 'factory' | 'ready' | 'declared' | 'invalid';

function kindOfEntry(entry: unknown): EntryKind {
  if (typeof entry === 'function') {
    if (promisesHandle(entry.prototype)) return 'class';
    if (!isDeclaredClass(entry)) return 'factory';
    return mentionsHandle(entry) ? 'class' : 'invalid';
  }
  if (hasHandle(entry)) return 'ready';
  if (typeof entry === 'object' && entry !== null && DECLARATION in entry) return 'declared';
  return 'invalid';
}

function entryOf(handlers: object, name: string): unknown {
  return (handlers as Readonly<Record<string, unknown>>)[name];
}

function hasHandle(value: unknown): value is Handler<unknown, unknown> {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return typeof (value as { readonly handle?: unknown }).handle === 'function';
}

/** As `hasHandle`, of a prototype: a getter there may only work on an instance, and has the benefit of the doubt. */
function promisesHandle(prototype: unknown): boolean {
  try {
    return hasHandle(prototype);
  } catch {
    return true;
  }
}

function isDeclaredClass(entry: unknown): boolean {
  return typeof entry === 'function' && /^class\b/.test(sourceOf(entry));
}

/**
 * A class may have `handle` as a field, which only its instances show, and a push builds none. One whose source, and
 * whose parents' source, never says `handle` cannot have it; any other is given the benefit of the doubt.
 */
function mentionsHandle(entry: unknown): boolean {
  for (let c: unknown = entry; typeof c === 'function' && c !== Function.prototype; c = Object.getPrototypeOf(c)) {
    if (/handle/.test(sourceOf(c)) || !isDeclaredClass(c)) return true;
  }
  return false;
}

function sourceOf(entry: object): string {
  return Function.prototype.toString.call(entry);
}

function className(entry: unknown): string {
  // A class may have a static `name` of any kind.
  const name: unknown = typeof entry === 'function' ? entry.name : '';
  return typeof name === 'string' && name !== '' ? name : 'An anonymous class';
}
