// Which payload types a registry takes: all that JSON brings back as they were, and none that it would change.
import { defineHandlers, type Handler, handler, type PayloadOf, Queue } from '../../src/index.js';
import { same } from './equal.js';
import type { handlers } from './handlers.js';
import { RedisDriver } from './stores.js';

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
interface Tree {
  name: string;
  children: Tree[];
}
interface Base {
  id: number;
}
interface Extended extends Base {
  tags: readonly ['a', ...string[]];
}
enum Colour {
  Red = 'red',
}
type CustomerId = string & { readonly brand: 'customer' };
type Change = { kind: 'created'; id: number } | { kind: 'renamed'; id: number; to: string };

export const legal = defineHandlers({
  list: handler(async (_: readonly { id: number }[]) => {}),
  tuple: handler(async (_: [number, string]) => {}),
  tree: handler(async (_: Tree) => {}),
  json: handler(async (_: { data: Json }) => {}),
  extended: handler(async (_: Extended) => {}),
  branded: handler(async (_: { customer: CustomerId; colour: Colour; key: `k-${string}` }) => {}),
  union: handler(async (_: Change) => {}),
  record: handler(async (_: Record<string, number>) => {}),
  optional: handler(async (_: { a?: string; b?: number | undefined; c: boolean | null; d: string | undefined }) => {}),
  deep: handler(async (_: Readonly<{ a: Readonly<{ b: readonly Readonly<{ c: string }>[] }> }>) => {}),
  none: class {
    handle() {}
  },
  typed: { handle: async (_: { a: 1 }) => 'done' } satisfies Handler<{ a: 1 }>,
  arrow: class {
    readonly handle = async (_: { b: 2 }) => {};
  },
  es5: class {
    static readonly queue = 'mail';
    async *handle(_: { c: 3 }) {}
  },
});

const queue = new Queue({ driver: new RedisDriver(), handlers: legal });

export async function payloadsAreTypedAsTheirHandlersSay(
  invoices: readonly { id: number }[],
  tree: Tree,
  change: Change,
) {
  await queue.push('list', invoices);
  await queue.push('tuple', [1, 'a']);
  await queue.push('tree', tree);
  await queue.push('json', { data: [1, { a: null }] });
  await queue.push('extended', { id: 1, tags: ['a', 'b'] });
  await queue.push('union', change);
  await queue.push('union', { kind: 'renamed', id: 1, to: 'x' });
  await queue.push('optional', { c: null, d: undefined });
  await queue.push('optional', { a: 'x', b: undefined, c: true, d: 'y' });
  await queue.push('deep', { a: { b: [{ c: 'd' }] } });
  await queue.push('none', {});
  await queue.push('arrow', { b: 2 });

  // @ts-expect-error an optional property is left out, not undefined (exactOptionalPropertyTypes)
  await queue.push('optional', { a: undefined, c: true, d: 'y' });
  // @ts-expect-error a member of the union lacks its property
  await queue.push('union', { kind: 'renamed', id: 1 });
  // @ts-expect-error the tuple is the wrong way round
  await queue.push('tuple', ['a', 1]);
  // @ts-expect-error a handler that takes no payload is pushed with {}
  await queue.push('none', { a: 1 });

  same<PayloadOf<(typeof handlers)['send-statement']>, { customer: string }>(true);
  same<PayloadOf<(typeof handlers)['rebuild']>, { full?: boolean; parts: readonly string[] }>(true);
  same<PayloadOf<(typeof handlers)['ping']>, { url: string }>(true);
  same<PayloadOf<(typeof legal)['none']>, Record<string, never>>(true);
}

export function aTypeThatJsonWouldChangeIsRefusedWhereItIsWritten() {
  // @ts-expect-error a Date comes back as text
  defineHandlers({ no: handler(async (_: { at: Date }) => {}) });
  // @ts-expect-error a bigint, in the depth of it
  defineHandlers({ no: handler(async (_: { a: { b: bigint }[] }) => {}) });
  // @ts-expect-error a Date behind an optional property
  defineHandlers({ no: handler(async (_: { at?: Date }) => {}) });
  // @ts-expect-error a Date in one member of a union
  defineHandlers({ no: handler(async (_: { when: number | Date }) => {}) });
  // @ts-expect-error a Map
  defineHandlers({ no: handler(async (_: { seen: Map<string, number> }) => {}) });
  // @ts-expect-error a Set
  defineHandlers({ no: handler(async (_: { seen: ReadonlySet<string> }) => {}) });
  // @ts-expect-error binary
  defineHandlers({ no: handler(async (_: { file: Uint8Array }) => {}) });
  // @ts-expect-error a Buffer
  defineHandlers({ no: handler(async (_: { file: Buffer }) => {}) });
  // @ts-expect-error a function
  defineHandlers({ no: handler(async (_: { done: () => void }) => {}) });
  // @ts-expect-error an object with methods is not data
  defineHandlers({ no: handler(async (_: { url: URL }) => {}) });
  // @ts-expect-error a symbol
  defineHandlers({ no: handler(async (_: { kind: symbol }) => {}) });
  // @ts-expect-error undefined in a list comes back as null
  defineHandlers({ no: handler(async (_: { list: (string | undefined)[] }) => {}) });
  // @ts-expect-error text is not an object at the top
  defineHandlers({ no: handler(async (_: string) => {}) });
  // @ts-expect-error in a registry that is written where the Queue is made, too
  new Queue({ driver: new RedisDriver(), handlers: { no: handler(async (_: { at: Date }) => {}) } });
  // What a handler parses itself is checked at run time.
  defineHandlers({ parses: { handle: (raw: unknown) => raw }, holds: handler(async (_: { data: unknown }) => {}) });
  defineHandlers({
    // @ts-expect-error in a class too
    no: class {
      handle(_: { at: Date }) {}
    },
    // @ts-expect-error and behind a lazy factory
    neither: async () => ({ handle: (_: { at: Date }) => {} }),
  });
}
