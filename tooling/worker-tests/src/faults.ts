import type { QueueDriver } from '@q/core';

type Method = (...args: never[]) => Promise<unknown>;

/** What to do instead of one call: throw, hang, or act and lose the answer. Null: nothing, the call goes through. */
export type Fault = { readonly throws: unknown } | 'hangs' | 'acts, then throws' | null;

// Not `within`, which answers at once.
const ASYNCHRONOUS = new Set(['push', 'reserve', 'delete', 'release', 'fail', 'pending', 'onPush', 'extend']);
const BATCHED = new Set(['pushMany', 'reserveMany', 'deleteMany', 'extendMany', 'deleteAndReserve']);

/**
 * The real driver with faults on the way to it: `plan(method, n)` is asked at the n-th call (from 1) of each method.
 * `calls` counts them.
 */
export function faulty<D extends QueueDriver>(
  driver: D,
  plan: (method: string, n: number) => Fault,
): { readonly driver: D; readonly calls: Map<string, number> } {
  const calls = new Map<string, number>();
  const proxy = new Proxy(driver, {
    get(target, key) {
      // The cast: a proxy is asked for any key.
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function' || typeof key !== 'string') return value;
      if (!ASYNCHRONOUS.has(key) && !BATCHED.has(key)) return value.bind(target);
      return async (...args: never[]) => {
        const n = (calls.get(key) ?? 0) + 1;
        calls.set(key, n);
        const fault = plan(key, n);
        if (fault === 'hangs') return new Promise(() => {});
        if (fault === null) return (value as Method).apply(target, args);
        if (fault === 'acts, then throws') {
          await (value as Method).apply(target, args);
          throw Object.assign(new Error('the answer was lost'), { code: 'ECONNRESET' });
        }
        throw fault.throws;
      };
    },
  });
  return { driver: proxy, calls };
}

/** Leaves a driver without some of its abilities, as a store that lacks them. */
export function without<D extends QueueDriver>(driver: D, methods: readonly string[]): QueueDriver {
  return new Proxy(driver, {
    get(target, key) {
      if (typeof key === 'string' && methods.includes(key)) return undefined;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Whether a call finishes jobs. */
export function isDeletion(method: string): boolean {
  return method === 'delete' || method === 'deleteMany' || method === 'deleteAndReserve';
}

type Replacement = (real: (...args: never[]) => Promise<unknown>, ...args: never[]) => unknown;

/** The driver with some methods replaced; each is given the real one and its arguments. */
export function replacing<D extends QueueDriver>(driver: D, methods: Readonly<Record<string, Replacement>>): D {
  return new Proxy(driver, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      const real = value.bind(target);
      const replacement = typeof key === 'string' && Object.hasOwn(methods, key) ? methods[key] : undefined;
      return replacement === undefined ? real : (...args: never[]) => replacement(real, ...args);
    },
  });
}
