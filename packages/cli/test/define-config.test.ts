import { defineHandlers, handler, Queue } from '@q/core';
import { SqliteDriver } from '@q/driver-sqlite';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { defineConfig } from '../src/index.js';

function aQueue() {
  const greet = handler(async (_: { name: string }) => {});
  return new Queue({ driver: new SqliteDriver(new Database(':memory:')), handlers: defineHandlers({ greet }) });
}

it('A config is what it was defined with, and its queue keeps the types of its registry', async () => {
  const queue = aQueue();
  const close = () => {};
  const config = defineConfig({ queue, close, worker: { lease: 30, shutdownTimeout: 20 } });
  expect(config).toEqual({ queue, close, worker: { lease: 30, shutdownTimeout: 20 } });
  expect(config.queue).toBe(queue);
  // @ts-expect-error nothing is registered under that name
  await expect(config.queue.push('great', { name: 'Ada' })).rejects.toThrow('no handler is registered under it');
  // @ts-expect-error that is not its payload
  const push = () => config.queue.push('greet', { nam: 'Ada' });
  expect(push).toBeTypeOf('function');
});

it('A config with something that is none of it does not compile', () => {
  const queue = aQueue();
  // @ts-expect-error a slip
  defineConfig({ queue, clsoe: () => {} });
  // @ts-expect-error the command takes the signals itself
  defineConfig({ queue, worker: { signals: false } });
  // @ts-expect-error a driver is not a queue
  defineConfig({ queue: queue.driver });
  // @ts-expect-error without a queue there is nothing to do
  expect(defineConfig({})).toEqual({});
});
