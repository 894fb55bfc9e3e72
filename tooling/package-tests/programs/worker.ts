import { Worker } from '@q/core';
import { openQueue } from './queue.js';

async function main(url: string): Promise<void> {
  const { queue, close } = await openQueue(url);
  try {
    process.exitCode = await new Worker({ queue, stopWhenEmpty: true }).run();
  } finally {
    await close();
  }
}

main(process.env.QUEUE_URL ?? '').catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
