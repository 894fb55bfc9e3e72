import { startRedis, startRelay } from '@q/servers';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { aClient, aJob, codeOf, connectionsTo, open, pause, until } from './fixtures.js';

describe('closing', () => {
  it('ends the driver’s connections and no other, and every later call is refused', async () => {
    const { url, close } = await startRedis({ own: true });
    onTestFinished(() => close());
    const client = aClient(url);
    await client.ping();
    const { driver, raw } = open({ url, template: client });
    await driver.push(aJob());
    await driver.onPush(['default'], () => {});
    expect((await connectionsTo(raw)).length).toBeGreaterThanOrEqual(4);
    const mine = new Set((await connectionsTo(raw)).map(({ id }) => id));
    await driver.close();
    await driver.close();
    await until(
      'they are gone',
      async () => (await connectionsTo(raw)).filter(({ id }) => mine.has(id)).length === mine.size - 2,
    );
    expect([await client.ping(), client.listenerCount('error')]).toStrictEqual(['PONG', 1]);
    expect(await codeOf(driver.push(aJob()))).toBe('store_unavailable');
    expect(await codeOf(driver.onPush(['a'], () => {}))).toBe('store_unavailable');
    expect(await codeOf(driver.scratch())).toBe('store_unavailable');
  });

  it('lets a call that is under way end, and waits for none that does not', async () => {
    const relay = await startRelay(inject('redis'));
    onTestFinished(() => relay.close());
    const { driver, stored } = open({ via: relay.url });
    const [id] = await Promise.all([driver.push(aJob()), driver.close()]);
    expect(id).toBe(1);
    const { driver: other } = open({ via: relay.url });
    await other.push(aJob());
    await other.onPush(['default'], () => {});
    relay.freeze();
    const call = codeOf(other.push(aJob()));
    await pause(20);
    const start = performance.now();
    await other.close();
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(await call).toBe('outcome_unknown');
    relay.thaw();
    expect((await stored.jobs()).length).toBe(1);
  });

  it('before anything was done, or while it connects, is as good', async () => {
    await open().driver.close();
    const { driver } = open();
    const call = driver.push(aJob());
    await driver.close();
    expect(await call).toBe(1);
    const relay = await startRelay(inject('redis'));
    onTestFinished(() => relay.close());
    relay.freeze();
    const { driver: lost } = open({ via: relay.url });
    const hopeless = codeOf(lost.push(aJob()));
    await lost.close();
    expect(await hopeless).toBe('store_unavailable');
  });
});
